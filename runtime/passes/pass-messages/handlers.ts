import type { PassMessagesHandlers } from '../../../generated/canonical/handlers.ts'
import { notFound, rateLimited } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { newId } from '../../platform/ids.ts'
import { lockPasses } from '../passes/queries.ts'
import { readContent } from './content.ts'
import { DAY_MS, MAX_IN_A_DAY } from './limit.ts'
import {
  dueAt,
  insertPassMessage,
  listPassMessages,
  type PassMessageRow,
  readPassMessage,
  readSendingTimes,
} from './queries.ts'
import { showPassMessage } from './view.ts'

export const passMessagesHandlers = {
  async createPassMessage({ caller, db, request: { now } }, { path, body }) {
    const { pass_id } = path
    // The lock keeps a second request from passing the check of the limit.
    const pass = (await lockPasses(db, caller.space, [pass_id])).get(pass_id)
    if (!pass) throw notFound()
    const row: PassMessageRow = {
      id: newId('pmg', now),
      pass_id,
      pass_message_batch_id: null,
      ...readContent(body, now),
      status: 'queued',
      reason: null,
      sent_at: null,
      created: now,
      updated: now,
    }
    const due = dueAt(row)
    const times = await readSendingTimes(db, caller.space, pass_id, due - DAY_MS, due)
    if (times.length >= MAX_IN_A_DAY) {
      throw rateLimited(
        `A pass can have ${MAX_IN_A_DAY} messages in 24 hours, and this pass has ${times.length}. Send the message later.`,
        times.at(-MAX_IN_A_DAY)! + DAY_MS - due,
      )
    }
    await insertPassMessage(db, caller.space, row)
    return { status: 201, body: showPassMessage(row) }
  },

  listPassMessages: (context, { query }) => answerList(context, query, listPassMessages, showPassMessage),

  async getPassMessage({ caller, db }, { path }) {
    const row = await readPassMessage(db, caller.space, path.pass_message_id)
    if (!row) throw notFound()
    return { status: 200, body: showPassMessage(row) }
  },
} satisfies PassMessagesHandlers<Context>
