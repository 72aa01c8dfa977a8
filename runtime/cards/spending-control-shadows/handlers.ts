import type { SpendingControlDraftsHandlers } from '../../../generated/canonical/handlers.ts'
import { invalidState, notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { listFlips } from '../spending-control-backtests/queries.ts'
import { showFlip } from '../spending-control-backtests/view.ts'
import {
  lockDraft,
  readDraft,
  type SpendingControlDraftRow,
  updateDraft,
} from '../spending-control-drafts/queries.ts'
import { endShadow, startShadow } from '../spending-control-drafts/states.ts'
import { showDraft } from '../spending-control-drafts/view.ts'
import { countShadows, readTotals } from './queries.ts'
import { shadowOf } from './recording.ts'
import { showShadow } from './view.ts'

/** Maximum number of drafts of a tenant in shadow: each makes an authorization read and write a little more. */
const MAX_SHADOWS = 3

export const spendingControlShadowsHandlers = {
  async startSpendingControlShadow(context, { path }) {
    const { db, caller } = context
    const started = await change(context, path.spending_control_draft_id, startShadow)
    // Counted after the change: of two requests at the same time, both may pass, but no third.
    if ((await countShadows(db, caller.space)) > MAX_SHADOWS)
      throw invalidState(
        `The maximum of ${MAX_SHADOWS} drafts are already in shadow. End the shadow of one of them first.`,
      )
    return { status: 200, body: tell(context, 'spending_control_draft.shadow_started', started) }
  },

  async endSpendingControlShadow(context, { path }) {
    const ended = await change(context, path.spending_control_draft_id, endShadow)
    return { status: 200, body: tell(context, 'spending_control_draft.shadow_ended', ended) }
  },

  async getSpendingControlShadow({ caller, db }, { path }) {
    const { row, shadow } = await readShadow(db, caller.space, path.spending_control_draft_id)
    return { status: 200, body: showShadow(row, await readTotals(db, caller.space, shadow)) }
  },

  async listSpendingControlShadowFlips(context, { path, query }) {
    return answerList(
      context,
      query,
      async (db, space, filter, page) => {
        const { shadow } = await readShadow(db, space, path.spending_control_draft_id)
        return listFlips(db, space, { ...filter, backtest_id: [shadow] }, page)
      },
      showFlip,
    )
  },
} satisfies Partial<SpendingControlDraftsHandlers<Context>>

async function change(
  { caller, db, request }: Context,
  id: string,
  by: (row: SpendingControlDraftRow, now: number) => SpendingControlDraftRow,
): Promise<SpendingControlDraftRow> {
  const row = await lockDraft(db, caller.space, id)
  if (!row) throw notFound()
  const changed = by(row, request.now)
  pipelined(updateDraft(db, caller.space, changed))
  return changed
}

function tell(
  { events }: Pick<Context, 'events'>,
  type: 'spending_control_draft.shadow_started' | 'spending_control_draft.shadow_ended',
  row: SpendingControlDraftRow,
) {
  const shown = showDraft(row)
  emit(events, { type, data: { spending_control_draft: shown } })
  return shown
}

/** Throws 404 if there is no such draft, or if it has never been in shadow. */
async function readShadow(db: Database, space: string, id: string) {
  const row = await readDraft(db, space, id)
  if (!row || row.shadow_version === null) throw notFound()
  return { row, shadow: shadowOf(row.id, row.shadow_version) }
}
