/** Names of records by ID, for pages that refer to them. */
import type { Database, Statement } from '../../../database/database.ts'

interface NamedTable {
  readonly table: string
  /** SQL expression for the name. Null if the record has none. */
  readonly name: string
}

/** By prefix of the IDs. */
const TABLES: Readonly<Record<string, NamedTable>> = {
  tpl: { table: 'pass_templates', name: 'name' },
  pass: { table: 'passes', name: 'coalesce(holder_name, holder_email)' },
  chd: { table: 'cardholders', name: 'name' },
  cprg: { table: 'card_programs', name: 'name' },
  card: { table: 'cards', name: `'•••• ' || last4` },
  ctx: { table: 'card_transactions', name: `merchant ->> 'name'` },
  pod: { table: 'payout_destinations', name: 'holder_name' },
  whe: { table: 'webhook_endpoints', name: 'coalesce(description, url)' },
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
