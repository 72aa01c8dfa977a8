/** Leases of a process that was told to end. */
import type { Database } from '../../../runtime/database/database.ts'
import { ENVIRONMENTS } from '../../../runtime/platform/environment.ts'
import type { Machine } from '../clockwork/machines.ts'
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

/** How long before it ends. */
const LATELY_MS = 120_000

/**
 * A process that was told to end has given back its leases. If it lost a connection lately, it does not know of leases that
 * it was granted on it, or could not give them back.
 */
export async function leasesAreFree(db: Database, { uuids, lostAt }: Machine, now: number): Promise<void> {
  if (lostAt > now - LATELY_MS) return
  for (const [table, until] of LEASES) {
    const text = `SELECT * FROM ${table} WHERE token = ANY ($1::uuid[]) AND ${until} > $2`
    const { rows } = await db.query({ text }, [[...uuids], new Date(now)])
    if (rows.length > 0) fail(`a process that has ended still has a lease: ${JSON.stringify(rows[0])}`)
  }
}
