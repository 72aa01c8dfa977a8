/** Names of records by ID, for pages that refer to them. */
import type { Database, Statement } from '../../../database/database.ts'

interface NamedTable {
  readonly table: string
  /** SQL expression for the name. Null if the record has none. */
  readonly name: string
}

/** SQL expression for cents as `12.50 USD`. */
const MONEY = `to_char(amount / 100.0, 'FM999,999,999,999,990.00') || ' ' || upper(currency)`

/** SQL expression for a column of the record that a row refers to. */
const referred = (table: string, from: string, column: string, reference: string) =>
  `(SELECT r.${column} FROM ${table} r WHERE r.tenant_id = $1 AND r.id = ${from}.${reference})`

/** By prefix of the IDs. */
const TABLES: Readonly<Record<string, NamedTable>> = {
  tpl: { table: 'pass_templates', name: 'name' },
  pass: {
    table: 'passes',
    name: `coalesce(holder_name, holder_email, 'Pass of ' || ${referred('pass_templates', 'passes', 'name', 'template_id')})`,
  },
  chd: { table: 'cardholders', name: 'name' },
  cprg: { table: 'card_programs', name: 'name' },
  scd: { table: 'spending_control_drafts', name: 'name' },
  card: { table: 'cards', name: `'•••• ' || last4` },
  ctx: { table: 'card_transactions', name: `merchant ->> 'name'` },
  pod: { table: 'payout_destinations', name: 'holder_name' },
  whe: { table: 'webhook_endpoints', name: 'coalesce(description, url)' },
  evt: { table: 'events', name: 'type' },
  sal: {
    table: 'sanctions_alerts',
    name: `'Alert for ' || ${referred('cardholders', 'sanctions_alerts', 'name', 'cardholder_id')}`,
  },
  dsp: {
    table: 'disputes',
    name: `'Dispute with ' || ${referred('card_transactions', 'disputes', "merchant ->> 'name'", 'card_transaction_id')}`,
  },
  stl: {
    table: 'settlements',
    name: `'Settlement of ' || to_char(period_start AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
  },
  po: { table: 'payouts', name: `'Payout of ' || ${MONEY}` },
  trp: {
    table: 'treasury_reports',
    name: `upper(left(type, 1)) || replace(substr(type, 2), '_', ' ') || ' from ' || to_char(interval_start AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
  },
}

/** Reads each table by primary key; the arrays are empty for tables without IDs. */
const READ: Statement = {
  name: 'dashboard_names_of_ids',
  text: Object.values(TABLES)
    .map(
      ({ table, name }, at) =>
        `SELECT id, ${name} AS name FROM ${table} WHERE tenant_id = $1 AND id = ANY($${at + 2})`,
    )
    .join('\nUNION ALL\n'),
}

/** Returns the names of the tenant's records that have names. Other IDs are missing. */
export async function readNames(
  db: Database,
  space: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const byTable = Object.keys(TABLES).map((prefix) => ids.filter((id) => id.startsWith(`${prefix}_`)))
  if (byTable.every((each) => each.length === 0)) return new Map()
  const { rows } = await db.query<{ id: string; name: string | null }>(READ, [space, ...byTable])
  return new Map(rows.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])))
}

const READ_OF_ACCOUNT: Statement = {
  name: 'dashboard_names_of_account',
  text: `SELECT id, email AS name FROM control.members WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL
SELECT id, CASE kind WHEN 'secret' THEN 'Secret key …' ELSE 'Publishable key …' END || hint FROM control.keys WHERE tenant_id = $1 AND id = ANY($2)`,
}

/** Returns the email addresses of members and the hints of API keys, also of revoked keys. Other IDs are missing. */
export async function readAccountNames(
  control: Database,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const asked = ids.filter((id) => /^(?:mem|key)_/.test(id))
  if (asked.length === 0) return new Map()
  const { rows } = await control.query<{ id: string; name: string }>(READ_OF_ACCOUNT, [tenantId, asked])
  return new Map(rows.map(({ id, name }) => [id, name]))
}
