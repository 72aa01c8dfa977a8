import type { TemplateField, Values } from '../domain/pass-fields.ts'
import { LIVE_STATUSES, type PassStatus } from '../domain/pass-status.ts'
import type { Database, Statement } from './database.ts'
import {
  addCreatedRange,
  bind,
  type Conditions,
  type CreatedRange,
  cutPage,
  type Page,
  pageStatement,
  type Records,
  shapedStatement,
} from './page.ts'
import type { TemplateKind } from './pass_templates.ts'
import { toTimestamp } from './types.ts'

/** What a pass's link for Google Wallet is made of. */
export interface PassLink {
  readonly id: string
  readonly template_id: string
  readonly template_kind: TemplateKind
  /** The whole link, of passes that were issued when it was kept whole. */
  readonly google_url: string | null
  /** What `googleSaveUrl` of wallet/google-link.ts makes the link of. */
  readonly google_link: string | null
}

/** A pass as stored, with the fields and kind of its template. Times in milliseconds since the epoch. */
export interface PassRow extends PassLink {
  readonly status: PassStatus
  readonly holder_email: string | null
  readonly holder_name: string | null
  /** The pass's own values. */
  readonly fields: Values
  readonly platforms: readonly ('apple' | 'google')[]
  readonly page_token: string
  readonly metadata: Readonly<Record<string, string>>
  readonly expires_at: number | null
  readonly installed_at: number | null
  readonly revoked_at: number | null
  readonly archived_at: number | null
  readonly created: number
  readonly updated: number
  readonly template_fields: readonly TemplateField[]
}

const COLUMNS = `p.id, p.template_id, p.status, p.holder_email, p.holder_name, p.fields, p.platforms, p.page_token,
       p.google_url, p.google_link, p.metadata, p.expires_at, p.installed_at, p.revoked_at, p.archived_at, p.created,
       p.updated, t.fields AS template_fields, t.kind AS template_kind`

const JOIN = 'JOIN pass_templates t ON t.tenant_id = p.tenant_id AND t.id = p.template_id'

const SELECT = `SELECT ${COLUMNS} FROM passes p ${JOIN}`

const READ: Statement = {
  name: 'passes_read',
  text: `${SELECT} WHERE p.tenant_id = $1 AND p.id = $2`,
}

export async function readPass(db: Database, tenantId: string, id: string): Promise<PassRow | undefined> {
  const { rows } = await db.query<PassRow>(READ, [tenantId, id])
  return rows[0]
}

const LINKS: Statement = {
  name: 'passes_links',
  text: `SELECT p.id, p.template_id, p.google_url, p.google_link, t.kind AS template_kind FROM passes p ${JOIN}
         WHERE p.tenant_id = $1 AND p.id = ANY($2)`,
}

export async function readLinks(db: Database, tenantId: string, ids: readonly string[]): Promise<PassLink[]> {
  return (await db.query<PassLink>(LINKS, [tenantId, ids])).rows
}

// In one order everywhere, so that two batches never wait for each other.
const LOCK: Statement = {
  name: 'passes_lock',
  text: `${SELECT} WHERE p.tenant_id = $1 AND p.id = ANY($2) ORDER BY p.id FOR UPDATE OF p`,
}

/** The passes by their ids, as nobody else can change them before the end of the transaction. */
export async function lockPasses(
  db: Database,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, PassRow>> {
  const { rows } = await db.query<PassRow>(LOCK, [tenantId, ids])
  return new Map(rows.map((row) => [row.id, row]))
}

const OVERDUE: Statement = {
  name: 'passes_overdue',
  text: `SELECT tenant_id, id FROM passes p
         WHERE status IN ('issued', 'installed', 'active') AND expires_at <= $1
           AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = p.tenant_id)
         ORDER BY expires_at LIMIT $2`,
}

/** Live passes of all tenants whose time is over, the longest overdue first. */
export async function findOverduePasses(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly { readonly tenant_id: string; readonly id: string }[]> {
  return (await db.query<{ tenant_id: string; id: string }>(OVERDUE, [toTimestamp(now), limit])).rows
}

// One parameter for any number of passes: the statement stays the same.
const INSERT: Statement = {
  name: 'passes_insert',
  text: `INSERT INTO passes (tenant_id, id, template_id, status, holder_email, holder_name, fields, page_token,
                             google_link, metadata, expires_at, created, updated)
         SELECT $1, n.id, n.template_id, n.status, n.holder_email, n.holder_name, n.fields, n.page_token,
                n.google_link, n.metadata, n.expires_at, n.created, n.updated
         FROM json_to_recordset($2) AS n (id text, template_id text, status text, holder_email text,
              holder_name text, fields json, page_token text, google_link text, metadata json,
              expires_at timestamptz, created timestamptz, updated timestamptz)`,
}

/** Writes new passes, all in one statement. */
export function insertPasses(db: Database, tenantId: string, rows: readonly PassRow[]): Promise<unknown> {
  return db.query(INSERT, [tenantId, JSON.stringify(rows.map(storedForm))])
}

const UPDATE: Statement = {
  name: 'passes_update',
  text: `UPDATE passes p
         SET status = n.status, holder_email = n.holder_email, holder_name = n.holder_name, fields = n.fields,
             metadata = n.metadata, expires_at = n.expires_at, revoked_at = n.revoked_at,
             archived_at = n.archived_at, updated = n.updated
         FROM json_to_recordset($2) AS n (id text, status text, holder_email text, holder_name text, fields json,
              metadata json, expires_at timestamptz, revoked_at timestamptz, archived_at timestamptz,
              updated timestamptz)
         WHERE p.tenant_id = $1 AND p.id = n.id`,
}

/** Writes what may change of passes that `lockPasses` holds, all in one statement. */
export function updatePasses(db: Database, tenantId: string, rows: readonly PassRow[]): Promise<unknown> {
  return db.query(UPDATE, [tenantId, JSON.stringify(rows.map(storedForm))])
}

function storedForm(row: PassRow): Record<string, unknown> {
  const { template_fields: _, template_kind: __, ...own } = row
  return {
    ...own,
    expires_at: row.expires_at === null ? null : toTimestamp(row.expires_at),
    revoked_at: row.revoked_at === null ? null : toTimestamp(row.revoked_at),
    archived_at: row.archived_at === null ? null : toTimestamp(row.archived_at),
    created: toTimestamp(row.created),
    updated: toTimestamp(row.updated),
  }
}

export interface PassFilter {
  readonly statuses?: readonly string[]
  readonly templateIds?: readonly string[]
  readonly includeArchived: boolean
  readonly created: CreatedRange
}

/** @param now service time, by which passes expire. */
export async function listPasses(
  db: Database,
  tenantId: string,
  filter: PassFilter,
  page: Page,
  now: number,
): Promise<Records<PassRow>> {
  const conditions = filterConditions(tenantId, filter, now)
  const listed = { table: 'passes p', alias: 'p', columns: COLUMNS, join: JOIN }
  const { rows } = await db.query<PassRow>(pageStatement(listed, conditions, page), conditions.values)
  return cutPage(rows, page)
}

export async function countPasses(
  db: Database,
  tenantId: string,
  filter: PassFilter,
  now: number,
): Promise<number> {
  const { clauses, values } = filterConditions(tenantId, filter, now)
  const statement = shapedStatement(`SELECT count(*) AS count FROM passes p WHERE ${clauses.join(' AND ')}`)
  const { rows } = await db.query<{ count: number }>({ ...statement, long: true }, values)
  return rows[0]?.count ?? 0
}

function filterConditions(tenantId: string, filter: PassFilter, now: number): Conditions {
  const conditions: Conditions = { clauses: ['p.tenant_id = $1'], values: [tenantId] }
  if (!filter.includeArchived) conditions.clauses.push('p.archived_at IS NULL')
  if (filter.templateIds)
    conditions.clauses.push(`p.template_id = ANY(${bind(conditions, filter.templateIds)})`)
  if (filter.statuses) conditions.clauses.push(statusFilter(conditions, filter.statuses, now))
  addCreatedRange(conditions, 'p.created', filter.created)
  return conditions
}

/** `statusAt` of domain/pass-status.ts in SQL: a live pass whose `expires_at` has come counts as expired. */
function statusFilter(conditions: Conditions, statuses: readonly string[], now: number): string {
  const live = LIVE_STATUSES.filter((status) => statuses.includes(status))
  const ended = statuses.filter((status) => !LIVE_STATUSES.some((each) => each === status))
  const either: string[] = []
  if (ended.length > 0) either.push(`p.status = ANY(${bind(conditions, ended)})`)
  if (live.length > 0) {
    const stillLive = `(p.expires_at IS NULL OR p.expires_at > ${bind(conditions, toTimestamp(now))})`
    either.push(`(p.status = ANY(${bind(conditions, live)}) AND ${stillLive})`)
  }
  if (ended.includes('expired')) {
    const overdue = `p.expires_at <= ${bind(conditions, toTimestamp(now))}`
    either.push(`(p.status = ANY(${bind(conditions, LIVE_STATUSES)}) AND ${overdue})`)
  }
  return either.length === 0 ? 'false' : `(${either.join(' OR ')})`
}
