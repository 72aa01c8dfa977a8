/** The tables that have rows of a tenant, as the catalog of the database lists them. */
import type { Database, Statement } from '../../database/database.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'

export interface MovedColumn {
  readonly name: string
  readonly type: string
}

/** A table with rows of a tenant. */
export interface MovedTable {
  readonly schema: 'control' | Environment
  readonly name: string
  readonly columns: readonly MovedColumn[]
  /** Columns of the primary key that identify a row of the owner, in order. */
  readonly key: readonly MovedColumn[]
  /** Condition on $1, which is the tenant or one of its spaces. */
  readonly where: string
  /** Whether $1 is each of the spaces, and not only the tenant. */
  readonly bySpace: boolean
  /**
   * SQL of the values that the target has of its own. These columns are not compared. Undefined: every column is copied.
   */
  readonly own: Readonly<Record<string, string>>
}

/** Tables of `control` that belong to the installation. */
export const INSTALLATION_TABLES: readonly string[] = [
  'addresses',
  'card_directory',
  'card_keys',
  'card_room',
  'chain_payments',
  'chain_signers',
  'chain_transactions',
  'chains',
  'clock',
  'deployment',
  'migration_checksums',
  'network_certificates',
  'network_exceptions',
  'network_files',
  'network_keys',
  'network_processors',
  'restores',
  'revision',
  'roles',
  'sanctions_lists',
  'set_aside_work',
  'tenant_moves',
  'two_phase',
  'verifications',
]

/** Tables of an environment that are not copied: the move itself writes them, or they have rows of no tenant. */
const OWN_TABLES: readonly string[] = ['usage_batches', 'sandbox_restores', 'webhook_senders', 'wiped_spaces']

/** Tables of `control` whose rows do not name the tenant in `tenant_id`. */
const FOUND_OTHERWISE: Readonly<Record<string, string>> = {
  tenants: 'id = $1',
  oauth_clients: 'id IN (SELECT g.client_id FROM control.oauth_grants g WHERE g.tenant_id = $1)',
  oauth_artefacts: 'grant_id IN (SELECT g.id FROM control.oauth_grants g WHERE g.tenant_id = $1)',
  apple_devices: 'space = $1',
}

/** Columns with which the target begins anew. */
const OWN_COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // Closed until the tenant has arrived.
  audit_heads: { wipes: '-1', open_spaces: "'{}'" },
  // Sealed with the target's key, and entered in its directory.
  card_numbers: { fingerprint: '', key_version: '', sealed: '', listed: 'NULL' },
  // Numbers of the source's sanctions lists mean nothing at the target, which screens again.
  cardholders: { list_number: '0' },
  payout_destinations: { list_number: '0' },
  screenings: { list_number: '0' },
}

interface CatalogRow {
  readonly schema: MovedTable['schema']
  readonly name: string
  readonly columns: readonly MovedColumn[]
  readonly key: readonly string[]
}

const CATALOG: Statement = {
  text: `SELECT n.nspname AS schema, c.relname AS name,
                (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) ORDER BY a.attname)
                   FROM pg_attribute a
                  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
                (SELECT array_agg(a.attname::text ORDER BY k.place)
                   FROM pg_constraint p, unnest(p.conkey) WITH ORDINALITY AS k (number, place), pg_attribute a
                  WHERE p.conrelid = c.oid AND p.contype = 'p' AND a.attrelid = c.oid AND a.attnum = k.number) AS key
           FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname IN ('control', 'sandbox', 'live') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
          ORDER BY 1, 2`,
}

/** Order of the tables of `control`, because of their references. */
const rankOf = (name: string) =>
  ['tenants', 'oauth_clients'].includes(name) ? 0 : name === 'oauth_artefacts' ? 2 : 1

function describe({ schema, name, columns, key }: CatalogRow): MovedTable {
  const where = schema === 'control' ? FOUND_OTHERWISE[name] : undefined
  if (where === undefined && !columns.some((column) => column.name === 'tenant_id'))
    throw new Error(
      `the table ${schema}.${name} has no tenant_id: add it to a list in operator/moves/tables.ts`,
    )
  const isNamed = (column: MovedColumn) => column.name !== 'tenant_id' && key.includes(column.name)
  return {
    schema,
    name,
    columns,
    key: columns.filter(isNamed).toSorted((one, other) => key.indexOf(one.name) - key.indexOf(other.name)),
    where: where ?? 'tenant_id = $1',
    bySpace: schema !== 'control' || name === 'apple_devices',
    own: schema === 'control' ? {} : (OWN_COLUMNS[name] ?? {}),
  }
}

export interface MovedTables {
  /** In an order in which rows can be inserted. */
  readonly copied: readonly MovedTable[]
  /** The tables without whose rows no webhooks are delivered. */
  readonly senders: Readonly<Record<Environment, MovedTable>>
}

/** Lists the tables with rows of tenants. */
export async function listMovedTables(db: Database): Promise<MovedTables> {
  const { rows } = await db.query<CatalogRow>(CATALOG)
  const schemas = ['control', ...ENVIRONMENTS]
  const isOwn = ({ schema, name }: CatalogRow) =>
    (schema === 'control' ? INSTALLATION_TABLES : OWN_TABLES).includes(name)
  const sendersOf = (environment: Environment) =>
    describe(rows.find(({ schema, name }) => schema === environment && name === 'webhook_senders')!)
  return {
    copied: rows
      .filter((row) => !isOwn(row))
      .map(describe)
      .toSorted(
        (one, other) =>
          schemas.indexOf(one.schema) - schemas.indexOf(other.schema) ||
          rankOf(one.name) - rankOf(other.name),
      ),
    senders: { sandbox: sendersOf('sandbox'), live: sendersOf('live') },
  }
}

const SPACES: Statement = {
  text: `SELECT $1::text AS space
          UNION SELECT t.id || '.' || t.sandbox_wipes FROM control.tenants t WHERE t.id = $1 AND t.sandbox_wipes > 0
          UNION SELECT s.space FROM sandbox.sandboxes s WHERE s.tenant_id = $1
          UNION SELECT s.space FROM sandbox.sandbox_snapshots s WHERE s.tenant_id = $1 AND s.space IS NOT NULL
          UNION SELECT w.tenant_id FROM sandbox.wiped_spaces w WHERE w.tenant_id = $1 OR starts_with(w.tenant_id, $1 || '.')
          ORDER BY 1`,
}

/** Lists the spaces of a tenant in the sandbox: the current ones, and former ones that still have rows. */
export async function listSpaces(db: Database, tenantId: string): Promise<readonly string[]> {
  return (await db.query<{ space: string }>(SPACES, [tenantId])).rows.map(({ space }) => space)
}

/** Returns the values of $1 for a table. */
export function ownersOf(table: MovedTable, tenantId: string, spaces: readonly string[]): readonly string[] {
  return table.bySpace && table.schema !== 'live' ? spaces : [tenantId]
}
