/** Statements on the transfers of tenants, in an environment's schema. */
import type { Database, Statement } from '../platform/database/database.ts'
import { toTimestamp } from '../platform/database/types.ts'

export interface TransferRow {
  readonly tenant_id: string
  readonly id: string
  /** CAIP-10. */
  readonly recipient: string
  /** Cents. */
  readonly amount: number
  readonly state: 'queued' | 'signing' | 'in_transit' | 'paid' | 'failed' | 'withdrawn'
  readonly hash: string | null
  readonly confirmations: number
  readonly failure_code: string | null
  /** Machine time, as is `held_up_since`. */
  readonly due: number | null
  readonly held_up_since: number | null
  /** Service time. */
  readonly updated: number
}

const INSERT: Statement = {
  name: 'chain_transfers_insert',
  text: `INSERT INTO chain_transfers (tenant_id, id, recipient, amount, created, updated)
         VALUES ($1, $2, $3, $4, $5, $5)`,
}

/** Writes a transfer that a payout hands in. */
export function insertTransfer(
  db: Database,
  space: string,
  { id, to, amountCents }: { readonly id: string; readonly to: string; readonly amountCents: number },
  now: number,
): Promise<unknown> {
  return db.query(INSERT, [space, id, to, amountCents, toTimestamp(now)])
}

const WITHDRAW: Statement = {
  name: 'chain_transfers_withdraw',
  text: `UPDATE chain_transfers SET state = 'withdrawn', due = NULL, updated = $3
          WHERE tenant_id = $1 AND id = $2 AND state = 'queued'`,
}

/** Gives whether it was queued still. */
export async function withdraw(db: Database, space: string, id: string, now: number): Promise<boolean> {
  return (await db.query(WITHDRAW, [space, id, toTimestamp(now)])).count > 0
}

const DUE: Statement = {
  name: 'chain_transfers_due',
  text: `SELECT c.due, c.tenant_id, c.id, c.recipient, c.amount, c.state, c.hash, c.confirmations, c.failure_code,
                c.held_up_since, c.updated
           FROM chain_transfers c WHERE c.due <= $1 ORDER BY c.due, c.id LIMIT $2`,
}

/** Transfers of all tenants that are to be signed. @param now machine time. */
export async function findDueTransfers(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly TransferRow[]> {
  return (await db.query<TransferRow>(DUE, [toTimestamp(now), limit])).rows
}

const LOCK: Statement = {
  name: 'chain_transfers_lock',
  text: `SELECT c.tenant_id, c.id, c.recipient, c.amount, c.state, c.hash, c.confirmations, c.failure_code, c.due,
                c.held_up_since, c.updated
           FROM chain_transfers c WHERE c.tenant_id = $1 AND c.id = $2 FOR UPDATE`,
}

/** Undefined where it was wiped. */
export async function lockTransfer(
  db: Database,
  space: string,
  id: string,
): Promise<TransferRow | undefined> {
  return (await db.query<TransferRow>(LOCK, [space, id])).rows[0]
}

const UPDATE: Statement = {
  name: 'chain_transfers_update',
  text: `UPDATE chain_transfers SET state = $3, hash = $4, confirmations = $5, failure_code = $6, due = $7,
                held_up_since = $8, updated = $9
          WHERE tenant_id = $1 AND id = $2`,
}

/** Writes a row that the transaction has locked. */
export function updateTransfer(db: Database, row: TransferRow): Promise<unknown> {
  const { tenant_id, id, state, hash, confirmations, failure_code, due, held_up_since, updated } = row
  // A transfer that no worker has tried is due since ever.
  const times = [due, held_up_since].map((time) =>
    time === null ? null : time === Number.NEGATIVE_INFINITY ? '-infinity' : toTimestamp(time),
  )
  return db.query(UPDATE, [
    tenant_id,
    id,
    state,
    hash,
    confirmations,
    failure_code,
    ...times,
    toTimestamp(updated),
  ])
}
