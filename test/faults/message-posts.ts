/** POSTs that send messages to holders. */
import { administer } from '../support/server.ts'
import type { Send } from '../support/service.ts'
import type { Post } from './post.ts'

const TEXT = { header: 'Doors open earlier', body: 'Doors open at 18:30 today.' }

const BATCH = 'SELECT count(*) AS count FROM sandbox.pass_message_batches WHERE tenant_id = $1 AND '

// No worker completes the batches of earlier rounds, and at the limit of open ones the next is refused.
const endOpen = (tenantId: string) =>
  `UPDATE sandbox.pass_message_batches SET status = 'completed' WHERE tenant_id = '${tenantId}' AND status <> 'canceled'`

/** @param makePass creates a pass, and returns its ID. */
export function messagePosts(makePass: (send: Send) => Promise<string>): readonly Post[] {
  return [
    {
      operation: 'createPassMessage',
      status: 201,
      audit: ['pass_message.created'],
      events: [],
      prepare: async (send) => {
        const id = await makePass(send)
        return { path: `/v1/passes/${id}/messages`, body: TEXT, id }
      },
      effect: 'SELECT count(*) AS count FROM sandbox.pass_messages WHERE tenant_id = $1 AND pass_id = $2',
      once: 1,
    },
    {
      operation: 'createPassMessageBatch',
      status: 201,
      audit: ['pass_message_batch.created'],
      events: [],
      prepare: async (send, { database, tenantId }) => {
        await administer(database.url, endOpen(tenantId))
        const id = await makePass(send)
        return { path: '/v1/pass_message_batches', body: { ...TEXT, header: id, filter: {} }, id }
      },
      effect: `${BATCH} header = $2`,
      once: 1,
    },
    {
      operation: 'cancelPassMessageBatch',
      status: 200,
      audit: ['pass_message_batch.canceled'],
      events: [],
      prepare: async (send, { database, tenantId }) => {
        await administer(database.url, endOpen(tenantId))
        const { body } = await send('/v1/pass_message_batches', { body: { ...TEXT, filter: {} } })
        return { path: `/v1/pass_message_batches/${body.id}/cancel`, body: {}, id: body.id }
      },
      effect: `${BATCH} id = $2 AND status = 'canceled'`,
      once: 1,
    },
  ]
}
