/** Checks whether passes can be sent to Google Wallet. */
import type pg from 'pg'
import { openGoogleSigner } from '../../passes/wallets/render/google/signer.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

type GoogleSettings = Pick<Settings, 'dataDir' | 'googleWallet' | 'production' | 'baseUrls'>

/** Checks the service account, and whether Google can reach the service. */
export function checkGoogle(settings: GoogleSettings): Finding {
  const { googleWallet, production, baseUrls } = settings
  if (!googleWallet) {
    if (!production)
      return ok('Google Wallet', 'GOOGLE_WALLET_ISSUER is not set: a fake Google Wallet receives passes')
    return warn(
      'Google Wallet',
      'no passes are sent: set GOOGLE_WALLET_ISSUER and GOOGLE_WALLET_SERVICE_ACCOUNT',
    )
  }
  try {
    const { issuerId, email } = openGoogleSigner(settings)
    const words = `issuer ${issuerId}, as ${email}`
    const closed = ENVIRONMENTS.filter((each) => !baseUrls[each]?.startsWith('https:'))
    if (closed.length === 0) return ok('Google Wallet', words)
    const variables = closed.map((each) => `${each.toUpperCase()}_BASE_URL`).join(' and ')
    return warn(
      'Google Wallet',
      `${words}; set ${variables} to https URLs: otherwise Google cannot fetch images or send callbacks`,
    )
  } catch (error) {
    return fail('Google Wallet', error)
  }
}

interface RefusedUpdate {
  readonly count: number
  readonly target_id: string
  readonly message: string
}

/** Reports the templates and passes of all tenants that Google rejected, if the tables exist. */
export async function checkRefusals(client: pg.Client): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const environment of ENVIRONMENTS) {
    const table = `${environment}.google_refusals`
    const { rows: found } = await client.query<{ made: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS made',
      [table],
    )
    if (!found[0]?.made) continue
    const { rows } = await client.query<RefusedUpdate>(
      `SELECT count(*) OVER ()::integer AS count, target_id, status || ' ' || message AS message
         FROM ${table} ORDER BY refused_at DESC LIMIT 1`,
    )
    const [last] = rows
    if (!last) continue
    const words = `Google rejected ${last.count} templates and passes, most recently ${last.target_id}: ${last.message}`
    findings.push(warn(`Google Wallet, ${environment}`, words))
  }
  return findings
}
