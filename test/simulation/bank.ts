/** A bank that makes one payment for each key, and settles, rejects or returns it. At times its answers are not usable. */
import type { OutboundRequest } from '../../runtime/events/outbound/outbound.ts'
import type { Random } from '../../runtime/platform/random.ts'
import type { Timers } from './clockwork/timers.ts'
import type { Peer, PeerAnswer } from './network.ts'

type BankStatus = 'pending' | 'settled' | 'failed' | 'returned'

/** A request of the service, with its answer. */
export interface BankRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly status: number
  /** What the answer said, if it was usable. */
  readonly said: BankStatus | undefined
}

export interface BankPaymentMade {
  readonly id: string
  readonly reference: string
  readonly amount: number
  readonly order: string
  status: BankStatus
  /** As the bank calls the reason. */
  readonly code: string
  readonly requests: BankRequest[]
}

export interface SimulatedBank {
  readonly payments: readonly BankPaymentMade[]
  readonly answer: Peer
}

const json = (status: number, body: unknown): PeerAnswer => ({ status, body: JSON.stringify(body) })

/** How long the bank takes for a payment, and after that for a return. */
const SETTLES_AFTER_MS = 90 * 60_000
const RETURNS_AFTER_MS = 30 * 60_000

/** Payments of later in the day get usable answers only, so that all of them end on the same day. */
const LAST_ODD_HOUR = 6

/** Answers that are not usable, although the bank has the payment. */
const ODD: readonly ((payment: BankPaymentMade) => PeerAnswer)[] = [
  () => ({ status: 200, body: '<html>busy</html>' }),
  ({ id }) => json(202, { id, status: 'settled' }),
  () => json(200, null),
  () => json(200, 'pending'),
  () => json(200, { id: '', status: 'settled' }),
  ({ id }) => json(200, { id: id.padEnd(101, 'x'), status: 'settled' }),
  () => json(201, { id: 7, status: 'settled' }),
  ({ id }) => json(200, { id, status: 'lost' }),
  ({ id }) => json(404, { id, status: 'settled' }),
  ({ id }) => json(200, { status: 'settled', payment: id }),
]

/** What becomes of a payment. The first two end when it is ordered. */
const FATES = [
  'instant',
  'bounced',
  'failed',
  'returned',
  'recalled',
  'settled',
  'settled',
  'settled',
] as const

interface Payment extends BankPaymentMade {
  readonly at: number
  readonly fate: (typeof FATES)[number]
  /** Number of the odd answers that it still gives to orders, and to requests for its state. */
  oddOrders: number
  oddLooks: number
}

const ENDS: Readonly<Record<Payment['fate'], BankStatus>> = {
  ...{ instant: 'settled', bounced: 'returned', failed: 'failed' },
  ...{ returned: 'settled', recalled: 'settled', settled: 'settled' },
}

export function createBank(timers: Timers, random: Random): SimulatedBank {
  const payments = new Map<string, Payment>()
  /** Keys of refused orders: an order that arrives twice is refused twice. */
  const refused = new Set<string>()
  let odd = 0
  const shown = ({ id, status, code }: BankPaymentMade) => ({
    ...{ id, status },
    ...((status === 'failed' || status === 'returned') && { failure_code: code }),
  })
  const nextOdd = (payment: Payment) => {
    odd += 1
    return ODD[odd % ODD.length]!(payment)
  }
  const note = (
    payment: Payment,
    { method, headers, body }: OutboundRequest,
    answer: PeerAnswer,
    isUsable = true,
  ) => {
    const said = isUsable ? payment.status : undefined
    payment.requests.push({ method, headers, body, at: timers.now, status: answer.status, said })
    return answer
  }
  const create = (key: string, body: string): Payment => {
    const { amount, reference } = JSON.parse(body) as { amount: number; reference: string }
    const fate = FATES[random.between(0, FATES.length - 1)]!
    const isEarly = new Date(timers.now).getUTCHours() < LAST_ODD_HOUR
    const payment: Payment = {
      ...{ id: `pay_${payments.size + 1}`.padEnd(payments.size % 2 === 0 ? 100 : 0, '0'), reference, amount },
      ...{ order: body, fate, at: timers.now, requests: [] },
      code: random.chance(0.5) ? 'account_closed' : 'no_such_reason',
      status: fate === 'instant' || fate === 'bounced' ? ENDS[fate] : 'pending',
      oddOrders: isEarly && random.chance(0.6) ? 1 : 0,
      oddLooks: isEarly && random.chance(0.6) ? 1 : 0,
    }
    payments.set(key, payment)
    return payment
  }
  const pay = (request: OutboundRequest) => {
    const { headers, body } = request
    const key = headers['Idempotency-Key'] ?? ''
    const known = payments.get(key)
    if (known && known.order !== body) return json(409, { error: 'key reused' })
    if (refused.has(key) || (!known && random.chance(0.05))) {
      refused.add(key)
      return json(422, { failure_code: 'rejected' })
    }
    const payment = known ?? create(key, body)
    if (payment.oddOrders > 0) {
      payment.oddOrders -= 1
      return note(payment, request, nextOdd(payment), false)
    }
    return note(payment, request, json(201, shown(payment)))
  }
  const move = (payment: Payment) => {
    const age = timers.now - payment.at
    if (payment.status === 'pending' && age >= SETTLES_AFTER_MS) payment.status = ENDS[payment.fate]
    else if (payment.status === 'settled' && age >= SETTLES_AFTER_MS + RETURNS_AFTER_MS) {
      if (payment.fate === 'returned') payment.status = 'returned'
      if (payment.fate === 'recalled') payment.status = 'failed'
    }
  }
  const look = (request: OutboundRequest) => {
    const id = new URL(request.url).pathname.split('/').at(-1)
    const payment = [...payments.values()].find((each) => each.id === id)
    if (!payment) return json(404, { error: 'the payment does not exist' })
    const before = payment.status
    if (payment.oddLooks > 0 && before !== 'pending') {
      payment.oddLooks -= 1
      const answer =
        payment.id.length > 50 ? json(200, { id, status: 'pending' }) : json(422, { error: 'busy' })
      return note(payment, request, answer, false)
    }
    if (payment.oddLooks > 0 && payment.id.endsWith('7')) {
      payment.oddLooks -= 1
      return note(payment, request, json(200, { id: 'pay_other', status: 'settled' }), false)
    }
    move(payment)
    return note(payment, request, json(200, shown(payment)))
  }
  return {
    get payments() {
      return [...payments.values()]
    },
    answer: (request) => (request.method === 'POST' ? pay(request) : look(request)),
  }
}
