import { isDeepStrictEqual } from 'node:util'
import type { Detail } from 'dateline/runtime'
import type { SpendingControlDraftsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { checkMetadata, mergePatch } from '../../api/json/merge-patch.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import { readCard } from '../cards/queries.ts'
import { readCardProgram } from '../programs/queries.ts'
import { checkControls, patchControls, readControls } from '../programs/spending-controls.ts'
import {
  insertDraft,
  insertVersion,
  listDrafts,
  listVersions,
  lockDraft,
  readDraft,
  readLastVersion,
  type SpendingControlDraftRow,
  UNTRIED,
  updateDraft,
} from './queries.ts'
import { requireOpen, versionOf } from './states.ts'
import { showDraft, showVersion } from './view.ts'

type Schemas = components['schemas']

export const spendingControlDraftsHandlers = {
  async createSpendingControlDraft(context, { body }) {
    const { now } = context.request
    const faults = [...(await checkTarget(context, body)), ...checkControls(body.spending_controls)]
    if (faults.length > 0) throw validationFailed(faults)
    const row: SpendingControlDraftRow = {
      id: newId('scd', now),
      name: body.name,
      card_id: body.card_id ?? null,
      card_program_id: body.card_program_id ?? null,
      status: 'draft',
      version: 1,
      spending_controls: readControls(body.spending_controls),
      metadata: body.metadata ?? {},
      created: now,
      updated: now,
      ...UNTRIED,
    }
    pipelined(insertDraft(context.db, context.caller.space, row))
    pipelined(insertVersion(context.db, context.caller.space, versionOf(row, now)))
    const shown = showDraft(row)
    emit(context.events, { type: 'spending_control_draft.created', data: { spending_control_draft: shown } })
    return { status: 201, body: shown }
  },

  listSpendingControlDrafts: (context, { query }) => answerList(context, query, listDrafts, showDraft),

  async getSpendingControlDraft({ caller, db }, { path }) {
    const row = await readDraft(db, caller.space, path.spending_control_draft_id)
    if (!row) throw notFound()
    return { status: 200, body: showDraft(row) }
  },

  async updateSpendingControlDraft(context, { path, body }) {
    const { caller, db } = context
    const row = await lockDraft(db, caller.space, path.spending_control_draft_id)
    if (!row) throw notFound()
    const last = body.spending_controls === undefined ? 0 : await readLastVersion(db, caller.space, row.id)
    const changed = patch(row, body, last, context.request.now)
    pipelined(updateDraft(db, caller.space, changed))
    if (changed.version > row.version) {
      pipelined(insertVersion(db, caller.space, versionOf(changed, changed.updated)))
    }
    return { status: 200, body: showDraft(changed) }
  },

  async archiveSpendingControlDraft({ caller, db, request }, { path }) {
    const row = await lockDraft(db, caller.space, path.spending_control_draft_id)
    if (!row) throw notFound()
    if (row.status !== 'superseded') requireOpen(row)
    const archived: SpendingControlDraftRow = { ...row, status: 'archived', updated: request.now }
    await updateDraft(db, caller.space, archived)
    return { status: 200, body: showDraft(archived) }
  },

  async listSpendingControlVersions(context, { path, query }) {
    const id = path.spending_control_draft_id
    return answerList(
      context,
      query,
      async (db, space, filter, page) => {
        if (!(await readDraft(db, space, id))) throw notFound()
        return listVersions(db, space, { ...filter, draft_id: [id] }, page)
      },
      showVersion,
    )
  },
} satisfies Partial<SpendingControlDraftsHandlers<Context>>

/** Applies a merge patch (RFC 7396). Other controls make a new version. @param last the greatest version number. */
function patch(
  row: SpendingControlDraftRow,
  { spending_controls: given, ...content }: Schemas['SpendingControlDraftUpdate'],
  last: number,
  now: number,
): SpendingControlDraftRow {
  const { name, metadata } = row
  const merged = mergePatch({ name, metadata }, content) as Pick<SpendingControlDraftRow, 'name'>
  const spending_controls = patchControls(row.spending_controls, given)
  const isNew = !isDeepStrictEqual(spending_controls, row.spending_controls)
  if (isNew) requireOpen(row)
  const version = isNew ? last + 1 : row.version
  const changed = { ...row, metadata: {}, ...merged, spending_controls, version, updated: now }
  const faults = [...checkControls(given), ...checkMetadata(changed.metadata)]
  if (faults.length > 0) throw validationFailed(faults)
  return changed
}

async function checkTarget(
  { caller, db }: Context,
  { card_id, card_program_id }: Schemas['SpendingControlDraftCreate'],
): Promise<Detail[]> {
  if (card_id && card_program_id)
    return [{ field: 'card_program_id', issue: 'must be absent if card_id is given' }]
  if (card_id && !(await readCard(db, caller.space, card_id)))
    return [{ field: 'card_id', issue: 'does not identify an existing card' }]
  if (card_program_id && !(await readCardProgram(db, caller.space, card_program_id)))
    return [{ field: 'card_program_id', issue: 'does not identify an existing card program' }]
  return []
}
