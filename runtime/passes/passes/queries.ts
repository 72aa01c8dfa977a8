import type { Database, Statement } from '../../database/database.ts'
import type { RecordFilter } from '../../database/define-list.ts'
import {
  BoundValues,
  combine,
  countStatement,
  type IndexWalk,
  type Records,
  type RequestedPage,
  readPage,
} from '../../database/page.ts'
import { inSteps } from '../../database/steps.ts'
import { toTimestamp } from '../../database/types.ts'
import type { FieldValues, TemplateField } from '../templates/fields.ts'
import type { TemplateKind } from '../templates/queries.ts'
import type { ChangeFacts } from './changed.ts'
import { readPassCounts } from './pass-counts.ts'
import { LIVE_STATUSES, PASS_STATUSES } from './status.ts'

/** The stored parts of a Google Wallet save link. */
export interface PassLink {
  readonly id: string
  readonly template_id: string
  readonly template_kind: TemplateKind
  /** The complete link; only older passes have it. */
  readonly google_url: string | null
  /** The part from which `googleSaveUrl` (passes/wallets/render/google/link.ts) builds the link. */
  readonly google_link: string | null
}

/** A stored pass with the fields, kind and revision of its template. Times are milliseconds since the epoch. */
export interface PassRow extends PassLink, ChangeFacts {
  readonly holder_email: string | null
  readonly holder_name: string | null
  /** Values that override those of the template. */
  readonly fields: FieldValues
  readonly platforms: readonly ('apple' | 'google')[]
  readonly page_token: string
  readonly metadata: Readonly<Record<string, string>>
  readonly installed_at: number | null
  readonly revoked_at: number | null
  readonly archived_at: number | null
  /** When the holder turned messages off. */
  readonly messages_opted_out_at: number | null
  readonly created: number
  readonly updated: number
  readonly template_fields: readonly TemplateField[]
}

const COLUMNS = `p.id, p.template_id, p.status, p.holder_email, p.holder_name, p.fields, p.platforms, p.page_token,
       p.google_url, p.google_link, p.metadata, p.expires_at, p.installed_at, p.revoked_at, p.archived_at,
       p.messages_opted_out_at, p.created, p.updated, coalesce(p.changed, date_trunc('second', p.updated)) AS changed, p.seen_revision,
       t.fields AS template_fields, t.kind AS template_kind, t.changed AS template_changed, t.revision AS template_revision`

/**
 * Joins each pass with its template. LATERAL with OFFSET 0 makes PostgreSQL look each one up by its key, even if its
 * row estimate for the tenant is wrong.
 */
const templateOf = (lock: '' | ' FOR SHARE') => `CROSS JOIN LATERAL (
  SELECT t.fields, t.kind, coalesce(t.changed, date_trunc('second', t.updated)) AS changed, t.revision
    FROM pass_templates t WHERE t.tenant_id = $1 AND t.id = p.template_id OFFSET 0${lock}) AS t`

const TEMPLATE = templateOf('')

const READ: Statement = {
  name: 'passes_read',
  text: `SELECT ${COLUMNS} FROM passes p ${TEMPLATE} WHERE p.tenant_id = $1 AND p.id = $2`,
}

export async function readPass(db: Database, tenantId: string, id: string): Promise<PassRow | undefined> {
  const { rows } = await db.query<PassRow>(READ, [tenantId, id])
  return rows[0]
}

const LINKS: Statement = {
  name: 'passes_links',
  text: `SELECT p.id, p.template_id, p.google_url, p.google_link, t.kind AS template_kind
           FROM json_array_elements_text($2) AS wanted (id)
          CROSS JOIN LATERAL (SELECT * FROM passes p WHERE p.tenant_id = $1 AND p.id = wanted.id OFFSET 0) AS p
          ${TEMPLATE}`,
}

export async function readLinks(db: Database, tenantId: string, ids: readonly string[]): Promise<PassLink[]> {
  return (await db.query<PassLink>(LINKS, [tenantId, JSON.stringify(ids)])).rows
}

// Every transaction locks passes in order of their IDs, so that two batches cannot deadlock. Each pass is looked up by
// its key.
const LOCK: Statement = {
  name: 'passes_lock',
  text: `WITH held AS MATERIALIZED (
           SELECT p.* FROM (SELECT id FROM json_array_elements_text($2) AS id ORDER BY id) AS wanted
            CROSS JOIN LATERAL (
              SELECT * FROM passes p WHERE p.tenant_id = $1 AND p.id = wanted.id FOR UPDATE
            ) AS p
         )
         SELECT ${COLUMNS} FROM held p ${templateOf(' FOR SHARE')}`,
}

/** Locks passes and share-locks their templates until the end of the transaction. Returns the passes by ID. */
export async function lockPasses(
  db: Database,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, PassRow>> {
  const { rows } = await db.query<PassRow>(LOCK, [tenantId, JSON.stringify(ids)])
  return new Map(rows.map((row) => [row.id, row]))
}

/** Must match the condition of the partial indexes on live passes. */
const LIVE = `status IN (${quoted(LIVE_STATUSES)})`

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ')
}

const OVERDUE: Statement = {
  name: 'passes_overdue',
  text: `SELECT tenant_id, id FROM passes p
         WHERE ${LIVE} AND expires_at > '-infinity' AND expires_at <= $1
           AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = p.tenant_id)
         ORDER BY expires_at LIMIT $2`,
}

/** Returns live passes of all tenants whose `expires_at` has passed, the longest overdue first. */
export async function findOverduePasses(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly { readonly tenant_id: string; readonly id: string }[]> {
  return (await db.query<{ tenant_id: string; id: string }>(OVERDUE, [toTimestamp(now), limit])).rows
}

// All rows are one JSON parameter, so the statement text is the same for any number of passes.
const GIVEN = `json_to_recordset($2) AS n (id text, template_id text, status text, holder_email text,
              holder_name text, fields json, page_token text, google_link text, metadata json,
              expires_at timestamptz, revoked_at timestamptz, archived_at timestamptz, created timestamptz,
              updated timestamptz, changed timestamptz, seen_revision integer)`

const inserting = (tenant: string) =>
  `INSERT INTO passes (tenant_id, id, template_id, status, holder_email, holder_name, fields, page_token,
                             google_link, metadata, expires_at, revoked_at, archived_at, created, updated, changed, seen_revision)
         SELECT ${tenant}, n.id, n.template_id, n.status, n.holder_email, n.holder_name, n.fields, n.page_token,
                n.google_link, n.metadata, n.expires_at, n.revoked_at, n.archived_at, n.created, n.updated, n.changed,
                n.seen_revision
         FROM ${GIVEN}`

// The stepped variant joins with pass_templates, because a distributed database must see that the rows belong to the
// tenant. The templates exist: the transaction holds their locks.
const INSERT: Statement = {
  name: 'passes_insert',
  text: inserting('$1'),
  steps: inSteps(
    'passes_insert',
    `${inserting('t.tenant_id')} JOIN pass_templates t ON t.tenant_id = $1 AND t.id = n.template_id`,
  ),
}

/** Inserts passes with one statement. */
export function insertPasses(db: Database, tenantId: string, rows: readonly PassRow[]): Promise<unknown> {
  return db.query(INSERT, [tenantId, JSON.stringify(rows.map(storedForm))])
}

// An upsert that always finds its row. PostgreSQL then looks each row up by its key, even if it misjudges the size of
// the batch or the tenant.
const UPDATE: Statement = {
  name: 'passes_update',
  text: `${INSERT.text}
         ON CONFLICT (tenant_id, id) DO UPDATE SET
           status = excluded.status, holder_email = excluded.holder_email, holder_name = excluded.holder_name,
           fields = excluded.fields, metadata = excluded.metadata, expires_at = excluded.expires_at,
           revoked_at = excluded.revoked_at, archived_at = excluded.archived_at, updated = excluded.updated,
           changed = excluded.changed, seen_revision = excluded.seen_revision`,
  steps: inSteps(
    'passes_update',
    `UPDATE passes p SET status = n.status, holder_email = n.holder_email, holder_name = n.holder_name,
            fields = n.fields, metadata = n.metadata, expires_at = n.expires_at, revoked_at = n.revoked_at,
            archived_at = n.archived_at, updated = n.updated, changed = n.changed, seen_revision = n.seen_revision
       FROM ${GIVEN} WHERE p.tenant_id = $1 AND p.id = n.id`,
  ),
}

/** Writes the mutable columns of passes that `lockPasses` has locked, with one statement. */
export function updatePasses(db: Database, tenantId: string, rows: readonly PassRow[]): Promise<unknown> {
  return db.query(UPDATE, [tenantId, JSON.stringify(rows.map(storedForm))])
}

function storedForm(row: PassRow): Record<string, unknown> {
  const {
    template_fields: _,
    template_kind: __,
    template_changed: ___,
    template_revision: ____,
    ...own
  } = row
  return {
    ...own,
    expires_at: row.expires_at === null ? null : toTimestamp(row.expires_at),
    revoked_at: row.revoked_at === null ? null : toTimestamp(row.revoked_at),
    archived_at: row.archived_at === null ? null : toTimestamp(row.archived_at),
    created: toTimestamp(row.created),
    updated: toTimestamp(row.updated),
    changed: toTimestamp(row.changed),
  }
}

export type PassFilter = RecordFilter<'listPasses', { readonly include_archived?: boolean }>

const LISTED = { table: 'passes', alias: 'p', columns: COLUMNS, join: TEMPLATE }

/** Lists passes. @param now service time, which decides whether a pass counts as expired. */
export async function listPasses(
  db: Database,
  tenantId: string,
  filter: PassFilter,
  page: RequestedPage,
  now: number,
): Promise<Records<PassRow>> {
  const bindings = new BoundValues(tenantId)
  const walks = walksOf(bindings, filter, now)
  return readPage<PassRow>(db, LISTED, bindings, walks, filter.created, page)
}

/**
 * Counts passes: from the maintained counts, or one by one if the filter has a time or there are no counts yet.
 *
 * @param now service time, which decides whether a pass counts as expired.
 */
export async function countPasses(
  db: Database,
  tenantId: string,
  filter: PassFilter,
  now: number,
): Promise<number> {
  const counts = await countsOf(db, tenantId, filter, now)
  if (counts) {
    const states = (filter.status ?? PASS_STATUSES).flatMap((status) =>
      filter.include_archived ? [status, `archived_${status}`] : [status],
    )
    return [...new Set(states)].reduce((sum, state) => sum + (counts.get(state) ?? 0), 0)
  }
  const bindings = new BoundValues(tenantId)
  const statement = countStatement(LISTED, bindings, walksOf(bindings, filter, now), filter.created)
  const { rows } = await db.query<{ count: number }>({ ...statement, long: true }, bindings.values)
  return rows[0]?.count ?? 0
}

async function countsOf(
  db: Database,
  tenantId: string,
  { created, status, template_id: templateIds }: PassFilter,
  now: number,
): Promise<ReadonlyMap<string, number> | undefined> {
  if (Object.values(created).some((bound) => bound !== undefined)) return undefined
  // An expiry changes the status only.
  return readPassCounts(db, tenantId, { templateIds, ...(status && { now }) })
}

const SHOWN = 'p.archived_at IS NULL'
const ARCHIVED = 'p.archived_at IS NOT NULL'

/** Returns the index ranges that contain the passes of a filter. */
function walksOf(bindings: BoundValues, filter: PassFilter, now: number): IndexWalk[] {
  const { status: statuses, template_id: templateIds, include_archived: includeArchived } = filter
  const columns = templateIds ? ['template_id', 'status'] : ['status']
  const along = (where: string, each: readonly string[]): IndexWalk => ({
    columns,
    keys: templateIds ? combine(templateIds, each) : combine(each),
    where,
  })
  const archived = (each: readonly string[]) => (includeArchived ? [along(ARCHIVED, each)] : [])
  if (!statuses) {
    const shown = templateIds ? along(SHOWN, PASS_STATUSES) : { columns: [], keys: [[]], where: SHOWN }
    return [shown, ...archived(PASS_STATUSES)]
  }
  // The SQL form of `statusAt` (status.ts): a live pass counts as expired once its `expires_at` has passed.
  const live = LIVE_STATUSES.filter((status) => statuses.includes(status))
  const ended = statuses.filter((status) => !LIVE_STATUSES.some((each) => each === status))
  if (ended.includes('expired')) {
    const others = LIVE_STATUSES.filter((status) => !statuses.includes(status))
    return [along(SHOWN, statuses), ...archived(statuses), ...overdue(bindings, filter, others, now)]
  }
  if (live.length === 0) return [along(SHOWN, ended), ...archived(ended)]
  const inTime = `(p.expires_at IS NULL OR p.expires_at > ${bindings.bind(toTimestamp(now))})`
  return [
    along(SHOWN, ended),
    along(`${SHOWN} AND ${inTime}`, live),
    ...archived(ended),
    ...(includeArchived ? [along(`${ARCHIVED} AND ${inTime}`, live)] : []),
  ]
}

/** Returns the range of live passes whose expiry is due but not yet recorded by a worker. */
function overdue(
  bindings: BoundValues,
  { template_id: templateIds, include_archived: includeArchived }: PassFilter,
  statuses: readonly string[],
  now: number,
): IndexWalk[] {
  if (statuses.length === 0) return []
  const conditions = [
    `p.status IN (${quoted(statuses)})`,
    'p.expires_at IS NOT NULL',
    `p.expires_at <= ${bindings.bind(toTimestamp(now))}`,
    ...(templateIds ? [`p.template_id = ANY (${bindings.bind(templateIds)})`] : []),
    // Wrapped in coalesce so that PostgreSQL does not choose a partial index on unarchived passes.
    ...(includeArchived ? [] : ['coalesce(p.archived_at IS NULL, false)']),
  ]
  return [{ columns: [], keys: [[]], where: conditions.join(' AND ') }]
}
