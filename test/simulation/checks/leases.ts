/** Leases of a process that was told to end. */
import type { Database } from '../../../runtime/database/database.ts'
import { ENVIRONMENTS } from '../../../runtime/platform/environment.ts'
import type { Evidence } from './evidence.ts'
import { fail } from './must.ts'

/** Tables with leases, and the columns with the ends of these. */
const LEASES = [
  ['control.chain_signers', 'lease_until'],
  ...ENVIRONMENTS.flatMap((schema) => [
    [`${schema}.google_cursors`, 'ready_at'],
    [`${schema}.wallet_updates`, 'ready_at'],
    [`${schema}.webhook_ready`, 'lease_until'],
  ]),
] as const

/** What a process says that could not give back a lease. */
const LOST = /not released|attempt lost|not recorded|Work failed/

/** How long before it ends. */
const LATELY_MS = 120_000

/** A process that was told to end has given back its leases, unless it said lately that it could not. */
export async function leasesAreFree(
  db: Database,
  tokens: ReadonlySet<string>,
  { logs, now }: Pick<Evidence, 'logs' | 'now'>,
): Promise<void> {
  if (logs.some(({ text, at }) => at > now - LATELY_MS && LOST.test(text))) return
  for (const [table, until] of LEASES) {
    const text = `SELECT * FROM ${table} WHERE token = ANY ($1::uuid[]) AND ${until} > $2`
    const { rows } = await db.query({ text }, [[...tokens], new Date(now)])
    if (rows.length > 0) fail(`a process that has ended still has a lease: ${JSON.stringify(rows[0])}`)
  }
}
