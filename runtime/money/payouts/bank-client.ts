/** Client for the bank that pays out dollars. */

import type { OutboundResult, PeerOutbound } from '../../events/outbound/outbound.ts'
import { parsePeerJson } from '../../platform/json/peer-json.ts'
import type { BankAccount } from '../destinations/account.ts'
import type { PayoutRow } from './queries.ts'

/** A payment as the bank reports it. */
export interface BankPayment {
  readonly id: string
  readonly status: 'pending' | 'settled' | 'failed' | 'returned'
  readonly failure_code: NonNullable<PayoutRow['failure_code']>
}

/**
 * `refused`: the bank has not made the payment and will not make it. `later`: the bank may have made the payment, so the
 * request is repeated; `problem` says why, without the content of the request.
 */
export type BankAnswer =
  | { readonly outcome: 'payment'; readonly payment: BankPayment }
  | { readonly outcome: 'refused'; readonly failure_code: BankPayment['failure_code'] }
  | { readonly outcome: 'later'; readonly problem: string }

/** A payment in the bank's list. */
export interface ListedPayment extends Pick<BankPayment, 'id' | 'status'> {
  /** Identifier of the payout that it was requested for. */
  readonly reference: string
  /** Cents. */
  readonly amount: number
  /** The visible part of the account. */
  readonly account: { readonly last4: string; readonly routing_number: string }
}

export interface Bank {
  /** Requests a payment. Idempotent: the bank makes one payment for each payout. */
  pay(payout: Pick<PayoutRow, 'id' | 'amount'>, account: BankAccount): Promise<BankAnswer>
  /**
   * Returns the state of a payment.
   * @param bankId the bank's identifier of the payment.
   */
  find(bankId: string): Promise<BankAnswer>
  /**
   * Returns all payments that the bank has accepted since a time, in milliseconds since the epoch. Throws if the bank cannot
   * list payments.
   */
  list(since: number): Promise<readonly ListedPayment[]>
}

export interface BankOptions {
  /** Without a trailing slash. */
  readonly url: string
  readonly token: string
  readonly outbound: Pick<PeerOutbound, 'send'>
}

/** Creates a client for the bank API described in `docs/settlement.md`. */
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
      // A payment that the bank accepted earlier cannot be refused by a status request.
      return answer.outcome === 'refused' ? { outcome: 'later', problem: problemOf(outcome) } : answer
    },
    async list(since) {
      const listed: ListedPayment[] = []
      for (;;) {
        const query = new URLSearchParams({ created_after: new Date(since).toISOString() })
        const last = listed.at(-1)
        if (last) query.set('after', last.id)
        const outcome = await outbound.send({
          method: 'GET',
          url: `${url}/payments?${query}`,
          headers,
          body: '',
        })
        const page = readList(outcome)
        if (!page) throw new Error(`the bank cannot list payments: ${problemOf(outcome)}`)
        listed.push(...page)
        if (page.length === 0) return listed
      }
    },
  }
}

const STATUSES: ReadonlySet<unknown> = new Set(['pending', 'settled', 'failed', 'returned'])
const CODES: ReadonlySet<unknown> = new Set(['account_closed', 'invalid_account', 'rejected'])

/**
 * Reads the bank's answer. An unclear answer leads to a retry, so that a payment that may have been made never counts as
 * failed.
 */
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

/** Reads a page of the bank's list; undefined if the answer is not a list. */
function readList(outcome: OutboundResult): readonly ListedPayment[] | undefined {
  if ('error' in outcome || outcome.status !== 200) return undefined
  const { payments } = readBody(outcome.body)
  return Array.isArray(payments) && payments.every(isListed) ? payments : undefined
}

function isListed(value: unknown): value is ListedPayment {
  if (typeof value !== 'object' || value === null) return false
  const { id, status, reference, amount, account } = value as Partial<Record<keyof ListedPayment, unknown>>
  const isText = (each: unknown) => typeof each === 'string' && each !== '' && each.length <= 100
  const { last4, routing_number } = Object(account) as Partial<Record<string, unknown>>
  const isMoney = Number.isSafeInteger(amount) && Number(amount) > 0
  return [id, reference, last4, routing_number].every(isText) && STATUSES.has(status) && isMoney
}

const problemOf = (outcome: OutboundResult): string =>
  'error' in outcome ? outcome.error : `the bank returned ${outcome.status}`

function readBody(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parsePeerJson(body)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {} // for example an HTML page from a proxy
  }
}
