import type { Send } from '../support/service.ts'
import type { Post } from './post.ts'

const MERCHANT = { name: 'Harbor Diner', category_code: '5812' }

async function ask(send: Send, path: string, body: object): Promise<string> {
  const answer = await send(path, { body })
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
  return answer.body.id
}

async function makeCard(send: Send): Promise<string> {
  const cardholder_id = await ask(send, '/v1/cardholders', { name: 'Ada Moreau' })
  await ask(send, '/v1/test/funding', { amount: 10_000 })
  return ask(send, '/v1/cards', { cardholder_id, type: 'virtual' })
}

const makeHold = async (send: Send) =>
  ask(send, '/v1/test/cards/simulate_authorization', {
    card_id: await makeCard(send),
    amount: 1000,
    merchant: MERCHANT,
  })

export const makeCleared = async (send: Send): Promise<string> =>
  ask(send, '/v1/test/cards/simulate_force_post', {
    card_id: await makeCard(send),
    amount: 1000,
    merchant: MERCHANT,
  })

const makeDispute = async (send: Send): Promise<string> =>
  ask(send, '/v1/disputes', { card_transaction_id: await makeCleared(send), reason: 'other' })

async function makeSubmitted(send: Send): Promise<string> {
  return ask(send, `/v1/disputes/${await makeDispute(send)}/submit`, {})
}

// The row, what its transaction has of it, and what the ledger credits.
const DISPUTE = (where: string) => `SELECT count(*) AS count FROM sandbox.disputes d
   JOIN sandbox.card_transactions t ON t.tenant_id = d.tenant_id AND t.id = d.card_transaction_id
  WHERE d.tenant_id = $1 AND ${where}
    AND t.disputed = CASE WHEN d.status IN ('lost', 'withdrawn', 'expired') THEN 0 ELSE d.amount END
    AND d.provisional_credit = (SELECT coalesce(sum(e.amount), 0) FROM sandbox.ledger_entries e
                                 WHERE e.tenant_id = $1 AND e.cause LIKE d.id || '/%' AND e.account_id = 'provisional_credit')`

/** What is done to a dispute. */
const disputing = (
  operation: string,
  status: string,
  audit: string,
  events: readonly string[],
  from: (send: Send) => Promise<string>,
  request: (id: string) => { readonly path: string; readonly body?: object },
): Post => ({
  operation,
  status: 200,
  audit: [audit],
  events: events.map((event) => `dispute.${event}`),
  environment: 'sandbox',
  prepare: async (send) => {
    const id = await from(send)
    return { ...request(id), id }
  },
  effect: DISPUTE(`d.id = $2 AND d.status = '${status}'`),
  once: 1,
})

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

// The row, what the ledger holds for it, what it has moved there, and what its card has spent.
const TRANSACTION = (where: string) => `SELECT count(*) AS count FROM sandbox.card_transactions t
   WHERE t.tenant_id = $1 AND ${where}
     AND t.held = (SELECT coalesce(sum(h.amount), 0) FROM sandbox.ledger_holds h
                    WHERE h.tenant_id = $1 AND h.id LIKE t.id || '/%' AND NOT EXISTS (
                      SELECT FROM sandbox.ledger_resolutions r WHERE r.tenant_id = $1 AND r.hold_id = h.id))
     AND t.refunded - t.cleared = (SELECT coalesce(sum(e.amount), 0) FROM sandbox.ledger_entries e
                                    WHERE e.tenant_id = $1 AND e.cause LIKE t.id || '/%' AND e.account_id = 'program_funds')
     AND t.held + t.cleared = (SELECT coalesce(sum(s.amount), 0) FROM sandbox.card_spending s
                                WHERE s.tenant_id = $1 AND s.card_id = t.card_id AND s.granularity = 'day')`

/** A simulator that makes a transaction of a card. */
const making = (name: string, body: object, audit: string, event: string, where: string): Post => ({
  operation: `simulate${name}`,
  status: 201,
  audit: [audit],
  events: [`card.transaction.${event}`],
  environment: 'sandbox',
  prepare: async (send) => {
    if (event === 'cleared') await makeCleared(send) // the day's first opens its settlement, and tells of it
    const id = await makeCard(send)
    const path = `/v1/test/cards/simulate_${name.replace(/(?<=.)[A-Z]/g, '_$&').toLowerCase()}`
    return { path, body: { card_id: id, amount: 1000, ...body }, id }
  },
  effect: TRANSACTION(`t.card_id = $2 AND ${where}`),
  once: 1,
})

/** A simulator that changes one. */
const changing = (
  name: string,
  body: object,
  event: string,
  where: string,
  from: (send: Send) => Promise<string> = makeHold,
): Post => ({
  operation: `simulate${name}`,
  status: 200,
  audit: [`${name.toLowerCase()}.simulated`],
  events: [`card.transaction.${event}`],
  environment: 'sandbox',
  prepare: async (send) => {
    if (event === 'cleared') await makeCleared(send)
    const id = await from(send)
    return {
      path: `/v1/test/cards/simulate_${name.toLowerCase()}`,
      body: { card_transaction_id: id, ...body },
      id,
    }
  },
  effect: TRANSACTION(`t.id = $2 AND ${where}`),
  once: 1,
})

/** Every POST that moves money. */
export const MONEY_POSTS: readonly Post[] = [
  {
    operation: 'simulateFunding',
    status: 200,
    audit: ['funding.simulated'],
    events: [],
    prepare: async () => {
      // What nobody else funds tells it apart.
      const id = String(1_000_000 + Math.floor(Math.random() * 1_000_000_000))
      return { path: '/v1/test/funding', body: { amount: Number(id) }, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.ledger_entries
              WHERE tenant_id = $1 AND amount = $2::bigint AND account_id = 'program_funds'`,
    once: 1,
  },
  making('Authorization', { merchant: MERCHANT }, 'authorization.simulated', 'authorized', 't.held = 1000'),
  {
    ...making(
      'Authorization',
      { merchant: MERCHANT, amount: 10_000_000_000 },
      'authorization.simulated',
      'declined',
      `t.status = 'declined'`,
    ),
    about: 'declined',
  },
  making('Decline', { reason: 'suspected_fraud' }, 'decline.simulated', 'declined', `t.status = 'declined'`),
  making('ForcePost', { merchant: MERCHANT }, 'force_post.simulated', 'cleared', 't.cleared = 1000'),
  changing('Increment', { amount: 500 }, 'updated', 't.held = 1500'),
  changing('Reversal', { amount: 400 }, 'reversed', 't.held = 600'),
  changing('Expiry', {}, 'expired', `t.status = 'expired'`),
  changing('Clearing', { amount: 400 }, 'cleared', 't.held = 600 AND t.cleared = 400'),
  changing('Refund', { amount: 400 }, 'refunded', 't.refunded = 400', makeCleared),
  {
    operation: 'releaseCardTransaction',
    status: 200,
    audit: ['card_transaction.released'],
    events: ['card.transaction.reversed'],
    environment: 'sandbox',
    prepare: async (send) => {
      const id = await makeHold(send)
      return { path: `/v1/card_transactions/${id}/release`, id }
    },
    effect: TRANSACTION(`t.id = $2 AND t.status = 'reversed'`),
    once: 1,
  },
  {
    operation: 'createDispute',
    status: 201,
    audit: ['dispute.created'],
    events: ['dispute.created'],
    environment: 'sandbox',
    prepare: async (send) => {
      const id = await makeCleared(send)
      const files = [{ name: 'a.png', content_type: 'image/png', content: PNG }]
      return {
        path: '/v1/disputes',
        body: { card_transaction_id: id, reason: 'other', evidence: { files } },
        id,
      }
    },
    effect: `${DISPUTE('t.id = $2')} AND EXISTS (
      SELECT FROM sandbox.dispute_files f WHERE f.tenant_id = $1 AND f.dispute_id = d.id AND f.position = 0)`,
    once: 1,
  },
  disputing(
    'submitDispute',
    'submitted',
    'dispute.submitted',
    ['submitted', 'funds_reinstated'],
    makeDispute,
    (id) => ({
      path: `/v1/disputes/${id}/submit`,
    }),
  ),
  disputing(
    'withdrawDispute',
    'withdrawn',
    'dispute.withdrawn',
    ['closed', 'funds_rescinded'],
    makeSubmitted,
    (id) => ({
      path: `/v1/disputes/${id}/withdraw`,
    }),
  ),
  disputing(
    'simulateDisputeOutcome',
    'lost',
    'dispute_outcome.simulated',
    ['closed', 'funds_rescinded'],
    makeSubmitted,
    (id) => ({
      path: '/v1/test/disputes/simulate_outcome',
      body: { dispute_id: id, outcome: 'lost' },
    }),
  ),
]
