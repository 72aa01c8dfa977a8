/** The bank that pays dollars out: what it is asked, and how its answers are read. */

import type { OutboundResult, PeerOutbound } from '../../events/outbound/outbound.ts'
import { parsePeerJson } from '../../platform/json/peer-json.ts'
import type { BankAccount } from '../destinations/account.ts'
import type { PayoutRow } from './queries.ts'

/** What the bank says of a payment. */
export interface BankPayment {
  readonly id: string
  readonly status: 'pending' | 'settled' | 'failed' | 'returned'
  readonly failure_code: NonNullable<PayoutRow['failure_code']>
}

/** `refused`: the bank has taken nothing and will not. `later`: it may have, so the same is asked again; why, without what was sent. */
export type BankAnswer =
  | { readonly outcome: 'payment'; readonly payment: BankPayment }
  | { readonly outcome: 'refused'; readonly failure_code: BankPayment['failure_code'] }
  | { readonly outcome: 'later'; readonly problem: string }

export interface Bank {
  /** Asks for a payment: however often for one payout, the bank makes it once. */
  pay(payout: Pick<PayoutRow, 'id' | 'amount'>, account: BankAccount): Promise<BankAnswer>
  /** How a payment stands. @param bankId what the bank calls it. */
  find(bankId: string): Promise<BankAnswer>
}

export interface BankOptions {
  /** Without a slash at the end. */
  readonly url: string
  readonly token: string
  readonly outbound: Pick<PeerOutbound, 'send'>
}

/** A client of the interface that `docs/settlement.md` describes. */
export function createBank({ url, token, outbound }: BankOptions): Bank {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  return {
    async pay({ id, amount }, account) {
      const body = JSON.stringify({ amount, currency: 'usd', reference: id, account })
      const keyed = { ...headers, 'Idempotency-Key': id }
      const outcome = await outbound.send({
        method: 'POST',
        url: `${url}/payments`,
        headers: keyed,
        body,
      })
      return readAnswer(outcome)
    },
    async find(bankId) {
      const path = `/payments/${encodeURIComponent(bankId)}`
      const outcome = await outbound.send({ method: 'GET', url: `${url}${path}`, headers, body: '' })
      const answer = readAnswer(outcome)
      // A payment that the bank has taken is not refused by a look at it.
      return answer.outcome === 'refused' ? { outcome: 'later', problem: problemOf(outcome) } : answer
    },
  }
}

const STATUSES: ReadonlySet<unknown> = new Set(['pending', 'settled', 'failed', 'returned'])
const CODES: ReadonlySet<unknown> = new Set(['account_closed', 'invalid_account', 'rejected'])

/** Anything that is not said clearly is asked again: nothing is taken for failed that may have been paid. */
function readAnswer(outcome: OutboundResult): BankAnswer {
  const later = { outcome: 'later', problem: problemOf(outcome) } as const
  if ('error' in outcome) return later
  const { id, status, failure_code } = readBody(outcome.body)
  const code = (CODES.has(failure_code) ? failure_code : 'rejected') as BankPayment['failure_code']
  if (outcome.status === 422) return { outcome: 'refused', failure_code: code }
  const isPayment = typeof id === 'string' && id !== '' && id.length <= 100 && STATUSES.has(status)
  if ((outcome.status !== 200 && outcome.status !== 201) || !isPayment) return later
  return {
    outcome: 'payment',
    payment: { id, status: status as BankPayment['status'], failure_code: code },
  }
}

const problemOf = (outcome: OutboundResult): string =>
  'error' in outcome ? outcome.error : `the bank answered ${outcome.status}`

function readBody(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parsePeerJson(body)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {} // some proxy's page
  }
}
