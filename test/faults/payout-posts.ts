import { randomInt } from 'node:crypto'
import { USDC_CHAINS } from '../../runtime/money/chain/usdc-chains.ts'
import { changePayout } from '../../runtime/money/payouts/changes.ts'
import { follow } from '../../runtime/money/payouts/states.ts'
import { makePayable } from '../support/payable.ts'
import type { Send } from '../support/service.ts'
import type { Post } from './post.ts'

type Owner = Parameters<Post['prepare']>[1]

const DESTINATION = {
  type: 'usdc_address',
  address: `${USDC_CHAINS.sandbox.id}:0x52908400098527886E0F7030069857D2E4169EE7`,
  holder_name: 'Harbour Coffee LLC',
}

async function ask(send: Send, path: string, body: object): Promise<string> {
  const answer = await send(path, { body })
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
  return answer.body.id
}

const makeDestination = (send: Send) => ask(send, '/v1/payout_destinations', DESTINATION)

async function makeActive(send: Send, { database, space }: Owner): Promise<string> {
  const id = await makeDestination(send)
  await makePayable(database, 'sandbox', space, id, 1000)
  return id
}

const order = (destination_id: string) => ({ amount: 1000, currency: 'usdc', destination_id })

const makePayout = async (send: Send, owner: Owner) =>
  ask(send, '/v1/payouts', order(await makeActive(send, owner)))

/** A transaction that nobody has sent. */
const SENT = { chain: USDC_CHAINS.sandbox.id, hash: `0x${'9f'.repeat(32)}`, confirmations: 1 }

async function makePaid(send: Send, owner: Owner): Promise<string> {
  const id = await makePayout(send, owner)
  const { database, space } = owner
  await database.sandbox.transaction((db) =>
    changePayout(
      { db, space, events: { emit: () => undefined } },
      id,
      (row) => follow(row, { state: 'paid', ...SENT }, row.updated)!,
    ),
  )
  return id
}

// The row, and what the ledger has drawn for it: nothing where it came back.
const PAYOUT = (
  where: string,
) => `SELECT count(*) AS count FROM sandbox.payouts p WHERE p.tenant_id = $1 AND ${where}
   AND p.postings = (SELECT count(*) FROM sandbox.ledger_transactions t WHERE t.tenant_id = $1 AND t.cause LIKE p.id || '/%')
   AND CASE WHEN p.status IN ('failed', 'canceled', 'returned') THEN 0 ELSE -p.amount END =
       (SELECT sum(e.amount) FROM sandbox.ledger_entries e
         WHERE e.tenant_id = $1 AND e.cause LIKE p.id || '/%' AND e.account_id = 'settlement_payable')`

const DEFAULT = `SELECT count(*) AS count FROM sandbox.payout_destinations d
   LEFT JOIN sandbox.payout_defaults f ON f.tenant_id = d.tenant_id AND f.destination_id = d.id WHERE d.tenant_id = $1`

/** What is done to a payout. */
const changing = (
  operation: string,
  status: string,
  audit: string,
  from: (send: Send, owner: Owner) => Promise<string>,
  request: (id: string) => { readonly path: string; readonly body?: object },
): Post => ({
  operation,
  status: 200,
  audit: [audit],
  events: [`payout.${status}`],
  environment: 'sandbox',
  prepare: async (send, owner) => {
    const id = await from(send, owner)
    return { ...request(id), id }
  },
  effect: PAYOUT(`p.id = $2 AND p.status = '${status}'`),
  once: 1,
})

/** Every POST of destinations and payouts. */
export const PAYOUT_POSTS: readonly Post[] = [
  {
    operation: 'createPayoutDestination',
    status: 201,
    audit: ['payout_destination.created'],
    events: ['payout_destination.created'],
    environment: 'sandbox',
    prepare: async () => {
      const id = crypto.randomUUID()
      return {
        path: '/v1/payout_destinations',
        body: { ...DESTINATION, holder_name: id, default: true },
        id,
      }
    },
    effect: `${DEFAULT} AND d.holder_name = $2 AND f.destination_id = d.id`,
    once: 1,
  },
  {
    operation: 'disablePayoutDestination',
    status: 200,
    audit: ['payout_destination.disabled'],
    events: ['payout_destination.disabled'],
    environment: 'sandbox',
    prepare: async (send) => {
      const id = await makeDestination(send)
      return { path: `/v1/payout_destinations/${id}/disable`, id }
    },
    effect: `${DEFAULT} AND d.id = $2 AND d.status = 'disabled' AND f.destination_id IS NULL`,
    once: 1,
  },
  {
    operation: 'createPayout',
    status: 201,
    audit: ['payout.created'],
    events: ['payout.created'],
    environment: 'sandbox',
    prepare: async (send, owner) => {
      const id = await makeActive(send, owner)
      return { path: '/v1/payouts', body: order(id), id }
    },
    effect: PAYOUT('p.destination_id = $2'),
    once: 1,
  },
  changing('cancelPayout', 'canceled', 'payout.canceled', makePayout, (id) => ({
    path: `/v1/payouts/${id}/cancel`,
  })),
  changing('simulatePayoutFailure', 'failed', 'payout_failure.simulated', makePayout, (payout_id) => ({
    path: '/v1/test/payouts/simulate_failure',
    body: { payout_id },
  })),
  changing('simulatePayoutReturn', 'returned', 'payout_return.simulated', makePaid, (payout_id) => ({
    path: '/v1/test/payouts/simulate_return',
    body: { payout_id },
  })),
  {
    operation: 'createTreasuryReport',
    status: 201,
    audit: ['treasury_report.created'],
    events: [],
    environment: 'sandbox',
    prepare: async () => {
      // Each report is told by when its interval begins.
      const id = new Date(Date.UTC(2026, 0, 1) + randomInt(86_400_000)).toISOString()
      const interval = { interval_start: id, interval_end: '2026-02-01T00:00:00Z' }
      return { path: '/v1/treasury_reports', body: { type: 'balance_summary', ...interval }, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.treasury_reports r WHERE r.tenant_id = $1 AND r.interval_start = $2::timestamptz`,
    once: 1,
  },
]
