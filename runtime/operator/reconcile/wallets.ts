/** Sends the state of the database to Google Wallet and to Apple devices again. */
import type { Database, Statement } from '../../database/database.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'

/** Counts for one environment. */
interface WalletCounts {
  readonly spaces: number
  readonly templates: number
  readonly devices: number
}

const countIn = (environment: Environment): Statement => ({
  text: `SELECT (SELECT count(*) FROM ${environment}.google_cursors)::integer AS spaces,
                (SELECT count(*) FROM ${environment}.pass_templates)::integer AS templates,
                (SELECT count(DISTINCT device_id) FROM ${environment}.apple_registrations)::integer AS devices`,
})

// Google has the state from before the restore: all classes and passes are sent again.
const googleIn = (environment: Environment): Statement => ({
  text: `UPDATE ${environment}.google_cursors c
            SET walks = ('[{}]'::jsonb || coalesce((SELECT jsonb_agg(jsonb_build_object('template', t.id, 'class', true))
                                                     FROM ${environment}.pass_templates t WHERE t.tenant_id = c.tenant_id), '[]'))::json`,
})

/** Devices have seen higher numbers than the restored ones. More changes than this are not lost in one restore. */
const SKIPPED_NUMBERS = 1_000_000

const numbersIn = (environment: Environment): Statement => ({
  text: `UPDATE ${environment}.wallet_heads SET changed = changed + ${SKIPPED_NUMBERS}`,
})

const devicesIn = (environment: Environment): Statement => ({
  text: `INSERT INTO ${environment}.wallet_changes AS c (tenant_id, platform, subject_type, subject_id, since)
         SELECT DISTINCT r.tenant_id, 'apple', 'template', r.template_id, clock_timestamp() FROM ${environment}.apple_registrations r
         ON CONFLICT (tenant_id, subject_id, platform) DO UPDATE SET walk_until = c.walked_to, anew = false`,
})

/** Says what will be sent again, and what cannot be found out. */
export async function describeWallets(control: Database): Promise<readonly string[]> {
  const lines: string[] = []
  for (const environment of ENVIRONMENTS) {
    const { spaces, templates, devices } = (await control.query<WalletCounts>(countIn(environment))).rows[0]!
    if (spaces > 0)
      lines.push(`Google Wallet, ${environment}: ${templates} templates and all their passes are sent again`)
    if (devices > 0)
      lines.push(`Apple Wallet, ${environment}: ${devices} devices are told to get their passes again`)
  }
  return [
    ...lines,
    'Google Wallet: objects that were created after that time cannot be listed, and keep their last state',
    'Apple Wallet: registrations that were made after that time cannot be listed; the devices get no updates until they register again',
  ]
}

/** Queues all templates and passes for both wallets. Workers send them. */
export async function resendWallets(control: Database): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    for (const statement of [googleIn(environment), numbersIn(environment), devicesIn(environment)])
      await control.query(statement)
  }
}
