import type { PassMessageBatchesHandlers } from '../../../generated/canonical/handlers.ts'
import { invalidState, notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { newId } from '../../platform/ids.ts'
import {
  countOpenBatches,
  insertPassMessageBatch,
  listPassMessageBatches,
  lockBatches,
  type PassMessageBatchRow,
  readPassMessageBatch,
  updateBatch,
} from './batch-queries.ts'
import { showPassMessageBatch } from './batch-view.ts'
import { readContent } from './content.ts'

/** Maximum number of batches of a tenant that have not ended. Further requests are refused. */
const MAX_OPEN = 5

export const passMessageBatchesHandlers = {
  async createPassMessageBatch({ caller, db, request: { now } }, { body }) {
    const content = readContent(body, now)
    if ((await countOpenBatches(db, caller.space, MAX_OPEN)) >= MAX_OPEN) {
      throw invalidState(
        `The maximum of ${MAX_OPEN} batches have not ended. Wait until one of them is completed, or cancel it.`,
      )
    }
    const row: PassMessageBatchRow = {
      id: newId('pmb', now),
      filter: body.filter,
      ...content,
      status: 'queuing',
      total: 0,
      sent: 0,
      skipped: 0,
      after_created: null,
      after_id: null,
      created: now,
      updated: now,
    }
    await insertPassMessageBatch(db, caller.space, row)
    return { status: 201, body: showPassMessageBatch(row) }
  },

  listPassMessageBatches: (context, { query }) =>
    answerList(context, query, listPassMessageBatches, showPassMessageBatch),

  async getPassMessageBatch({ caller, db }, { path }) {
    const row = await readPassMessageBatch(db, caller.space, path.pass_message_batch_id)
    if (!row) throw notFound()
    return { status: 200, body: showPassMessageBatch(row) }
  },

  async cancelPassMessageBatch({ caller, db, request: { now } }, { path }) {
    const id = path.pass_message_batch_id
    const row = (await lockBatches(db, caller.space, [id])).get(id)
    if (!row) throw notFound()
    if (row.status === 'completed' || row.status === 'canceled') {
      throw invalidState(`The batch has ended: its status is ${row.status}.`)
    }
    const canceled: PassMessageBatchRow = { ...row, status: 'canceled', updated: now }
    await updateBatch(db, caller.space, canceled)
    return { status: 200, body: showPassMessageBatch(canceled) }
  },
} satisfies PassMessageBatchesHandlers<Context>
