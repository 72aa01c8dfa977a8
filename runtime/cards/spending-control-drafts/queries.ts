import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import type { SpendingControls } from '../programs/spending-controls.ts'

type Schemas = components['schemas']

/** A draft as stored. Times are milliseconds since the epoch. */
export interface SpendingControlDraftRow {
  readonly id: string
  readonly name: string
  /** Null if the draft is for the cards of a program, or for all cards. */
  readonly card_id: string | null
  readonly card_program_id: string | null
  readonly status: Schemas['SpendingControlDraftStatus']
  /** The newest version; the first is 1. */
  readonly version: number
  readonly spending_controls: SpendingControls
  readonly metadata: Readonly<Record<string, string>>
  readonly created: number
  readonly updated: number
}

/** A version of a draft as stored. Never changes. */
export interface SpendingControlVersionRow {
  readonly id: string
  readonly draft_id: string
  readonly version: number
  readonly spending_controls: SpendingControls
  readonly created: number
}

const COLUMNS =
  'id, name, card_id, card_program_id, status, version, spending_controls, metadata, created, updated'

const INSERT: Statement = {
  name: 'spending_control_drafts_insert',
  text: `INSERT INTO spending_control_drafts (tenant_id, ${COLUMNS})
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
}

export function insertDraft(db: Database, tenantId: string, row: SpendingControlDraftRow): Promise<unknown> {
  const { id, name, card_id, card_program_id, status, version, spending_controls, metadata } = row
  const content = [JSON.stringify(spending_controls), JSON.stringify(metadata)]
  const times = [toTimestamp(row.created), toTimestamp(row.updated)]
  return db.query(INSERT, [
    tenantId,
    id,
    name,
    card_id,
    card_program_id,
    status,
    version,
    ...content,
    ...times,
  ])
}

const READ: Statement = {
  name: 'spending_control_drafts_read',
  text: `SELECT ${COLUMNS} FROM spending_control_drafts WHERE tenant_id = $1 AND id = $2`,
}

export async function readDraft(
  db: Database,
  tenantId: string,
  id: string,
): Promise<SpendingControlDraftRow | undefined> {
  return (await db.query<SpendingControlDraftRow>(READ, [tenantId, id])).rows[0]
}

const LOCK: Statement = { name: 'spending_control_drafts_lock', text: `${READ.text} FOR UPDATE` }

/** Returns a draft and locks it until the transaction ends. */
export async function lockDraft(
  db: Database,
  tenantId: string,
  id: string,
): Promise<SpendingControlDraftRow | undefined> {
  return (await db.query<SpendingControlDraftRow>(LOCK, [tenantId, id])).rows[0]
}

const UPDATE: Statement = {
  name: 'spending_control_drafts_update',
  text: `UPDATE spending_control_drafts SET name = $3, status = $4, version = $5, spending_controls = $6, metadata = $7, updated = $8
         WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the mutable columns of a draft that the caller has locked. */
export function updateDraft(db: Database, tenantId: string, row: SpendingControlDraftRow): Promise<unknown> {
  const { id, name, status, version, spending_controls, metadata, updated } = row
  const content = [JSON.stringify(spending_controls), JSON.stringify(metadata), toTimestamp(updated)]
  return db.query(UPDATE, [tenantId, id, name, status, version, ...content])
}

export const listDrafts = defineList<SpendingControlDraftRow, 'listSpendingControlDrafts'>({
  operation: 'listSpendingControlDrafts',
  table: 'spending_control_drafts',
  alias: 'd',
  columns: COLUMNS,
  filters: { status: 'd.status' },
  indexes: [[], ['status']],
})

const INSERT_VERSION: Statement = {
  name: 'spending_control_versions_insert',
  text: `INSERT INTO spending_control_versions (tenant_id, id, draft_id, version, spending_controls, created)
         VALUES ($1, $2, $3, $4, $5, $6)`,
}

export function insertVersion(
  db: Database,
  tenantId: string,
  { id, draft_id, version, spending_controls, created }: SpendingControlVersionRow,
): Promise<unknown> {
  const values = [tenantId, id, draft_id, version, JSON.stringify(spending_controls), toTimestamp(created)]
  return db.query(INSERT_VERSION, values)
}

interface OfDraft {
  readonly draft_id: readonly [string]
}

export const listVersions = defineList<SpendingControlVersionRow, 'listSpendingControlVersions', OfDraft>({
  operation: 'listSpendingControlVersions',
  table: 'spending_control_versions',
  alias: 'v',
  columns: 'v.id, v.draft_id, v.version, v.spending_controls, v.created',
  filters: { draft_id: 'v.draft_id' },
  indexes: [['draft_id']],
})
