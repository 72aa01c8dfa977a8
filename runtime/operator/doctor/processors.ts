/** Checks the card processors: whether each has a certificate and a key that are accepted. */
import type pg from 'pg'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** The migration that added card processors. */
const MIGRATION = '0103_network_processors'

/** A processor issues a certificate in days, not in minutes. */
const RENEW_WITHIN_DAYS = 14

interface CheckedProcessor {
  readonly environment: Environment
  readonly name: string
  /** Numbers of certificates and keys that are accepted now. */
  readonly certificates: number
  readonly keys: number
  /** Days until the last of these certificates expires. */
  readonly days: number | null
}

const CHECK = `
  SELECT p.environment, p.name, count(c.id)::int AS certificates,
         (SELECT count(*)::int FROM control.network_keys k
           WHERE k.environment = p.environment AND k.retired_at IS NULL) AS keys,
         floor(extract(epoch FROM max(c.expires_at) - now()) / 86400)::int AS days
    FROM control.network_processors p
    LEFT JOIN control.network_certificates c
      ON c.environment = p.environment AND c.retired_at IS NULL AND now() >= c.valid_from AND now() < c.expires_at
   GROUP BY p.environment, p.name`

/** Reports one finding for each environment. Reports nothing before the migration. */
export async function checkProcessors(
  client: pg.Client,
  { applied }: { readonly applied: ReadonlyMap<string, unknown> },
): Promise<readonly Finding[]> {
  if (!applied.has(MIGRATION)) return []
  const { rows } = await client.query<CheckedProcessor>(CHECK)
  return ENVIRONMENTS.map((environment) =>
    judge(
      environment,
      rows.find((row) => row.environment === environment),
    ),
  )
}

function judge(environment: Environment, row: CheckedProcessor | undefined): Finding {
  const check = `card network, ${environment}`
  if (!row) return ok(check, 'no processor is configured')
  const { name, certificates, keys, days } = row
  const missing = [
    ...(days === null ? ['certificate: run `admin network certificate add`'] : []),
    ...(keys === 0 ? ['signing key: run `admin network key create`'] : []),
  ]
  if (missing.length > 0)
    return fail(check, `${name} cannot connect: there is no active ${missing.join(', and no active ')}`)
  const words = `${name} can connect: certificates ${certificates}, for ${days} days; signing keys ${keys}`
  return (days ?? 0) < RENEW_WITHIN_DAYS
    ? warn(check, `${words}: add its next certificate with \`admin network certificate add\``)
    : ok(check, words)
}
