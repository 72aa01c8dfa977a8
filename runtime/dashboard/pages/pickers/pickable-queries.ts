/** Statements of the pickers: records by name, by ID, or the newest. */
import type { RecordPrefix } from '../../../../generated/canonical/records.ts'
import type { Database, Statement } from '../../../database/database.ts'
import { findNamed } from '../search/name-queries.ts'

/** Maximum number of records that a picker offers. */
export const PICK_LIMIT = 10

/** Number of newest records that are searched by their text, for tables without an index on it. */
const SEARCHED = 1000

/** No name, email address, or ID is longer. */
const MAX_LENGTH = 254

export interface PickableRow {
  readonly id: string
  readonly name: string
  /** Tells records with the same name apart. Empty if there is nothing to add. */
  readonly about: string
  /** Empty if the records have no status. */
  readonly status: string
}

interface PickableTable {
  readonly table: string
  /** SQL expressions over the table `r` and its joined tables. */
  readonly name: string
  readonly about: string
  readonly status: string
  readonly join?: string
  /** `findNamed` finds the records by an index. */
  readonly isNamed?: boolean
  /** Condition for an indexed search, with the text as `$2` and the IDs of cardholders with this name as `$3`. */
  readonly indexed?: string
}

const join = (table: string, alias: string, key: string) =>
  `LEFT JOIN ${table} ${alias} ON ${alias}.tenant_id = $1 AND ${alias}.id = ${key}`
const day = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD')`
const amount = (cents: string, currency: string) =>
  `to_char(${cents} / 100.0, 'FM999,999,999,999,990.00') || ' ' || upper(${currency})`
const list = (...texts: string[]) => `concat_ws(', ', ${texts.join(', ')})`

const TABLES = {
  chd: { table: 'cardholders', name: 'r.name', about: `r.email`, status: 'r.status', isNamed: true },
  cprg: { table: 'card_programs', name: 'r.name', about: `NULL`, status: `''`, isNamed: true },
  tpl: { table: 'pass_templates', name: 'r.name', about: `NULL`, status: 'r.status', isNamed: true },
  pass: {
    table: 'passes',
    name: `coalesce(r.holder_name, r.holder_email, 'No name')`,
    about: list('CASE WHEN r.holder_name IS NOT NULL THEN r.holder_email END', 't.name'),
    status: 'r.status',
    join: join('pass_templates', 't', 'r.template_id'),
    isNamed: true,
  },
  card: {
    table: 'cards',
    name: `'•••• ' || r.last4`,
    about: 'c.name',
    status: `CASE WHEN r.frozen THEN 'frozen' ELSE r.status END`,
    join: join('cardholders', 'c', 'r.cardholder_id'),
    indexed: 'r.last4 = $2 OR r.cardholder_id = ANY($3)',
  },
  ctx: {
    table: 'card_transactions',
    name: `r.merchant ->> 'name'`,
    about: list(amount('r.requested', 'r.currency'), `'•••• ' || c.last4`, day('r.created')),
    status: 'r.status',
    join: join('cards', 'c', 'r.card_id'),
  },
  dsp: {
    table: 'disputes',
    name: `t.merchant ->> 'name'`,
    about: list(amount('r.amount', 't.currency'), day('r.created')),
    status: 'r.status',
    join: join('card_transactions', 't', 'r.card_transaction_id'),
  },
  pod: {
    table: 'payout_destinations',
    name: 'r.holder_name',
    about: `coalesce('•••• ' || (r.bank_account ->> 'last4'), r.address)`,
    status: 'r.status',
  },
  stl: {
    table: 'settlements',
    name: day('r.period_start'),
    about: amount('r.net_amount', 'r.currency'),
    status: 'r.status',
  },
  po: {
    table: 'payouts',
    name: amount('r.amount', 'r.currency'),
    about: list('d.holder_name', day('r.created')),
    status: 'r.status',
    join: join('payout_destinations', 'd', 'r.destination_id'),
  },
} as const satisfies Partial<Record<RecordPrefix, PickableTable>>

/** Prefix of the IDs of records that a picker offers. */
export type PickablePrefix = keyof typeof TABLES

export const PICKABLE_PREFIXES = Object.keys(TABLES) as readonly PickablePrefix[]

interface PickableStatements {
  readonly byIds: Statement
  readonly byIdBeginning: Statement
  readonly newest: Statement
  readonly indexed: Statement | undefined
}

function statementsOf(prefix: string, given: PickableTable): PickableStatements {
  const { table, name, about, status, join: joined = '', indexed } = given
  const columns = `r.id, coalesce(${name}, r.id) AS name, coalesce(${about}, '') AS about, ${status} AS status`
  const select = `SELECT ${columns} FROM ${table} r ${joined} WHERE r.tenant_id = $1`
  const statement = (kind: string, text: string): Statement => ({
    name: `dashboard_pick_${prefix}_${kind}`,
    text,
  })
  return {
    byIds: statement('by_ids', `${select} AND r.id = ANY($2)`),
    byIdBeginning: statement(
      'by_id_beginning',
      `${select} AND r.id >= $2 AND r.id < $2 || '~' ORDER BY r.id LIMIT ${PICK_LIMIT}`,
    ),
    newest: statement(
      'newest',
      `SELECT id, name, about, status FROM (
  SELECT ${columns} FROM (SELECT * FROM ${table} WHERE tenant_id = $1 ORDER BY id DESC LIMIT ${SEARCHED}) r ${joined}
) found
WHERE strpos(lower(concat_ws(' ', name, about)), lower($2)) > 0 AND ($3 = '' OR status = $3)
ORDER BY id DESC LIMIT ${PICK_LIMIT}`,
    ),
    indexed:
      indexed === undefined
        ? undefined
        : statement(
            'indexed',
            `${select} AND (${indexed}) AND ($4 = '' OR ${status} = $4) ORDER BY r.id DESC LIMIT ${PICK_LIMIT}`,
          ),
  }
}

const STATEMENTS = Object.fromEntries(
  Object.entries(TABLES).map(([prefix, given]) => [prefix, statementsOf(prefix, given)]),
) as Readonly<Record<PickablePrefix, PickableStatements>>

/** Reads records by ID. Records that the tenant does not have are missing. */
export async function readPickable(
  db: Database,
  tenantId: string,
  prefix: PickablePrefix,
  ids: readonly string[],
): Promise<readonly PickableRow[]> {
  const { rows } = await db.query<PickableRow>(STATEMENTS[prefix].byIds, [tenantId, ids])
  return rows
}

/**
 * Finds the records of a kind, at most `PICK_LIMIT`: the newest for an empty text, or those whose ID begins with the text.
 * Other texts find named records by the search of the dashboard, cards by the last four digits or the cardholder, and
 * all kinds without a name by what the picker shows of their newest 1000.
 *
 * @param status only records with this status; empty for all.
 */
export async function findPickable(
  db: Database,
  tenantId: string,
  prefix: PickablePrefix,
  text: string,
  status: string,
): Promise<readonly PickableRow[]> {
  if (text.length > MAX_LENGTH || text.includes('\0')) return []
  const { byIdBeginning, newest, indexed } = STATEMENTS[prefix]
  const ofStatus = (rows: readonly PickableRow[]) =>
    rows.filter((row) => status === '' || row.status === status)
  if (text.startsWith(`${prefix}_`)) {
    const { rows } = await db.query<PickableRow>(byIdBeginning, [tenantId, text])
    return ofStatus(rows)
  }
  const { isNamed }: PickableTable = TABLES[prefix]
  const named = text !== '' && (isNamed || indexed) ? await findNamed(db, tenantId, text) : []
  const idsOf = (kind: string) => named.filter(({ id }) => id.startsWith(`${kind}_`)).map(({ id }) => id)
  if (isNamed && text !== '') {
    const order = idsOf(prefix)
    const rows = await readPickable(db, tenantId, prefix, order)
    return ofStatus(rows).toSorted((one, other) => order.indexOf(one.id) - order.indexOf(other.id))
  }
  const { rows } = await db.query<PickableRow>(newest, [tenantId, text, status])
  const more =
    indexed && text !== '' && rows.length < PICK_LIMIT
      ? (await db.query<PickableRow>(indexed, [tenantId, text, idsOf('chd'), status])).rows
      : []
  return [...new Map([...rows, ...more].map((row) => [row.id, row])).values()].slice(0, PICK_LIMIT)
}
