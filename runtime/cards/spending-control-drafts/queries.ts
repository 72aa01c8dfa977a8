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
  /** The newest proposed version; the first is 1. */
  readonly version: number
  readonly spending_controls: SpendingControls
  readonly metadata: Readonly<Record<string, string>>
  readonly created: number
  readonly updated: number
  /** Of the newest shadow; null if there was none. */
  readonly shadow_version: number | null
  readonly shadow_started: number | null
  /** Null while the shadow runs. */
  readonly shadow_ended: number | null
  /** The newest one; null if the draft was not promoted. */
  readonly promotion: Schemas['SpendingControlPromotion'] | null
  /** The draft that was active until this one was promoted. */
  readonly superseded_id: string | null
}

/** What a draft has before its first shadow and its first promotion. */
export const UNTRIED = {
  shadow_version: null,
  shadow_started: null,
  shadow_ended: null,
  promotion: null,
  superseded_id: null,
}

/** A version of a draft as stored. Never changes. */
export interface SpendingControlVersionRow {
  readonly id: string
  readonly draft_id: string
  readonly version: number
  readonly spending_controls: SpendingControls
  /** Null if the controls were proposed. */
  readonly origin: 'replaced' | 'restored' | null
  readonly created: number
}

const INSERTED =
  'id, name, card_id, card_program_id, status, version, spending_controls, metadata, created, updated'

const COLUMNS = `${INSERTED}, shadow_version, shadow_started, shadow_ended, promotion, superseded_id`

const INSERT: Statement = {
  name: 'spending_control_drafts_insert',
  text: `INSERT INTO spending_control_drafts (tenant_id, ${INSERTED})
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
}

/** Writes a new draft, which has neither been in shadow nor promoted. */
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
  text: `UPDATE spending_control_drafts SET name = $3, status = $4, version = $5, spending_controls = $6, metadata = $7, updated = $8,
                shadow_version = $9, shadow_started = $10, shadow_ended = $11, promotion = $12, superseded_id = $13
          WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the mutable columns of a draft that the caller has locked. */
export function updateDraft(db: Database, tenantId: string, row: SpendingControlDraftRow): Promise<unknown> {
  const { id, name, status, version, spending_controls, metadata, updated, promotion } = row
  const content = [JSON.stringify(spending_controls), JSON.stringify(metadata), toTimestamp(updated)]
  const times = [row.shadow_started, row.shadow_ended].map((time) => time && toTimestamp(time))
  const tried = [row.shadow_version, ...times, promotion && JSON.stringify(promotion), row.superseded_id]
  return db.query(UPDATE, [tenantId, id, name, status, version, ...content, ...tried])
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
  text: `INSERT INTO spending_control_versions (tenant_id, id, draft_id, version, spending_controls, origin, created)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
}

export function insertVersion(
  db: Database,
  tenantId: string,
  { id, draft_id, version, spending_controls, origin, created }: SpendingControlVersionRow,
): Promise<unknown> {
  const content = [JSON.stringify(spending_controls), origin, toTimestamp(created)]
  return db.query(INSERT_VERSION, [tenantId, id, draft_id, version, ...content])
}

const LAST_VERSION: Statement = {
  name: 'spending_control_versions_last',
  text: 'SELECT max(version) AS last FROM spending_control_versions WHERE tenant_id = $1 AND draft_id = $2',
}

/** Returns the greatest number of a version of a draft that the caller has locked. */
export async function readLastVersion(db: Database, tenantId: string, draftId: string): Promise<number> {
  return (await db.query<{ last: number }>(LAST_VERSION, [tenantId, draftId])).rows[0]!.last
}

interface OfDraft {
  readonly draft_id: readonly [string]
}

export const listVersions = defineList<SpendingControlVersionRow, 'listSpendingControlVersions', OfDraft>({
  operation: 'listSpendingControlVersions',
  table: 'spending_control_versions',
  alias: 'v',
  columns: 'v.id, v.draft_id, v.version, v.spending_controls, v.origin, v.created',
  filters: { draft_id: 'v.draft_id' },
  indexes: [['draft_id']],
})
