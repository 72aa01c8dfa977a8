/** What is written into a ledger: transfers between two accounts, and holds on what cards can spend. */
import type { Database, RowResult, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { inSteps } from '../../database/steps.ts'
import { toTimestamp } from '../../database/types.ts'
import { newId } from '../../platform/ids.ts'
import type { LedgerAccount } from './accounts.ts'

export interface LedgerTransfer {
  readonly from: LedgerAccount
  readonly to: LedgerAccount
  /** Cents, more than 0. */
  readonly amount: number
  /** Identifiers of its two entries (`len_…`), where others refer to them; default: new ones. */
  readonly entries?: { readonly from: string; readonly to: string }
}

export interface Hold {
  readonly id: string
  /** Cents, more than 0. */
  readonly amount: number
}

export interface NewHold extends Hold {
  /**
   * Cents that have to be available; otherwise the transaction fails with `Overtaken`. Absent: the account is locked,
   * or what is held grows whatever there is.
   */
  readonly covered?: number | undefined
}

export interface Posting {
  readonly transfer?: LedgerTransfer | undefined
  /** A hold that ends: a hold has one end. */
  readonly resolved?: Hold | undefined
  /** A hold that begins. */
  readonly placed?: NewHold | undefined
}

const MOVED =
  'ON CONFLICT (tenant_id, id) DO UPDATE SET balance = a.balance + excluded.balance, version = a.version + 1'

const FIRST = `INSERT INTO ledger_accounts AS a (tenant_id, id, balance, held, version) VALUES ($1, $4, $5, 0, 1) ${MOVED}`

const second = (row: string) =>
  `INSERT INTO ledger_accounts AS a (tenant_id, id, balance, held, version) ${row} ${MOVED}`

const CAUSE = 'INSERT INTO ledger_transactions (tenant_id, cause, created) VALUES ($1, $2, $3)'

const ENTRIES = `INSERT INTO ledger_entries (tenant_id, id, cause, account_id, amount, previous, current, version, created)`

const entryOf = (from: string, tenant: string, id: string, amount: string) =>
  `SELECT ${tenant}, ${id}, $2, a.id, ${amount}, a.balance - ${amount}, a.balance, a.version, $3::timestamptz FROM ${from}`

const own = (account: string) =>
  `(SELECT * FROM ledger_accounts a WHERE a.tenant_id = $1 AND a.id = ${account} OFFSET 0) AS a`

// Accounts that workers book may be beyond exact numbers.
const BALANCE = 'RETURNING current::text AS balance'

// The second account is locked after the first, because it is taken from what the first gives.
const TRANSFER: Statement = {
  name: 'ledger_transfer',
  text: `WITH one AS (${FIRST} RETURNING a.id, a.balance, a.version),
         other AS (${second('SELECT $1, $6, -$5::bigint, 0, 1 FROM one')}
           RETURNING a.id, a.balance, a.version),
         caused AS (${CAUSE}),
         entered AS (${ENTRIES} ${entryOf('one AS a', '$1', '$7', '$5::bigint')})
         ${ENTRIES} ${entryOf('other AS a', '$1', '$8', '(-$5::bigint)')} ${BALANCE}`,
  steps: inSteps(
    'ledger_transfer',
    CAUSE,
    FIRST,
    second('VALUES ($1, $6, -$5::bigint, 0, 1)'),
    `${ENTRIES} ${entryOf(own('$4'), 'a.tenant_id', '$7', '$5::bigint')}`,
    `${ENTRIES} ${entryOf(own('$6'), 'a.tenant_id', '$8', '(-$5::bigint)')} ${BALANCE}`,
  ),
}

const take = (sign: '+' | '-') =>
  `UPDATE ledger_accounts SET held = held ${sign} $3::bigint WHERE tenant_id = $1 AND id = 'program_funds'`

const BEGIN = 'INSERT INTO ledger_holds (tenant_id, id, amount, created) VALUES ($1, $2, $3, $4)'

const PLACE: Statement = {
  name: 'ledger_hold_place',
  text: `WITH taken AS (${take('+')}) ${BEGIN}`,
  steps: inSteps('ledger_hold_place', take('+'), BEGIN),
}

// So the account is locked last, and not while a decision is made: what is held must not be null.
const takeCovered = `UPDATE ledger_accounts SET held = CASE WHEN balance - held >= $5::bigint THEN held + $3::bigint END
  WHERE tenant_id = $1 AND id = 'program_funds'`

const PLACE_COVERED: Statement = {
  name: 'ledger_hold_place_covered',
  guarded: true,
  text: `WITH taken AS (${takeCovered}) ${BEGIN}`,
  steps: inSteps('ledger_hold_place_covered', takeCovered, BEGIN),
}

const END = 'INSERT INTO ledger_resolutions (tenant_id, hold_id, created) VALUES ($1, $2, $4)'

const RESOLVE: Statement = {
  name: 'ledger_hold_resolve',
  text: `WITH given AS (${take('-')}) ${END}`,
  steps: inSteps('ledger_hold_resolve', take('-'), END),
}

/** What a transfer gives. */
export interface Posted {
  /** Cents, as a text: the balance of the account whose identifier sorts last, after the transfer. */
  readonly balance: string
}

/**
 * Writes what follows from one cause; it travels with the statements after it, and need not be waited for. The transaction fails
 * when something was posted for the cause before, or a hold that ends has ended. Accounts are locked in the order of their
 * identifiers; `program_funds`, to which holds belong, comes after every account that money moves to or from it.
 *
 * @param cause unique within the tenant, and in its words: `ctx_…/2`.
 * @param now service time.
 * @returns when the transfer is done; no rows without one.
 */
export function post(
  db: Database,
  tenantId: string,
  cause: string,
  { transfer, resolved, placed }: Posting,
  now: number,
): Promise<RowResult<Posted>> {
  const created = toTimestamp(now)
  const done = transfer ? move(db, tenantId, cause, transfer, now) : Promise.resolve({ rows: [], count: 0 })
  if (resolved) pipelined(db.query(RESOLVE, [tenantId, resolved.id, resolved.amount, created]))
  if (placed) {
    const values = [tenantId, placed.id, placed.amount, created]
    const { covered } = placed
    pipelined(covered === undefined ? db.query(PLACE, values) : db.query(PLACE_COVERED, [...values, covered]))
  }
  return done
}

/** Identifiers for the entries of a transfer. @param now service time. */
export function newEntries(now: number): { readonly from: string; readonly to: string } {
  return { from: newId('len', now), to: newId('len', now) }
}

function move(
  db: Database,
  tenantId: string,
  cause: string,
  { from, to, amount, entries: given }: LedgerTransfer,
  now: number,
): Promise<RowResult<Posted>> {
  const [first, second, moved] = from < to ? [from, to, -amount] : [to, from, amount]
  const entries = given ?? newEntries(now)
  const ids = from < to ? [entries.from, entries.to] : [entries.to, entries.from]
  return db.query<Posted>(TRANSFER, [tenantId, cause, toTimestamp(now), first, moved, second, ...ids])
}
