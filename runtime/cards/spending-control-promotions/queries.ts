import type { Database, Statement } from '../../database/database.ts'
import type { SpendingControls } from '../programs/spending-controls.ts'
import type {
  SpendingControlDraftRow,
  SpendingControlVersionRow,
} from '../spending-control-drafts/queries.ts'

const ACTIVE: Statement = {
  name: 'spending_control_drafts_active_for',
  text: `SELECT id FROM spending_control_drafts
          WHERE tenant_id = $1 AND status = 'active' AND card_id IS NOT DISTINCT FROM $2 AND card_program_id IS NOT DISTINCT FROM $3`,
}

/** Returns the ID of the active draft for the same cards as a draft, if there is one. */
export async function findActiveFor(
  db: Database,
  tenantId: string,
  { card_id, card_program_id }: SpendingControlDraftRow,
): Promise<string | undefined> {
  return (await db.query<{ id: string }>(ACTIVE, [tenantId, card_id, card_program_id])).rows[0]?.id
}

const VERSION: Statement = {
  name: 'spending_control_versions_id_of',
  text: 'SELECT id FROM spending_control_versions WHERE tenant_id = $1 AND draft_id = $2 AND version = $3',
}

/** Returns the ID of the newest proposed version of a draft. */
export async function readVersionId(
  db: Database,
  tenantId: string,
  { id, version }: SpendingControlDraftRow,
): Promise<string> {
  return (await db.query<{ id: string }>(VERSION, [tenantId, id, version])).rows[0]!.id
}

const INSERT: Statement = {
  name: 'spending_control_replacements_insert',
  text: `INSERT INTO spending_control_replacements (tenant_id, draft_id, target_id, version)
         SELECT d.tenant_id, d.id, r.target_id, r.version
           FROM spending_control_drafts d, json_to_recordset($3) AS r (target_id text, version bigint)
          WHERE d.tenant_id = $1 AND d.id = $2`,
}

/** A card or a card program, and the version of the draft that keeps its replaced controls. */
export interface Replacement extends Pick<SpendingControlVersionRow, 'version'> {
  readonly target_id: string
}

export function insertReplacements(
  db: Database,
  tenantId: string,
  draftId: string,
  replacements: readonly Replacement[],
): Promise<unknown> {
  return db.query(INSERT, [tenantId, draftId, JSON.stringify(replacements)])
}

const READ: Statement = {
  name: 'spending_control_replacements_read',
  text: `SELECT r.target_id, r.version, v.spending_controls
           FROM spending_control_replacements r
           JOIN spending_control_versions v ON v.tenant_id = $1 AND v.draft_id = $2 AND v.version = r.version
          WHERE r.tenant_id = $1 AND r.draft_id = $2 ORDER BY r.target_id`,
}

export interface KeptReplacement extends Replacement {
  /** The replaced controls. */
  readonly spending_controls: SpendingControls
}

/** Returns what the promotion of a draft replaced, cards in the order in which they are locked. */
export async function readReplacements(
  db: Database,
  tenantId: string,
  draftId: string,
): Promise<readonly KeptReplacement[]> {
  return (await db.query<KeptReplacement>(READ, [tenantId, draftId])).rows
}

const DELETE: Statement = {
  name: 'spending_control_replacements_delete',
  text: 'DELETE FROM spending_control_replacements WHERE tenant_id = $1 AND draft_id = $2',
}

export function deleteReplacements(db: Database, tenantId: string, draftId: string): Promise<unknown> {
  return db.query(DELETE, [tenantId, draftId])
}
