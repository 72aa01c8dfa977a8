/** What a merchant expects of its cards and of the money in the sandbox. */
import { mustEqual } from '../checks/must.ts'
import type { Answer } from '../client.ts'
import type { KnownTransaction, Merchant } from '../merchant.ts'
import { type Actions, type Drawn, must, one, walk } from './action.ts'

interface ShownTransaction {
  readonly id: string
  readonly object: string
  readonly status: string
  readonly amounts: Omit<KnownTransaction, 'status'>
}

const amountsOf = ({ status: _, ...amounts }: KnownTransaction) => amounts

/** What a step does to a transaction: what becomes of it, or the status of the refusal. */
type Step = (before: KnownTransaction) => Partial<KnownTransaction> | number

const releasedAs =
  (ended: string): Step =>
  ({ status, held, reversed }) =>
    status === 'authorized' ? { status: ended, held: 0, reversed: reversed + held } : 409

const STEPS = {
  clearing: ({ status, held, cleared }: KnownTransaction) => {
    if (status === 'declined') return 409
    return held === 0 ? 422 : { status: 'cleared', held: 0, cleared: cleared + held }
  },
  reversal: releasedAs('reversed'),
  expiry: releasedAs('expired'),
} satisfies Record<string, Step>

const refundOf =
  (amount: number): Step =>
  ({ cleared, refunded }) =>
    amount > cleared - refunded ? 409 : { refunded: refunded + amount }

const EVENTS: Readonly<Record<string, string>> = {
  clearing: 'card.transaction.cleared',
  refund: 'card.transaction.refunded',
  reversal: 'card.transaction.reversed',
  expiry: 'card.transaction.expired',
}

/** Notes an answer about a new authorization, and checks it if the merchant does one thing after the other. */
function authorized(merchant: Merchant, answer: Answer, amount: number): void {
  const body = answer.body as ShownTransaction
  const isCovered = amount <= availableOf(merchant)
  const wanted = isCovered ? amount : 0
  const known = {
    status: isCovered ? 'authorized' : 'declined',
    ...{ requested: amount, authorized: wanted, held: wanted, cleared: 0, refunded: 0, reversed: 0 },
  }
  merchant.transactions.push(body.id)
  merchant.cards.set(body.id, known)
  if (!merchant.isExact) return
  mustEqual(body.status, known.status, `the status of an authorization of ${amount}`)
  mustEqual(body.amounts, amountsOf(known), `the amounts of an authorization of ${amount}`)
  merchant.changes.push({ environment: 'sandbox', type: `card.transaction.${known.status}`, body })
}

/** Notes and checks the answer to a step of a transaction. */
function stepped(
  merchant: Merchant,
  answer: Answer,
  { id, kind, step }: { readonly id: string; readonly kind: string; readonly step: Step },
): void {
  if (!merchant.isExact) return
  const before = merchant.cards.get(id)!
  const after = step(before)
  const what = `a ${kind} of a transaction that is ${before.status}`
  if (typeof after === 'number') return mustEqual(answer.status, after, `the answer to ${what}`)
  mustEqual(answer.status, 200, `the answer to ${what}`)
  const known = { ...before, ...after }
  const body = answer.body as ShownTransaction
  merchant.cards.set(id, known)
  mustEqual(body.amounts, amountsOf(known), `the amounts after ${what}`)
  mustEqual(body.status, known.status, `the status after ${what}`)
  merchant.changes.push({ environment: 'sandbox', type: EVENTS[kind]!, body })
}

/** What can be spent, as far as the merchant knows. */
function availableOf({ funded, cards, shortfall }: Merchant): number {
  return [...cards.values()].reduce(
    (left, { held, cleared, refunded }) => left - held - cleared + refunded,
    funded + shortfall,
  )
}

/** Checks the balance of the sandbox. A settlement can take its shortfall between the two requests, so it looks twice. */
async function balanceIsKnown(merchant: Merchant): Promise<void> {
  if (!merchant.isExact) return
  const held = [...merchant.cards.values()].reduce((sum, each) => sum + each.held, 0)
  for (let left = 1; ; left -= 1) {
    const { body } = await merchant.sandbox.send('GET', '/v1/balance')
    const found = { available: body.available, held: body.held }
    const wanted = { available: availableOf(merchant), held }
    if (left === 0) return mustEqual(found, wanted, `the balance of ${merchant.name} in the sandbox`)
    if (JSON.stringify(found) === JSON.stringify(wanted)) return
    await readSettlements(merchant)
  }
}

/** Cards hold an amount for seven days. The clock moves less than that, so that no hold expires. */
export const MOST_SECONDS = 5 * 86_400

/** What other moves of the clock, which go to the time of a settlement, leave uncertain. */
const MINUTE_MS = 60_000

/** Moves the clock of settlements, which become payable. */
async function moveClock(merchant: Merchant, given: number): Promise<void> {
  const seconds = Math.min(given, Math.floor(MOST_SECONDS - merchant.aheadSeconds))
  if (seconds <= 0) return
  const [began, ahead] = [Date.now(), merchant.aheadSeconds]
  const { status, body } = await merchant.sandbox.post('/v1/test/settlements/advance_clock', { seconds })
  mustEqual(status, 200, 'the answer to an advance of the clock')
  const known = (Date.parse(body.now) - Date.now()) / 1000 // less, if the answer was repeated later
  merchant.aheadSeconds = merchant.isExact ? ahead + seconds : Math.max(merchant.aheadSeconds, known)
  // Merchants who do several things at once may have moved it meanwhile.
  const answered = Date.parse(body.now) - (ahead + seconds) * 1000
  if (answered < began - MINUTE_MS || (merchant.isExact && answered > Date.now() + MINUTE_MS))
    mustEqual(new Date(answered).toISOString(), new Date(began).toISOString(), 'when the clock was moved')
  merchant.advances.push({ began, ended: Date.now(), time: Date.parse(body.now) })
  await readSettlements(merchant)
}

/** Reads what settlements took from what can be spent. */
export async function readSettlements(merchant: Merchant): Promise<void> {
  const all = await walk(merchant.sandbox, '/v1/settlements?status=settled')
  const nets = all.map(({ net_amount }) => net_amount as number)
  merchant.shortfall = nets.reduce((sum, net) => sum + Math.min(0, net), 0)
}

const simulate = ({ sandbox }: Merchant, what: string, content: object) =>
  sandbox.post(`/v1/test/cards/simulate_${what}`, content)

const SELLER = { name: 'Harbor Diner', category_code: '5812' }

async function authorize(merchant: Merchant, { amount, pick }: Drawn): Promise<void> {
  const asked = pick % 7 === 0 ? amount * 1000 : amount
  const order = { card_id: merchant.known.card, amount: asked, merchant: SELLER }
  const made = await simulate(merchant, 'authorization', order)
  must(made, 201, 'an authorization')
  authorized(merchant, made, asked)
  await balanceIsKnown(merchant)
}

/** Uses a card for an odd amount, which is cleared, and gives a part of it back: their shares of interchange have to be rounded. */
async function buy(merchant: Merchant, { amount, pick }: Drawn): Promise<void> {
  const asked = amount + (pick % 97)
  const made = await simulate(merchant, 'authorization', {
    card_id: merchant.known.card,
    amount: asked,
    merchant: SELLER,
  })
  const { id } = must(made, 201, 'an authorization')
  authorized(merchant, made, asked)
  const cleared = await simulate(merchant, 'clearing', { card_transaction_id: id })
  stepped(merchant, cleared, { id, kind: 'clearing', step: STEPS.clearing })
  const back = 1 + (pick % asked)
  const refunded = await simulate(merchant, 'refund', { card_transaction_id: id, amount: back })
  stepped(merchant, refunded, { id, kind: 'refund', step: refundOf(back) })
  await balanceIsKnown(merchant)
}

/** Returns an action that does a step of one transaction. */
const stepOf =
  (kind: string, stepFor: (drawn: Drawn) => Step, contentFor: (drawn: Drawn) => object = () => ({})) =>
  async (merchant: Merchant, drawn: Drawn): Promise<void> => {
    const id = one(merchant.transactions, drawn.pick)
    if (!id) return
    const answer = await simulate(merchant, kind, { card_transaction_id: id, ...contentFor(drawn) })
    stepped(merchant, answer, { id, kind, step: stepFor(drawn) })
    await balanceIsKnown(merchant)
  }

export const CARD_ACTIONS: Actions = {
  authorize: { times: 2, act: authorize },
  buy: { times: 4, isCalm: true, act: buy },
  clear: { times: 2, act: stepOf('clearing', () => STEPS.clearing) },
  refund: {
    times: 1,
    act: stepOf(
      'refund',
      ({ amount }) => refundOf(amount),
      ({ amount }) => ({ amount }),
    ),
  },
  reverse: { times: 1, act: stepOf('reversal', () => STEPS.reversal) },
  expire: { times: 1, act: stepOf('expiry', () => STEPS.expiry) },
  fund: {
    times: 1,
    async act(merchant, { amount }) {
      must(await merchant.sandbox.post('/v1/test/funding', { amount }), 200, 'funding')
      merchant.funded += amount
      await balanceIsKnown(merchant)
    },
  },
  clock: {
    times: 1,
    async act(merchant, { amount }) {
      await moveClock(merchant, amount * 100)
      await balanceIsKnown(merchant)
    },
  },
}
