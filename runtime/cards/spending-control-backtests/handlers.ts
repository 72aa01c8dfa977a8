import type {
  SpendingControlBacktestsHandlers,
  TestCardsHandlers,
} from '../../../generated/canonical/handlers.ts'
import { invalidState, notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { readInterval } from '../../api/interval.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import { readDraft } from '../spending-control-drafts/queries.ts'
import {
  type BacktestRow,
  countPending,
  insertBacktest,
  listBacktests,
  listFlips,
  readBacktest,
} from './queries.ts'
import { showBacktest, showFlip } from './view.ts'
import { endBacktest } from './work-queries.ts'

/** Maximum number of pending backtests of a tenant. Further requests are refused. */
const MAX_PENDING = 5

export const spendingControlBacktestsHandlers = {
  async createSpendingControlBacktest({ caller, db, request }, { path, body }) {
    const { now } = request
    const draft = await readDraft(db, caller.space, path.spending_control_draft_id)
    if (!draft) throw notFound()
    const interval = readInterval(body, now)
    if ((await countPending(db, caller.space, MAX_PENDING)) >= MAX_PENDING) {
      throw invalidState(
        `The maximum of ${MAX_PENDING} backtests are already pending. Wait until one of them is complete.`,
      )
    }
    const { version, spending_controls, card_id, card_program_id } = draft
    const row: BacktestRow = {
      id: newId('scb', now),
      spending_control_draft_id: draft.id,
      version,
      spending_controls,
      card_id,
      card_program_id,
      ...interval,
      status: 'pending',
      progress: 0,
      result: null,
      created: now,
      updated: now,
    }
    await insertBacktest(db, caller.space, row)
    return { status: 201, body: showBacktest(row) }
  },

  listSpendingControlBacktests: (context, { query }) =>
    answerList(context, query, listBacktests, showBacktest),

  async getSpendingControlBacktest({ caller, db }, { path }) {
    const row = await readBacktest(db, caller.space, path.spending_control_backtest_id)
    if (!row) throw notFound()
    return { status: 200, body: showBacktest(row) }
  },

  async listSpendingControlFlips(context, { path, query }) {
    const id = path.spending_control_backtest_id
    return answerList(
      context,
      query,
      async (db, space, filter, page) => {
        if (!(await readBacktest(db, space, id))) throw notFound()
        return listFlips(db, space, { ...filter, backtest_id: [id] }, page)
      },
      showFlip,
    )
  },

  async simulateSpendingControlBacktestFailure({ caller, db, events, request: { now: updated } }, { body }) {
    const row = await readBacktest(db, caller.space, body.spending_control_backtest_id)
    if (!row)
      throw validationFailed([
        { field: 'spending_control_backtest_id', issue: 'does not identify an existing backtest' },
      ])
    const failed: BacktestRow = { ...row, status: 'failed', result: null, updated }
    // A worker that is performing the backtest loses it, and writes nothing.
    if (!(await endBacktest(db, caller.space, failed)))
      throw invalidState('The backtest is no longer pending.')
    const shown = showBacktest(failed)
    emit(events, { type: 'spending_control_backtest.failed', data: { spending_control_backtest: shown } })
    return { status: 200, body: shown }
  },
} satisfies SpendingControlBacktestsHandlers<Context> &
  Pick<TestCardsHandlers<Context>, 'simulateSpendingControlBacktestFailure'>
