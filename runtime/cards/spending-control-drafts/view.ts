import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { SpendingControlDraftRow, SpendingControlVersionRow } from './queries.ts'

type Schemas = components['schemas']

export function showDraft(row: SpendingControlDraftRow): Schemas['SpendingControlDraft'] {
  return {
    id: row.id,
    object: 'spending_control_draft',
    name: row.name,
    card_id: row.card_id,
    card_program_id: row.card_program_id,
    status: row.status,
    version: row.version,
    spending_controls: row.spending_controls,
    shadow_version: row.shadow_version,
    promotion: row.promotion,
    metadata: row.metadata,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

export function showVersion(row: SpendingControlVersionRow): Schemas['SpendingControlVersion'] {
  return {
    id: row.id,
    object: 'spending_control_version',
    spending_control_draft_id: row.draft_id,
    version: row.version,
    spending_controls: row.spending_controls,
    origin: row.origin ?? 'proposed',
    created: writeInstant(row.created),
  }
}
