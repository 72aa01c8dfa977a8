/** Writes to a ledger: transfers between two accounts, and holds on the money that cards can spend. */
import type { Database, RowResult, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { inSteps } from '../../database/steps.ts'
import { toTimestamp } from '../../database/types.ts'
import { newId } from '../../platform/ids.ts'
import type { LedgerAccount } from './accounts.ts'

export interface LedgerTransfer {
  readonly from: LedgerAccount
  readonly to: LedgerAccount
  /** Cents, greater than 0. */
  readonly amount: number
  /** Identifiers of the two entries (`len_…`), if other records refer to them; default: new identifiers. */
  readonly entries?: { readonly from: string; readonly to: string }
}

export interface Hold {
  readonly id: string
  /** Cents, greater than 0. */
  readonly amount: number
}

export interface Posting {
  readonly transfer?: LedgerTransfer | undefined
  /** A hold to resolve. Each hold can be resolved once. */
  readonly resolved?: Hold | undefined
  /** A hold to place. */
  readonly placed?: Hold | undefined
}

const MOVED =
  'ON CONFLICT (tenant_id, id) DO UPDATE SET balance = a.balance + excluded.balance, version = a.version + 1'

const FIRST = `INSERT INTO ledger_accounts AS a (tenant_id, id, balance, held, version) VALUES ($1, $4, $5, 0, 1) ${MOVED}`

const second = (row: string) =>
  `INSERT INTO ledger_accounts AS a (tenant_id, id, balance, held, version) ${row} ${MOVED}`

const CAUSE = 'INSERT INTO ledger_transactions (tenant_id, cause, created) VALUES ($1, $2, $3)'

const ENTRIES = `INSERT INTO ledger_entries AS e (tenant_id, id, cause, account_id, amount, previous, current, version, created)`

const entryOf = (from: string, tenant: string, id: string, amount: string) =>
  `SELECT ${tenant}, ${id}, $2, a.id, ${amount}, a.balance - ${amount}, a.balance, a.version, $3::timestamptz FROM ${from}`

const own = (account: string) =>
  `(SELECT * FROM ledger_accounts a WHERE a.tenant_id = $1 AND a.id = ${account} OFFSET 0) AS a`

// Returned as text, because balances that workers change can exceed the exact range of numbers.
const BALANCE = 'RETURNING e.current::text AS balance'

// The second account depends on a row of the first, so the first account is always locked first.
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
  many: {
    rank: 1,
    text: `WITH g AS MATERIALIZED (
             SELECT * FROM json_to_recordset($2) AS g (place integer, v2 text, v3 timestamptz, v4 text, v5 bigint, v6 text, v7 text, v8 text)
           ), sides AS (
             SELECT place, false AS is_second, v2 AS cause, v3 AS created, v4 AS account, v5 AS amount, v7 AS id FROM g
              UNION ALL SELECT place, true, v2, v3, v6, -v5, v8 FROM g
           ), moved AS (
             INSERT INTO ledger_accounts AS a (tenant_id, id, balance, held, version)
             SELECT $1, account, sum(amount)::bigint, 0, count(*) FROM sides GROUP BY account ORDER BY account
             ON CONFLICT (tenant_id, id) DO UPDATE SET balance = a.balance + excluded.balance, version = a.version + excluded.version
             RETURNING a.id, a.balance, a.version
           ), running AS (
             SELECT s.*, (m.balance - coalesce(sum(s.amount) OVER later, 0))::bigint AS current, m.version - count(*) OVER later AS version
               FROM sides s JOIN moved m ON m.id = s.account
             WINDOW later AS (PARTITION BY s.account ORDER BY s.place ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
           ), caused AS (
             INSERT INTO ledger_transactions (tenant_id, cause, created) SELECT $1, v2, v3 FROM g
           ), entered AS (
             ${ENTRIES} SELECT $1, id, cause, account, amount, current - amount, current, version, created FROM running
           )
           SELECT place, current::text AS balance FROM running WHERE is_second`,
  },
}

const take = (sign: '+' | '-') =>
  `UPDATE ledger_accounts SET held = held ${sign} $3::bigint WHERE tenant_id = $1 AND id = 'program_funds'`

const takeMany = (sign: '+' | '-') =>
  `g AS MATERIALIZED (
     SELECT * FROM json_to_recordset($2) AS g (v2 text, v3 bigint, v4 timestamptz)
   ), taken AS (
     UPDATE ledger_accounts SET held = held ${sign} (SELECT sum(v3)::bigint FROM g) WHERE tenant_id = $1 AND id = 'program_funds'
   )`

const BEGIN = beginHold('$2', '$3', '$4')

function beginHold(id: string, amount: string, created: string): string {
  return `INSERT INTO ledger_holds (tenant_id, id, amount, created) VALUES ($1, ${id}, ${amount}, ${created})`
}

const PLACE: Statement = {
  name: 'ledger_hold_place',
  text: `WITH taken AS (${take('+')}) ${BEGIN}`,
  steps: inSteps('ledger_hold_place', take('+'), BEGIN),
  many: {
    rank: 3,
    text: `WITH ${takeMany('+')} INSERT INTO ledger_holds (tenant_id, id, amount, created) SELECT $1, v2, v3, v4 FROM g`,
  },
}

/** Names of parameters of a statement, such as `$7`, with the values of a hold. `$1` is the tenant. */
export interface HoldParameters {
  readonly id: string
  readonly amount: string
  readonly created: string
  /** Cents that must be available. */
  readonly covered: string
}

/**
 * Returns the two parts of a guarded statement that places a hold for which the account was not locked when it was decided. If
 * the covered cents are no longer available, `held` becomes NULL, which violates NOT NULL and surfaces as `Overtaken`. The
 * last part locks the account.
 */
export function placingCovered(parameters: HoldParameters): readonly [first: string, last: string] {
  const { id, amount, covered, created } = parameters
  return [
    beginHold(id, amount, created),
    `UPDATE ledger_accounts SET held = CASE WHEN balance - held >= ${covered}::bigint THEN held + ${amount}::bigint END
      WHERE tenant_id = $1 AND id = 'program_funds'`,
  ]
}

const END = 'INSERT INTO ledger_resolutions (tenant_id, hold_id, created) VALUES ($1, $2, $4)'

const RESOLVE: Statement = {
  name: 'ledger_hold_resolve',
  text: `WITH given AS (${take('-')}) ${END}`,
  steps: inSteps('ledger_hold_resolve', take('-'), END),
  many: {
    rank: 2,
    text: `WITH ${takeMany('-')} INSERT INTO ledger_resolutions (tenant_id, hold_id, created) SELECT $1, v2, v4 FROM g`,
  },
}

/** The result of a transfer. */
export interface Posted {
  /** Cents, as text: the new balance of the account whose identifier sorts last. */
  readonly balance: string
}

/**
 * Posts a transfer and holds with one cause. The statements are pipelined and need not be awaited. The transaction fails if
 * the cause was already posted, or if a hold to resolve is already resolved. Accounts are locked in the order of their
 * identifiers. `program_funds`, which holds belong to, sorts after `network_clearing`, the only account that postings with
 * holds exchange money with.
 * @param cause unique within the tenant, for example `ctx_…/2`.
 * @param now service time.
 * @returns the result of the transfer; no rows if there is none.
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
    pipelined(db.query(PLACE, [tenantId, placed.id, placed.amount, created]))
  }
  return done
}

/**
 * Returns new identifiers for the entries of a transfer.
 * @param now service time.
 */
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
