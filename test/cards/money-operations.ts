/** Operations of the money model: drawn at random, and as requests of an account. */
import fc from 'fast-check'
import { LIMITS, type Operation } from './money-model.ts'
import { pickOf } from './treasury-model.ts'

/** A tenant with a card for each limit, and what was made of it. */
export interface Made {
  readonly cards: readonly string[]
  readonly transactions: string[]
  readonly disputes: string[]
  readonly settlements: readonly string[]
  readonly destinations: string[]
  readonly payouts: readonly string[]
}

/** The last have shares of half a cent. */
const amount = fc.oneof(
  fc.integer({ min: 1, max: 200 }),
  fc.integer({ min: 1, max: 3000 }),
  fc.constantFrom(300, 500, 700, 2500),
)
/** Now and then of nothing: whether the card is good. */
const asked = fc.oneof({ weight: 6, arbitrary: amount }, { weight: 1, arbitrary: fc.constant(0) })
const pick = fc.nat({ max: 1000 })
const card = fc.nat({ max: LIMITS.length - 1 })
const one = <const Kind extends string>(...kinds: Kind[]) => fc.constantFrom(...kinds)
const reply = one('approve', 'approve', 'approve', 'approve', 'half', 'half', 'decline', 'garbage', 'late')
const status = one('open', 'pending', 'processing', 'settled', 'settled', 'failed')
const DAY = 86_400
const seconds = fc.constantFrom(1, 3600, DAY / 2, DAY, DAY + 7200, 3 * DAY, 8 * DAY)

/** How often each is drawn, beside the others. */
const DRAWN: readonly (readonly [number, fc.Arbitrary<Operation>])[] = [
  [3, fc.record({ kind: one('fund'), amount })],
  [7, fc.record({ kind: one('authorize'), card, amount: asked, reply })],
  [2, fc.record({ kind: one('force_post'), card, amount })],
  [4, fc.record({ kind: one('increment', 'reversal'), pick, amount })],
  [5, fc.record({ kind: one('clearing'), pick, amount, final: fc.boolean() })],
  [3, fc.record({ kind: one('refund', 'dispute'), pick, amount })],
  [3, fc.record({ kind: one('reversal', 'expiry', 'release'), pick })],
  [5, fc.record({ kind: one('submit', 'withdraw', 'under_review', 'won', 'lost'), pick })],
  [3, fc.record({ kind: one('next') })],
  [2, fc.record({ kind: one('seconds'), seconds })],
  [1, fc.record({ kind: one('step', 'fail_settlement'), pick })],
  [2, fc.record({ kind: one('to'), pick, to: status })],
  [
    2,
    fc
      .tuple(fc.nat({ max: 9 }), fc.constantFrom(undefined, undefined, true, false))
      .map(([listed, given]) => ({
        kind: 'destination' as const,
        isListed: listed === 0,
        ...(given !== undefined && { default: given }),
      })),
  ],
  [1, fc.record({ kind: one('disable', 'make_default', 'make_default'), pick })],
  [2, fc.record({ kind: one('payout'), pick, amount: fc.integer({ min: 1, max: 40 }) })],
  [2, fc.record({ kind: one('cancel_payout', 'fail_payout', 'return_payout'), pick })],
  [
    3,
    fc.record({ kind: one('chain'), pick, state: one('in_transit', 'confirmed', 'paid', 'paid', 'reorged') }),
  ],
]

/** So that there is something of each kind. */
const FIRST: readonly Operation[] = [
  { kind: 'fund', amount: 4000 },
  { kind: 'destination', isListed: false },
  { kind: 'authorize', card: 0, amount: 2600, reply: 'approve' },
  { kind: 'clearing', pick: 0, amount: 2500, final: false },
  { kind: 'dispute', pick: 0, amount: 1200 },
  { kind: 'submit', pick: 0 },
]

/** Settles it, and ends the hold of the destination. */
const TWO_DAYS: Operation = { kind: 'seconds', seconds: 2 * DAY }

/** @param length how many operations. */
export const operations = (length: number): fc.Arbitrary<Operation[]> =>
  fc
    .tuple(fc.boolean(), drawn(length - FIRST.length))
    .map(([isSettled, others]) => [...FIRST, ...(isSettled ? [TWO_DAYS] : []), ...others])

const drawn = (length: number): fc.Arbitrary<Operation[]> =>
  fc.array(fc.oneof(...DRAWN.map(([weight, arbitrary]) => ({ weight, arbitrary }))), {
    ...{ minLength: length, maxLength: length },
    size: 'max',
  })

interface Request {
  readonly path: string
  readonly body: object
  readonly method?: 'PATCH'
}

/** The words of a tenant's endpoint travel with the name of the merchant. */
export const MERCHANT = { name: 'approve', category_code: '5812' }

const ADDRESS = 'eip155:31337:0x52908400098527886E0F7030069857D2E4169EE7'

const advance = (body: object): Request => ({ path: '/v1/test/settlements/advance_clock', body })

/** An operation as a request; undefined where there is nothing to do it to, or nobody to ask. */
export function requestOf(made: Made, operation: Operation): Request | undefined {
  const about = (all: readonly string[], request: (id: string) => Request): Request | undefined => {
    const id = 'pick' in operation ? pickOf(all, operation.pick) : undefined
    return id === undefined ? undefined : request(id)
  }
  const { transactions, disputes, settlements, destinations, payouts } = made
  switch (operation.kind) {
    case 'fund':
      return { path: '/v1/test/funding', body: { amount: operation.amount } }
    case 'authorize':
    case 'force_post': {
      const name = operation.kind === 'authorize' ? 'authorization' : 'force_post'
      const merchant = { ...MERCHANT, ...('reply' in operation && { name: operation.reply }) }
      const body = { card_id: made.cards[operation.card]!, amount: operation.amount, merchant }
      return { path: `/v1/test/cards/simulate_${name}`, body }
    }
    case 'submit':
    case 'withdraw':
      return about(disputes, (id) => ({ path: `/v1/disputes/${id}/${operation.kind}`, body: {} }))
    case 'under_review':
    case 'won':
    case 'lost':
      return about(disputes, (dispute_id) => ({
        path: '/v1/test/disputes/simulate_outcome',
        body: { dispute_id, outcome: operation.kind },
      }))
    case 'next':
      return advance({})
    case 'seconds':
      return advance({ seconds: operation.seconds })
    case 'step':
      return about(settlements, (settlement_id) => advance({ settlement_id }))
    case 'to':
      return about(settlements, (settlement_id) => advance({ settlement_id, to: operation.to }))
    case 'fail_settlement':
      return about(settlements, (settlement_id) => ({
        path: '/v1/test/settlements/simulate_failure',
        body: { settlement_id },
      }))
    case 'destination': {
      const { kind: _, isListed, ...given } = operation
      const holder_name = isListed ? 'Dmitri Sergeyevich Volkov' : 'Harbour Coffee LLC'
      const body = { type: 'usdc_address', address: ADDRESS, holder_name, ...given }
      return { path: '/v1/payout_destinations', body }
    }
    case 'disable':
      return about(destinations, (id) => ({ path: `/v1/payout_destinations/${id}/disable`, body: {} }))
    case 'make_default':
      return about(destinations, (id) => ({
        ...{ path: `/v1/payout_destinations/${id}`, method: 'PATCH', body: { default: true } },
      }))
    case 'payout':
      return about(destinations, (destination_id) => ({
        path: '/v1/payouts',
        body: { amount: operation.amount, currency: 'usdc', destination_id },
      }))
    case 'cancel_payout':
      return about(payouts, (id) => ({ path: `/v1/payouts/${id}/cancel`, body: {} }))
    case 'fail_payout':
    case 'return_payout': {
      const name = operation.kind === 'fail_payout' ? 'failure' : 'return'
      return about(payouts, (payout_id) => ({
        path: `/v1/test/payouts/simulate_${name}`,
        body: { payout_id },
      }))
    }
    case 'chain':
      return undefined
    case 'release':
      return about(transactions, (id) => ({ path: `/v1/card_transactions/${id}/release`, body: {} }))
    case 'dispute':
      return about(transactions, (card_transaction_id) => ({
        path: '/v1/disputes',
        body: { card_transaction_id, reason: 'other', amount: operation.amount },
      }))
    default: {
      const { kind, pick: _, ...more } = operation
      return about(transactions, (card_transaction_id) => ({
        path: `/v1/test/cards/simulate_${kind}`,
        body: { card_transaction_id, ...more },
      }))
    }
  }
}
