/** POSTs about drafts of spending controls. */
import { administer } from '../support/server.ts'
import type { Send } from '../support/service.ts'
import type { Post } from './post.ts'

async function makeDraft(send: Send): Promise<string> {
  const body = { name: crypto.randomUUID(), spending_controls: { max_authorization_count: 1 } }
  return (await send('/v1/spending_control_drafts', { body })).body.id
}

const STATUS = `SELECT count(*) AS count FROM sandbox.spending_control_drafts WHERE tenant_id = $1 AND id = $2`

const endPending = (tenantId: string) =>
  `UPDATE sandbox.spending_control_backtests SET status = 'failed' WHERE tenant_id = '${tenantId}' AND status = 'pending'`

export const CONTROL_POSTS: readonly Post[] = [
  {
    operation: 'createSpendingControlDraft',
    status: 201,
    audit: ['spending_control_draft.created'],
    events: [],
    prepare: async () => {
      const id = crypto.randomUUID()
      return { path: '/v1/spending_control_drafts', body: { name: id, spending_controls: {} }, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.spending_control_drafts d
               JOIN sandbox.spending_control_versions v ON v.tenant_id = d.tenant_id AND v.draft_id = d.id
              WHERE d.tenant_id = $1 AND d.name = $2`,
    once: 1,
  },
  {
    operation: 'archiveSpendingControlDraft',
    status: 200,
    audit: ['spending_control_draft.archived'],
    events: [],
    prepare: async (send) => {
      const id = await makeDraft(send)
      return { path: `/v1/spending_control_drafts/${id}/archive`, body: {}, id }
    },
    effect: `${STATUS} AND status = 'archived'`,
    once: 1,
  },
  {
    operation: 'createSpendingControlBacktest',
    status: 201,
    audit: ['spending_control_backtest.created'],
    events: [],
    prepare: async (send, { database, tenantId }) => {
      // No worker ends the backtests of earlier rounds, and at the limit of pending ones the next is refused.
      await administer(database.url, endPending(tenantId))
      const id = await makeDraft(send)
      const body = { interval_start: '2026-01-01T00:00:00Z', interval_end: '2026-02-01T00:00:00Z' }
      return { path: `/v1/spending_control_drafts/${id}/backtests`, body, id }
    },
    effect:
      'SELECT count(*) AS count FROM sandbox.spending_control_backtests WHERE tenant_id = $1 AND spending_control_draft_id = $2',
    once: 1,
  },
]
