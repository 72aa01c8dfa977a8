/** Statements on the tenants' transfers, in the schema of an environment. */
import type { Database, Statement } from '../../database/database.ts'
import { requireExact, toTimestamp } from '../../database/types.ts'
import { contextToStore } from '../../tracing/span.ts'

const STATES = ['queued', 'signing', 'in_transit', 'paid', 'failed', 'withdrawn'] as const

export interface TransferRow {
  readonly tenant_id: string
  readonly id: string
  readonly recipient: string
  /** Cents. */
  readonly amount: number
  readonly state: (typeof STATES)[number]
  readonly hash: string | null
  readonly confirmations: number
  readonly failure_code: string | null
  /** Machine time, like `held_up_since`. Null if the transfer is not waiting to be signed. */
  readonly due: number | null
  readonly held_up_since: number | null
  /** Why the transfer is held up, for operators. */
  readonly problem: string | null
  /** Service time. */
  readonly updated: number
  /** The trace in which the payout was created. */
  readonly trace: string | null
}

const INSERT: Statement = {
  name: 'chain_transfers_insert',
  text: `INSERT INTO chain_transfers (tenant_id, id, recipient, amount, created, updated, trace)
         VALUES ($1, $2, $3, $4, $5, $5, $6)`,
}

/** Writes a new transfer for a payout. */
export function insertTransfer(
  db: Database,
  space: string,
  { id, to, amountCents }: { readonly id: string; readonly to: string; readonly amountCents: number },
  now: number,
): Promise<unknown> {
  return db.query(INSERT, [space, id, to, amountCents, toTimestamp(now), contextToStore()])
}

const WITHDRAW: Statement = {
  name: 'chain_transfers_withdraw',
  text: `UPDATE chain_transfers SET state = 'withdrawn', due = NULL, held_up_since = NULL, problem = NULL, updated = $3
          WHERE tenant_id = $1 AND id = $2 AND state = 'queued'`,
}

/** Withdraws a transfer. Returns whether it was still queued. */
export async function withdraw(db: Database, space: string, id: string, now: number): Promise<boolean> {
  return (await db.query(WITHDRAW, [space, id, toTimestamp(now)])).count > 0
}

/**
 * A transfer that is due. Its other columns are read separately, so that an unreadable row does not stop other transfers.
 */
export interface DueTransferRow {
  readonly tenant_id: string
  readonly id: string
  readonly problem: string | null
  readonly trace: string | null
}

const DUE: Statement = {
  name: 'chain_transfers_due',
  text: 'SELECT c.tenant_id, c.id, c.problem, c.trace FROM chain_transfers c WHERE c.due <= $1 ORDER BY c.due, c.id LIMIT $2',
}

/**
 * Returns the transfers of all tenants that are due for signing.
 * @param now machine time.
 */
export async function findDueTransfers(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly DueTransferRow[]> {
  return (await db.query<DueTransferRow>(DUE, [toTimestamp(now), limit])).rows
}

const READ: Statement = {
  name: 'chain_transfers_read',
  text: `SELECT c.tenant_id, c.id, c.recipient, c.amount, c.state, c.hash, c.confirmations, c.failure_code, c.due,
                c.held_up_since, c.problem, c.updated, c.trace
           FROM chain_transfers c WHERE c.tenant_id = $1 AND c.id = $2`,
}
const LOCK: Statement = { name: 'chain_transfers_lock', text: `${READ.text} FOR UPDATE` }

async function readOne(
  db: Database,
  statement: Statement,
  space: string,
  id: string,
): Promise<TransferRow | undefined> {
  const row = (await db.query<TransferRow>(statement, [space, id])).rows[0]
  if (!row) return undefined
  if (!STATES.includes(row.state)) throw new Error(`transfer ${id} has the unknown state ${row.state}`)
  requireExact(row.amount, 'its amount')
  return row
}

/** Returns a transfer, or undefined if it was wiped. Throws if the row cannot be read. */
export function readTransfer(db: Database, space: string, id: string): Promise<TransferRow | undefined> {
  return readOne(db, READ, space, id)
}

/** Like `readTransfer`, but also locks the row. */
export function lockTransfer(db: Database, space: string, id: string): Promise<TransferRow | undefined> {
  return readOne(db, LOCK, space, id)
}

const HOLD_UP: Statement = {
  name: 'chain_transfers_hold_up',
  text: `UPDATE chain_transfers SET problem = $3, held_up_since = coalesce(held_up_since, $4), due = $5,
                state = CASE WHEN $6 AND state = 'signing' THEN 'queued' ELSE state END
          WHERE tenant_id = $1 AND id = $2 AND due IS NOT NULL`,
}

/**
 * Holds up a transfer without reading its row. The next attempt is at `due`.
 * @param now machine time, like `due`.
 * @param isUnsigned whether it was certainly not signed, so that its tenant can cancel it.
 */
export async function holdUpTransfer(
  db: Database,
  { tenant_id, id }: Pick<DueTransferRow, 'tenant_id' | 'id'>,
  held: {
    readonly problem: string
    readonly now: number
    readonly due: number
    readonly isUnsigned: boolean
  },
): Promise<void> {
  const { problem, now, due, isUnsigned } = held
  await db.query(HOLD_UP, [tenant_id, id, problem, toTimestamp(now), toTimestamp(due), isUnsigned])
}

const UPDATE: Statement = {
  name: 'chain_transfers_update',
  text: `UPDATE chain_transfers SET state = $3, hash = $4, confirmations = $5, failure_code = $6, due = $7,
                held_up_since = $8, updated = $9, problem = $10
          WHERE tenant_id = $1 AND id = $2`,
}

/** Writes a transfer that the caller has locked. */
export function updateTransfer(db: Database, row: TransferRow): Promise<unknown> {
  const { tenant_id, id, state, hash, confirmations, failure_code, due, held_up_since, updated, problem } =
    row
  // A new transfer has been due forever: '-infinity'.
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
    problem,
  ])
}
