/** Lists the movements of a balance. They are ledger entries, which are numbered in the order in which they changed it. */
import { filters } from '../../../generated/canonical/records.ts'
import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import type { RecordFilter } from '../../database/define-list.ts'
import {
  BoundValues,
  type CreatedRange,
  cutPage,
  type Records,
  type RequestedPage,
  shapedStatement,
} from '../../database/page.ts'
import { writeInstant } from '../../platform/instants.ts'
import { KIND } from '../ledger/history.ts'
import { findPositions } from '../ledger/positions.ts'
import { MAX_AMOUNT } from '../settlement-lines/bounds.ts'

type Schemas = components['schemas']

/** A movement of a balance as stored. Amounts are cents, times are milliseconds since the epoch. */
export interface BalanceEntryRow {
  readonly id: string
  readonly account: Schemas['BalanceAccount']
  readonly sequence: number
  readonly kind: Schemas['BalanceEntryKind']
  readonly amount: number
  readonly balance: number
  /** Unique cause of the transfer: `ctx_…/2`, or `len_…` for funding. */
  readonly cause: string
  readonly created: number
}

// As in the index ledger_entries_by_source.
const SOURCE = `split_part(e.cause, '/', 1)`

/** Cents within the exact range of numbers. */
const exact = (column: string) => `least(greatest(${column}, -9007199254740991), 9007199254740991)`

const COLUMNS = `e.id, e.account_id AS account, e.version AS sequence, ${KIND} AS kind, ${exact('e.amount')} AS amount,
  ${exact('e.current')} AS balance, e.cause, e.created`

export type BalanceEntryFilter = RecordFilter<'listBalanceEntries'>

const ACCOUNTS = filters.listBalanceEntries.account

const LAST = '9223372036854775807'

/**
 * Returns one page of a balance's entries, in the order of their sequence. Instants of the filter are positions in that
 * order, so that consecutive intervals have each entry once.
 */
export async function listBalanceEntries(
  db: Database,
  tenantId: string,
  { account: accounts = [], created, kind, source_id }: BalanceEntryFilter,
  page: RequestedPage,
): Promise<Records<BalanceEntryRow>> {
  const account = ACCOUNTS.find((each) => accounts.includes(each)) ?? 'program_funds'
  const within = await spanOf(db, tenantId, account, created)
  const bindings = new BoundValues(tenantId)
  const statement = pageStatement(account, { kind, source_id }, within, page, bindings)
  return cutPage((await db.query<BalanceEntryRow>(statement, bindings.values)).rows, page)
}

/** Sequences: after the first, until the second. */
type Span = readonly [after: number | string, until: number | string]

async function spanOf(
  db: Database,
  tenantId: string,
  account: Schemas['BalanceAccount'],
  { gte, gt, lte, lt }: CreatedRange,
): Promise<Span> {
  const from = [gte === undefined ? [] : Math.ceil(gte), gt === undefined ? [] : Math.floor(gt) + 1].flat()
  const to = [lt === undefined ? [] : Math.ceil(lt), lte === undefined ? [] : Math.floor(lte) + 1].flat()
  const ends = [...(from.length > 0 ? [Math.max(...from)] : []), ...(to.length > 0 ? [Math.min(...to)] : [])]
  const found = ends.length > 0 ? await findPositions(db, tenantId, account, ends) : []
  return [from.length > 0 ? found[0]! : 0, to.length > 0 ? found.at(-1)! : LAST]
}

/**
 * Builds one index scan for each requested value of the filter: of sources if there are any, otherwise of kinds. The values
 * are bounds instead of equalities, so that only the index with this order fits.
 */
function pageStatement(
  account: Schemas['BalanceAccount'],
  { kind, source_id }: Readonly<Record<'kind' | 'source_id', readonly string[] | undefined>>,
  [after, until]: Span,
  { boundary, limit, order, backward }: RequestedPage,
  bindings: BoundValues,
): Statement {
  const isAscending = order === 'asc'
  const direction = isAscending !== backward ? 'ASC' : 'DESC'
  const place = (sequence: number | string, isSide: boolean, nearest: string) => {
    const value = `${bindings.bind(sequence)}::bigint`
    if (!boundary || !isSide) return value
    const less = (boundary.side === 'after') === isAscending ? 0 : 1
    const beside = `SELECT ${nearest}(b.version - ${less}, ${value}) FROM ledger_entries b`
    return `(${beside} WHERE b.tenant_id = $1 AND b.id = ${bindings.bind(boundary.id)})`
  }
  const low = place(after, direction === 'ASC', 'greatest')
  const high = place(until, direction === 'DESC', 'least')
  const most = `LIMIT ${bindings.bind(limit + 1)}`
  const [column, values] = source_id ? [SOURCE, source_id] : [KIND, kind]
  const walked = values ? [column, 'e.version'] : ['e.version']
  const value = values ? ['w.value, '] : ['']
  const conditions = [
    `e.tenant_id = $1 AND e.account_id = '${account}'`,
    `(${walked.join(', ')}) > (${value}${low})`,
    `(${walked.join(', ')}) <= (${value}${high})`,
    ...(source_id && kind ? [`${KIND} = ANY (${bindings.bind(kind)}::text[])`] : []),
  ]
  const rows = `SELECT ${COLUMNS} FROM ledger_entries e WHERE ${conditions.join(' AND ')}
    ORDER BY ${walked.map((each) => `${each} ${direction}`).join(', ')} ${most}`
  if (!values) return shapedStatement(rows)
  const each = `unnest(${bindings.bind(values)}::text[]) AS w (value)`
  return shapedStatement(
    `SELECT e.* FROM ${each} CROSS JOIN LATERAL (${rows}) AS e ORDER BY e.sequence ${direction} ${most}`,
  )
}

/** The type of the object that caused an entry, by the prefix of its cause. Funding has no such object. */
const SOURCE_TYPES: Readonly<Record<string, Schemas['BalanceEntrySourceType']>> = {
  ctx: 'card_transaction',
  stl: 'settlement',
  po: 'payout',
}

/** Clamps an amount to the maximum of the API documents. Settlements can make balances larger than that. */
export const shown = (amount: number) => Math.max(-MAX_AMOUNT, Math.min(MAX_AMOUNT, amount))

export function showBalanceEntry(row: BalanceEntryRow): Schemas['BalanceEntry'] {
  const [source] = row.cause.split('/')
  const type = SOURCE_TYPES[source!.slice(0, source!.indexOf('_'))] ?? null
  return {
    id: row.id,
    object: 'balance_entry',
    account: row.account,
    sequence: row.sequence,
    kind: row.kind,
    amount: shown(row.amount),
    currency: 'usd',
    balance: shown(row.balance),
    source_type: type,
    source_id: type && source!,
    created: writeInstant(row.created),
  }
}
