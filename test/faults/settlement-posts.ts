import type { Send } from '../support/service.ts'
import type { Post } from './post.ts'

async function ask(send: Send, path: string, body: object) {
  const answer = await send(path, { body })
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
  return answer.body
}

/** A settlement that is open, with a line or more; the one of the day before is settled. */
async function makeSettlement(send: Send, post: (send: Send) => Promise<string>): Promise<string> {
  await post(send)
  const [{ id }] = (await send('/v1/settlements?status=open')).body.data
  return id
}

const moveTo = (send: Send, settlement_id: string, to: string) =>
  ask(send, '/v1/test/settlements/advance_clock', { settlement_id, to })

// The row, and what the ledger has booked for it.
const SETTLEMENT = (status: string) => `SELECT count(*) AS count FROM sandbox.settlements s
  WHERE s.tenant_id = $1 AND s.id = $2 AND s.status = '${status}'
    AND s.net_amount = (SELECT sum(l.amount) FROM sandbox.settlement_lines l WHERE l.tenant_id = $1 AND l.settlement_id = s.id)
    AND CASE WHEN s.status = 'settled' THEN s.net_amount ELSE 0 END =
        (SELECT coalesce(sum(e.amount), 0) FROM sandbox.ledger_entries e
          WHERE e.tenant_id = $1 AND e.cause LIKE s.id || '/%' AND e.account_id = 'settlement_payable')`

/** Everything that changes a settlement by a POST. @param post collects something. */
export const settlementPosts = (post: (send: Send) => Promise<string>): readonly Post[] => [
  {
    operation: 'advanceSettlementClock',
    status: 200,
    audit: ['settlement_clock.advanced'],
    events: ['settlement.pending', 'settlement.processing', 'settlement.settled'],
    environment: 'sandbox',
    prepare: async (send) => {
      const id = await makeSettlement(send, post)
      return { path: '/v1/test/settlements/advance_clock', body: { settlement_id: id, to: 'settled' }, id }
    },
    effect: SETTLEMENT('settled'),
    once: 1,
  },
  {
    operation: 'simulateSettlementFailure',
    status: 200,
    audit: ['settlement_failure.simulated'],
    events: ['settlement.failed'],
    environment: 'sandbox',
    prepare: async (send) => {
      const id = await makeSettlement(send, post)
      await moveTo(send, id, 'processing')
      return { path: '/v1/test/settlements/simulate_failure', body: { settlement_id: id }, id }
    },
    effect: SETTLEMENT('failed'),
    once: 1,
  },
]
