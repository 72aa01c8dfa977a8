import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import type { BarcodeFormat, PassLocation, PassOptions } from '../wallets/render/pass-state.ts'
import type { TemplateField } from './fields.ts'

export type TemplateKind = components['schemas']['PassTemplateKind']
export type TemplateStatus = components['schemas']['PassTemplateStatus']

/** A brand as the caller sent it: members that were not sent are absent. */
export interface Brand {
  readonly background_color: string
  readonly foreground_color: string
  readonly label_color?: string
  readonly logo_text?: string
  readonly icon?: string
  readonly logo?: string
  readonly strip?: string
}

/** Content that a caller can set when creating the template and change later. */
export interface TemplateContent {
  readonly name: string
  readonly brand: Brand
  readonly fields: readonly TemplateField[]
  readonly barcode: { readonly format: BarcodeFormat; readonly message?: string }
  readonly relevant_locations: readonly PassLocation[]
  readonly metadata: Readonly<Record<string, string>>
  readonly options: PassOptions
}

/** A stored template. Times are milliseconds since the epoch. */
export interface TemplateRow extends TemplateContent {
  readonly id: string
  readonly kind: TemplateKind
  readonly status: TemplateStatus
  readonly created: number
  readonly updated: number
  /** Time of the last change that passes show, in whole seconds, and the number of these changes. */
  readonly changed: number
  readonly revision: number
}

const STORED =
  'id, name, kind, status, brand, fields, barcode, relevant_locations, metadata, options, created, updated, changed, revision'

const CHANGED = "coalesce(changed, date_trunc('second', updated)) AS changed"

const COLUMNS = STORED.replace('changed', CHANGED)

const INSERT: Statement = {
  name: 'pass_templates_insert',
  text: `INSERT INTO pass_templates (tenant_id, ${STORED})
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
}

export function insertTemplate(db: Database, tenantId: string, row: TemplateRow): Promise<unknown> {
  return db.query(INSERT, [
    tenantId,
    row.id,
    row.name,
    row.kind,
    row.status,
    ...contentValues(row),
    toTimestamp(row.created),
    toTimestamp(row.updated),
    toTimestamp(row.changed),
    row.revision,
  ])
}

function contentValues(row: TemplateContent): string[] {
  return [row.brand, row.fields, row.barcode, row.relevant_locations, row.metadata, row.options].map((part) =>
    JSON.stringify(part),
  )
}

const READ: Statement = {
  name: 'pass_templates_read',
  text: `SELECT ${COLUMNS} FROM pass_templates WHERE tenant_id = $1 AND id = $2`,
}

export async function readTemplate(
  db: Database,
  tenantId: string,
  id: string,
): Promise<TemplateRow | undefined> {
  const { rows } = await db.query<TemplateRow>(READ, [tenantId, id])
  return rows[0]
}

const LOCK: Statement = {
  name: 'pass_templates_lock',
  text: `SELECT ${COLUMNS} FROM pass_templates WHERE tenant_id = $1 AND id = $2 FOR UPDATE`,
}

/** Locks a template for update until the end of the transaction; undefined if it does not exist. */
export async function lockTemplate(
  db: Database,
  tenantId: string,
  id: string,
): Promise<TemplateRow | undefined> {
  const { rows } = await db.query<TemplateRow>(LOCK, [tenantId, id])
  return rows[0]
}

const READ_CODE_OPTIONS: Statement = {
  name: 'pass_templates_code_options',
  text: `SELECT json_build_object('rotating_barcode', options -> 'rotating_barcode', 'nfc', options -> 'nfc',
                                  'smart_tap', options -> 'smart_tap') AS options
           FROM pass_templates WHERE tenant_id = $1 AND id = $2`,
}

/** The options that decide which codes of a pass scans accept. Options that are not set are null. */
export type CodeOptions = {
  readonly [Name in 'rotating_barcode' | 'nfc' | 'smart_tap']: PassOptions[Name] | null
}

/** Reads the options of a template that exists, without its images. */
export async function readCodeOptions(db: Database, tenantId: string, id: string): Promise<CodeOptions> {
  return (await db.query<{ options: CodeOptions }>(READ_CODE_OPTIONS, [tenantId, id])).rows[0]!.options
}

/** The columns needed to issue a pass. */
export interface LockedTemplate {
  readonly id: string
  readonly kind: TemplateKind
  readonly status: TemplateStatus
  readonly fields: readonly TemplateField[]
  readonly changed: number
  readonly revision: number
}

// IDs are passed as JSON, here and in passes/queries.ts. With an array parameter, PostgreSQL counts the elements,
// prefers a plan for that number over the generic plan, and therefore plans again at every execution.
const READ_KINDS: Statement = {
  name: 'pass_templates_kinds',
  text: `SELECT t.id, t.kind FROM json_array_elements_text($2) AS wanted (id)
          CROSS JOIN LATERAL (
            SELECT id, kind FROM pass_templates t WHERE t.tenant_id = $1 AND t.id = wanted.id OFFSET 0
          ) AS t`,
}

/** Returns the kinds of the templates that exist. A kind never changes. */
export async function readKinds(
  db: Database,
  tenantId: string,
  ids: readonly string[],
): Promise<readonly Pick<TemplateRow, 'id' | 'kind'>[]> {
  return (await db.query<Pick<TemplateRow, 'id' | 'kind'>>(READ_KINDS, [tenantId, JSON.stringify(ids)])).rows
}

const share = (wait: '' | ' SKIP LOCKED') => `SELECT t.*
           FROM (SELECT id FROM json_array_elements_text($2) AS id ORDER BY id) AS wanted
          CROSS JOIN LATERAL (
            SELECT id, kind, status, fields, ${CHANGED}, revision FROM pass_templates t
             WHERE t.tenant_id = $1 AND t.id = wanted.id FOR SHARE${wait}
          ) AS t`

// FOR SHARE serializes issuing and archiving: a template is archived either before or after the passes are issued.
const SHARE: Statement = { name: 'pass_templates_share', text: share('') }

const SHARE_FREE: Statement = { name: 'pass_templates_share_free', text: share(' SKIP LOCKED') }

export type LockedTemplates = ReadonlyMap<string, LockedTemplate>

async function readTemplates(db: Database, statement: Statement, tenantId: string, ids: readonly string[]) {
  const { rows } = await db.query<LockedTemplate>(statement, [tenantId, JSON.stringify(ids)])
  return new Map(rows.map((row) => [row.id, row]))
}

/** Share-locks templates until the end of the transaction. Templates that do not exist are absent from the result. */
export function shareTemplates(
  db: Database,
  tenantId: string,
  ids: readonly string[],
): Promise<LockedTemplates> {
  return readTemplates(db, SHARE, tenantId, ids)
}

/**
 * Share-locks templates without waiting. Templates that another transaction has locked are also absent from the result.
 */
export function shareFreeTemplates(
  db: Database,
  tenantId: string,
  ids: readonly string[],
): Promise<LockedTemplates> {
  return readTemplates(db, SHARE_FREE, tenantId, ids)
}

const UPDATE: Statement = {
  name: 'pass_templates_update',
  text: `UPDATE pass_templates SET name = $3, status = $4, brand = $5, fields = $6, barcode = $7,
                relevant_locations = $8, metadata = $9, options = $10, updated = $11, changed = $12, revision = $13
         WHERE tenant_id = $1 AND id = $2`,
}

export function updateTemplate(db: Database, tenantId: string, row: TemplateRow): Promise<unknown> {
  return db.query(UPDATE, [
    tenantId,
    row.id,
    row.name,
    row.status,
    ...contentValues(row),
    toTimestamp(row.updated),
    toTimestamp(row.changed),
    row.revision,
  ])
}

export const listTemplates = defineList<TemplateRow, 'listPassTemplates'>({
  operation: 'listPassTemplates',
  table: 'pass_templates',
  alias: 't',
  columns: COLUMNS,
  filters: { kind: 't.kind', status: 't.status' },
  indexes: [[], ['kind', 'status']],
})
