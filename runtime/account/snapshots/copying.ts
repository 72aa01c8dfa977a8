/**
 * Copies the rows of a space into pages of JSON, and back into a new space.
 *
 * Freezing is one statement, so it sees one moment of the space while requests and workers go on. Restoring is one
 * transaction that ends by giving the sandbox the new space. Until then no request sees the restored rows, and a killed
 * process leaves nothing.
 *
 * In a distributed database, the pages are on the shard of the space that they were copied from, and the new space is
 * on another one. So the pages pass through this process, and each statement has the rows of one space only.
 */
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { readSpace, sandboxOf, spaceOf } from '../../database/space.ts'
import { CLOSED_TABLES, WIPED_TABLES } from '../account/wipe-queries.ts'
import { endDeliveries } from '../sandboxes/spaces.ts'

/** Tables of a space, in an order in which rows can be deleted. */
const TABLES: readonly string[] = [...WIPED_TABLES, ...CLOSED_TABLES]

const DIRECTORY = 'card_directory'

const PAGE_ROWS = 250

// Text of `json` columns stays as it is, which it would not in `jsonb`.
const pagesOf = (name: string, table: string, space: string, where: string) =>
  `SELECT t.space, $2::text, '${name}', ((t.place - 1) / ${PAGE_ROWS})::integer, json_agg(t.line)
     FROM (SELECT r.${space} AS space, row_to_json(r) AS line, row_number() OVER () AS place
             FROM ${table} r WHERE ${where}) AS t
    GROUP BY 1, 2, 3, 4`

const INTO_PAGES = 'INSERT INTO sandbox_snapshot_pages (tenant_id, snapshot_id, name, page, rows)'

const FREEZE: Statement = {
  text: `${INTO_PAGES} ${TABLES.map((name) => pagesOf(name, name, 'tenant_id', 'r.tenant_id = $1')).join(' UNION ALL ')}`,
}

// A card that is created between the two statements is listed and has no row, which is harmless.
const FREEZE_DIRECTORY: Statement = {
  text: `${INTO_PAGES} ${pagesOf(DIRECTORY, 'control.card_directory', 'space', `r.environment = 'sandbox' AND r.space = $1`)}`,
}

/** Copies everything in a space into the pages of a snapshot. Call this in a transaction of the owner. */
export async function freezeSpace(db: Database, space: string, snapshotId: string): Promise<void> {
  await db.query(FREEZE, [space, snapshotId])
  await db.query(FREEZE_DIRECTORY, [space, snapshotId])
}

const COLUMNS: Statement = {
  text: `SELECT n.name, array_agg(a.attname::text) AS columns
           FROM unnest($1::text[]) AS n (name)
           JOIN pg_attribute a ON a.attrelid = n.name::regclass AND a.attnum > 0 AND NOT a.attisdropped
                              AND a.attgenerated = '' AND a.attname <> 'tenant_id'
          GROUP BY n.name`,
}

const PAGE: Statement = {
  text: `SELECT rows::text AS rows FROM sandbox_snapshot_pages
          WHERE tenant_id = $1 AND snapshot_id = $2 AND name = $3 AND page = $4`,
}

const BEGIN: Statement = { text: 'INSERT INTO sandbox_restores (tenant_id, snapshot_id) VALUES ($1, $2)' }

const END: Statement = { text: 'DELETE FROM sandbox_restores WHERE tenant_id = $1' }

/**
 * Builds the statement that inserts a page. Columns that were added since the snapshot get their default, and columns
 * that no longer exist are left out.
 */
function intoTable(name: string, columns: readonly string[]): Statement {
  const listed = columns.map((column) => `"${column}"`)
  return {
    text: `INSERT INTO ${name} (tenant_id, ${listed.join(', ')})
           SELECT o.tenant_id, ${listed.map((column) => `r.${column}`).join(', ')}
             FROM sandbox_restores o, json_populate_recordset(NULL::${name}, $2::json) AS r
            WHERE o.tenant_id = $1`,
  }
}

// A number is listed once for all spaces. It moves to the new space, unless another sandbox has it by now.
const LIST_CARDS: Statement = {
  text: `INSERT INTO control.card_directory AS d (environment, digest, space, card_id)
         SELECT r.environment, r.digest, $1, r.card_id
           FROM json_populate_recordset(NULL::control.card_directory, $2::json) AS r
         ON CONFLICT (environment, digest) DO UPDATE SET space = excluded.space, card_id = excluded.card_id
            WHERE d.space = $3 OR starts_with(d.space, $3 || '.')`,
}

const LISTED_ELSEWHERE: Statement = {
  text: `SELECT r.card_id FROM json_populate_recordset(NULL::control.card_directory, $2::json) AS r
           JOIN control.card_directory d USING (environment, digest)
          WHERE d.space <> $1`,
}

const UNLIST: Statement = {
  text: 'UPDATE card_numbers SET listed = false WHERE tenant_id = $1 AND card_id = ANY ($2)',
}

/** Lists the cards of a page, and notes which of them have a number that is listed for another sandbox. */
async function listCards(db: Database, space: string, page: string): Promise<void> {
  await db.query(LIST_CARDS, [space, page, sandboxOf(space)])
  const { rows } = await db.query<{ card_id: string }>(LISTED_ELSEWHERE, [space, page])
  if (rows.length > 0) await db.query(UNLIST, [space, rows.map(({ card_id }) => card_id)])
}

/** Pages of a snapshot. */
export interface FrozenSpace {
  readonly id: string
  /** The space that they were copied from. */
  readonly space: string
}

async function* readPages(db: Database, { id, space }: FrozenSpace, name: string): AsyncGenerator<string> {
  for (let page = 0; ; page += 1) {
    const { rows } = await db.query<{ rows: string }>(PAGE, [space, id, name, page])
    if (!rows[0]) return
    yield rows[0].rows
  }
}

/** Fills an empty space from a snapshot. Call this in a transaction of the owner. */
async function fillSpace(db: Database, frozen: FrozenSpace, space: string): Promise<void> {
  pipelined(db.query(BEGIN, [space, frozen.id]))
  const { rows } = await db.query<{ name: string; columns: string[] }>(COLUMNS, [TABLES])
  const known = new Map(rows.map(({ name, columns }) => [name, columns]))
  for (const name of TABLES.toReversed()) {
    let insert: Statement | undefined
    for await (const page of readPages(db, frozen, name)) {
      const [first] = JSON.parse(page) as readonly [object]
      insert ??= intoTable(
        name,
        known.get(name)!.filter((column) => column in first),
      )
      await db.query(insert, [space, page])
    }
  }
  for await (const page of readPages(db, frozen, DIRECTORY)) {
    await listCards(db, space, page)
  }
  await db.query(END, [space])
}

/** Returns what the secrets in copied rows are bound to, as in `SpaceParts`. @param space the space that they are copied from. */
function boundTo(space: string): number | undefined {
  const { sandbox, wipes, bound } = readSpace(space)
  return sandbox === undefined ? wipes : bound
}

/**
 * Fills a new space of a sandbox from a snapshot, and ends deliveries of the old one. Call this in a transaction of the
 * owner, and give the sandbox the new space before it ends.
 *
 * @param old the space that the sandbox has.
 * @returns the new space.
 */
export async function restoreSpace(db: Database, frozen: FrozenSpace, old: string): Promise<string> {
  const { tenantId, wipes, sandbox } = readSpace(old)
  const space = spaceOf(tenantId, wipes + 1, sandbox, boundTo(frozen.space))
  await fillSpace(db, frozen, space)
  endDeliveries(db, old)
  return space
}
