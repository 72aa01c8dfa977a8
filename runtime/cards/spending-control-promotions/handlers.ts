/**
 * Promotions of drafts of spending controls. A promotion and a roll back lock the cards, then the program, then the drafts, so
 * two of them for the same cards run one after the other. Each is one transaction: all controls change, or none does.
 */
import { isDeepStrictEqual } from 'node:util'
import type { SpendingControlDraftsHandlers } from '../../../generated/canonical/handlers.ts'
import { invalidState, notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { writeInstant } from '../../platform/instants.ts'
import { writeChange } from '../cards/changes.ts'
import { type CardRow, lockCard, lockFirstCards } from '../cards/queries.ts'
import { type CardProgramRow, lockCardProgram, updateCardProgram } from '../programs/queries.ts'
import type { SpendingControls } from '../programs/spending-controls.ts'
import {
  lockDraft,
  readDraft,
  readLastVersion,
  type SpendingControlDraftRow,
  updateDraft,
} from '../spending-control-drafts/queries.ts'
import { endShadow, requireOpen } from '../spending-control-drafts/states.ts'
import { showDraft } from '../spending-control-drafts/view.ts'
import { keepVersions } from './kept-versions.ts'
import {
  deleteReplacements,
  findActiveFor,
  insertReplacements,
  type Replacement,
  readReplacements,
  readVersionId,
} from './queries.ts'

/** Maximum number of cards of a promotion. Their authorizations wait until it is complete. */
const MAX_CARDS = 1000

export const spendingControlPromotionsHandlers = {
  async promoteSpendingControlDraft(context, { path, body }) {
    const { caller, db, events, request } = context
    const { space } = caller
    const found = await readDraft(db, space, path.spending_control_draft_id)
    if (!found) throw notFound()
    const { cards, program } = await lockTarget(db, space, found)
    const row = await lockDraft(db, space, found.id)
    if (!row) throw notFound()
    const open = row.status === 'shadow' ? endShadow(row, request.now) : row
    requireOpen(open)
    if (body?.version !== undefined && body.version !== row.version)
      throw invalidState(`The newest version of the draft is ${row.version}, not ${body.version}.`)
    if (open !== row) {
      const data = { spending_control_draft: showDraft(open) }
      emit(events, { type: 'spending_control_draft.shadow_ended', data })
    }
    const controls = row.spending_controls
    const kept = keepVersions(context, row.id, await readLastVersion(db, space, row.id), 'replaced')
    const replacements: Replacement[] = []
    const changed = cards.filter((card) => !isDeepStrictEqual(card.spending_controls, controls))
    for (const card of changed) {
      replacements.push({ target_id: card.id, version: kept.numberOf(card.spending_controls) })
      writeChange(context, card, withControls(card, controls, request.now), 'card.updated')
    }
    if (program && !isDeepStrictEqual(program.spending_controls, controls)) {
      replacements.push({ target_id: program.id, version: kept.numberOf(program.spending_controls) })
      pipelined(updateCardProgram(db, space, withControls(program, controls, request.now)))
    }
    pipelined(insertReplacements(db, space, row.id, replacements))
    const active = await findActiveFor(db, space, row)
    if (active !== undefined) await changeStatus(context, active, 'active', 'superseded')
    const promoted: SpendingControlDraftRow = {
      ...open,
      status: 'active',
      promotion: {
        version: row.version,
        cards: changed.length,
        promoted: writeInstant(request.now),
        rolled_back: null,
      },
      superseded_id: active ?? null,
      updated: request.now,
    }
    tellVersions(context, [await readVersionId(db, space, row)], kept.ids())
    return { status: 200, body: write(context, 'spending_control_draft.promoted', promoted) }
  },

  async rollBackSpendingControlDraft(context, { path }) {
    const { caller, db, request } = context
    const { space } = caller
    const id = path.spending_control_draft_id
    const replacements = await readReplacements(db, space, id)
    const cards = new Map<string, CardRow>()
    let program: CardProgramRow | undefined
    for (const { target_id } of replacements) {
      const card = target_id.startsWith('card_') ? await lockCard(db, space, target_id) : undefined
      if (card) cards.set(card.id, card)
      else program = await lockCardProgram(db, space, target_id)
    }
    const row = await lockDraft(db, space, id)
    if (!row) throw notFound()
    if (row.status !== 'active' || row.promotion === null)
      throw invalidState(`The draft is not active. Its status is ${row.status}.`)
    const promoted = row.spending_controls
    const kept = keepVersions(context, id, await readLastVersion(db, space, id), 'restored')
    let restored = 0
    for (const { target_id, spending_controls } of replacements) {
      const card = cards.get(target_id)
      const target = card ?? (program?.id === target_id ? program : undefined)
      if (!target || !isDeepStrictEqual(target.spending_controls, promoted)) continue
      if (card?.status === 'canceled') continue
      kept.numberOf(spending_controls)
      restored += 1
      if (card) writeChange(context, card, withControls(card, spending_controls, request.now), 'card.updated')
      else if (program)
        pipelined(updateCardProgram(db, space, withControls(program, spending_controls, request.now)))
    }
    if (restored === 0 && replacements.length > 0)
      throw invalidState('The spending controls of each card have changed since the promotion.')
    pipelined(deleteReplacements(db, space, id))
    if (row.superseded_id !== null) await changeStatus(context, row.superseded_id, 'superseded', 'active')
    const open: SpendingControlDraftRow = {
      ...row,
      status: 'draft',
      promotion: { ...row.promotion, rolled_back: writeInstant(request.now) },
      superseded_id: null,
      updated: request.now,
    }
    tellVersions(context, kept.ids(), [await readVersionId(db, space, row)])
    return { status: 200, body: write(context, 'spending_control_draft.rolled_back', open) }
  },
} satisfies Partial<SpendingControlDraftsHandlers<Context>>

interface LockedTarget {
  readonly cards: readonly CardRow[]
  readonly program: CardProgramRow | undefined
}

/** Locks what a draft is for. Throws `invalid_state` if there are no cards and no program, or too many cards. */
async function lockTarget(
  db: Database,
  space: string,
  { card_id, card_program_id }: SpendingControlDraftRow,
): Promise<LockedTarget> {
  const locked =
    card_id === null
      ? await lockFirstCards(db, space, card_program_id, MAX_CARDS + 1)
      : [await lockCard(db, space, card_id)].filter((card) => card !== undefined)
  const program = card_program_id === null ? undefined : await lockCardProgram(db, space, card_program_id)
  if (locked.length > MAX_CARDS)
    throw invalidState(
      `The draft is for more than the maximum of ${MAX_CARDS} cards. ` +
        (card_program_id === null
          ? 'Create a draft for each card program.'
          : 'Change the controls of the program and of its cards directly.'),
    )
  const cards = locked.filter(({ status }) => status !== 'canceled')
  if (cards.length === 0 && !program)
    throw invalidState('The draft is for no card that is not canceled. Create a new draft.')
  return { cards, program }
}

const withControls = <Row extends { readonly spending_controls: SpendingControls; readonly updated: number }>(
  row: Row,
  spending_controls: SpendingControls,
  updated: number,
): Row => ({ ...row, spending_controls, updated })

/** Changes the status of another draft, unless it has a different one by now. */
async function changeStatus(
  { caller, db, request }: Context,
  id: string,
  from: SpendingControlDraftRow['status'],
  to: SpendingControlDraftRow['status'],
): Promise<void> {
  const row = await lockDraft(db, caller.space, id)
  if (row?.status !== from) return
  pipelined(updateDraft(db, caller.space, { ...row, status: to, updated: request.now }))
}

/** The audit log names the versions that now apply, and those that they replace. */
function tellVersions({ audit }: Context, activated: readonly string[], replaced: readonly string[]): void {
  for (const targetId of replaced) audit.add({ action: 'spending_control_version.replaced', targetId })
  for (const targetId of activated) audit.add({ action: 'spending_control_version.activated', targetId })
}

function write(
  { caller, db, events }: Context,
  type: 'spending_control_draft.promoted' | 'spending_control_draft.rolled_back',
  row: SpendingControlDraftRow,
) {
  pipelined(updateDraft(db, caller.space, row))
  const shown = showDraft(row)
  emit(events, { type, data: { spending_control_draft: shown } })
  return shown
}
