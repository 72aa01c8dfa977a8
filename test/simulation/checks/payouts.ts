/** Payouts: their states, events, ledger entries and payments at the bank. */

import { BANK_ACCOUNT } from '../actions/destinations.ts'
import type { BankPaymentMade } from '../bank.ts'
import type { Merchant } from '../merchant.ts'
import { type Evidence, rowsOf } from './evidence.ts'
import { type PayoutStatus, payoutIsPosted } from './ledger.ts'
import { fail, mustEqual } from './must.ts'

interface Payout {
  readonly id: string
  readonly status: PayoutStatus
  readonly amount: number
  readonly failure_code: string | null
  readonly arrival_date: string | null
  readonly created: string
  readonly updated: string
}

interface TransferRow {
  readonly id: string
  readonly state: string
  readonly due: number | null
  readonly token: string | null
  readonly failures: number
  readonly problem: string | null
  readonly bank_id: string | null
  readonly paid_at: number | null
  readonly held_up_since: number | null
}

const ENDS: Readonly<Record<string, readonly string[]>> = {
  canceled: ['pending canceled'],
  failed: ['pending failed', 'pending in_transit failed'],
  paid: ['pending in_transit paid'],
  returned: ['pending in_transit paid returned', 'pending in_transit returned'],
}

const DAY_MS = 86_400_000

const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** The next day on which banks work. */
function bankDay(after: number): string {
  let day = after + DAY_MS
  while (/^S/.test(new Date(day).toUTCString())) day += DAY_MS
  return dayOf(day)
}

/** The bank has made each payment once, and each payout went through allowed states, with an event and a posting for each. */
export async function payoutsAreRight(evidence: Evidence, merchant: Merchant): Promise<void> {
  const { payments } = evidence
  const rows = await rowsOf<{ id: string }>(evidence, 'live', merchant, 'payouts')
  const transfers = await rowsOf<TransferRow>(evidence, 'live', merchant, 'bank_transfers')
  const entries = await rowsOf<Parameters<typeof payoutIsPosted>[0][number]>(
    evidence,
    'live',
    merchant,
    'ledger_entries',
  )
  const events = await rowsOf<{ type: string; body: string; created: number }>(
    evidence,
    'live',
    merchant,
    'events',
    'sequence',
  )
  mustEqual(
    rows.map(({ id }) => id),
    [...merchant.payouts.keys()].toSorted(),
    `the payouts of ${merchant.name}`,
  )
  const about = events
    .filter(({ type }) => /^payout\./.test(type))
    .map(({ type, body, created }) => ({
      type,
      created,
      payout: (JSON.parse(body) as { data: { payout: Payout } }).data.payout,
    }))
  for (const shown of merchant.shownPayouts as readonly unknown[] as readonly Payout[]) {
    const own = about.filter(({ payout }) => payout.id === shown.id)
    const path = own.map(({ payout }) => ({ status: payout.status, at: Date.parse(payout.updated) }))
    const statuses = path.map(({ status }) => status).join(' ')
    if (!ENDS[shown.status]?.includes(statuses))
      fail(`payout ${shown.id} is ${shown.status} after the states ${statuses}`)
    const types = own.map(({ type }) => type).join(' ')
    const wanted = path.map(({ status }, index) => {
      if (index === 0) return 'payout.created'
      return status === 'in_transit' ? 'payout.updated' : `payout.${status}`
    })
    mustEqual(types, wanted.join(' '), `the events of payout ${shown.id}`)
    mustEqual(own.at(-1)!.payout, shown, `what the last event tells of payout ${shown.id}`)
    if (shown.amount !== merchant.payouts.get(shown.id))
      fail(`payout ${shown.id} has the amount ${shown.amount}`)
    for (const { payout, created } of own) {
      const time = new Date(created).toISOString()
      mustEqual(
        payout.updated,
        time,
        `the time of ${shown.id} in the event that tells it is ${payout.status}`,
      )
      mustEqual(
        payout.arrival_date,
        arrivalOf(
          payout,
          own.map((each) => each.payout),
        ),
        `the arrival date of the ${payout.status} payout ${shown.id}`,
      )
    }
    payoutIsPosted(entries, shown, path)
    paymentIsRight(
      shown,
      payments.filter(({ reference }) => reference === shown.id),
      transfers.find(({ id }) => id === shown.id) ?? fail(`payout ${shown.id} has no transfer`),
      evidence,
      merchant,
    )
  }
  const paid = merchant.shownPayouts.reduce(
    (sum, { status, amount }) => (status === 'paid' ? sum + amount : sum),
    0,
  )
  mustEqual(merchant.balances.live.payable, merchant.payable - paid, `what ${merchant.name} has payable`)
}

function arrivalOf({ status, created, updated }: Payout, all: readonly Payout[]): string | null {
  // A return does not change the day. One that came at once has the day on which it came.
  if (status === 'returned')
    return all.find((each) => each.status === 'paid')?.arrival_date ?? dayOf(Date.parse(updated))
  if (status === 'pending' || status === 'in_transit') return bankDay(Date.parse(created))
  return status === 'paid' ? dayOf(Date.parse(updated)) : null
}

const LEASE_MS = 60_000

/** Returns of a payment come within this time. */
const RETURNS_MS = 7 * DAY_MS
const RETURN_PAUSE_MS = 3_600_000

function paymentIsRight(
  { id, amount, status, failure_code }: Payout,
  [payment, second]: readonly BankPaymentMade[],
  transfer: TransferRow,
  { now, lateMs, faults }: Evidence,
  { rejected }: Merchant,
): void {
  if (second) fail(`payout ${id} was paid twice`)
  if (payment && payment.amount !== amount)
    fail(`the bank paid ${payment.amount} for payout ${id} of ${amount}`)
  const isPaid = payment?.status === 'settled'
  if (isPaid !== (status === 'paid'))
    fail(`payout ${id} is ${status}, and the bank has ${payment?.status ?? 'no payment'}`)
  if (payment) requestsAreRight(id, payment, transfer, faults === 0)
  if (rejected.has(id) && (payment || status === 'paid'))
    fail(`payout ${id} was sent to a closed destination`)
  if (status === 'returned' && !['returned', 'failed'].includes(payment?.status ?? ''))
    fail(`payout ${id} is returned, and the bank has ${payment?.status ?? 'no payment'}`)
  const said = payment?.code === 'account_closed' ? payment.code : 'rejected'
  const code = status !== 'failed' && status !== 'returned' ? null : payment ? said : 'rejected'
  mustEqual(failure_code, code, `the failure code of the ${status} payout ${id}`)
  if (status === 'canceled' && payment) fail(`payout ${id} is canceled, but the bank has it`)
  const { state, due, token, failures, problem, bank_id, held_up_since } = transfer
  const end = { failures: 0, problem: null, held_up_since: null, bank_id: payment?.id ?? null }
  if (!isPaid) {
    mustEqual(
      { state, due, token },
      { state: 'ended', due: null, token: null },
      `the transfer of payout ${id}`,
    )
    if (payment) mustEqual({ failures, problem, held_up_since, bank_id }, end, `the transfer of payout ${id}`)
    return
  }
  const over = transfer.paid_at! + RETURNS_MS
  const isOver = state === 'ended' ? now >= over : now > over + RETURN_PAUSE_MS + lateMs
  mustEqual(
    { state, failures, problem, held_up_since, bank_id },
    { state: isOver ? 'ended' : 'paid', ...end },
    `the transfer of payout ${id}`,
  )
  if (isOver) return mustEqual([due, token], [null, null], `the transfer of payout ${id}, after a week`)
  if (due === null || due > now + Math.max(LEASE_MS, RETURN_PAUSE_MS))
    fail(`the payment of payout ${id} is looked at again at ${due}`)
}

/** Cents, the account and the key of each order are right, and a payment is looked at no more often than it should be. */
function requestsAreRight(
  id: string,
  { amount, requests }: BankPaymentMade,
  { due, state }: TransferRow,
  isCalm: boolean,
): void {
  for (const { method, headers, body } of requests) {
    const { Authorization: authorization, 'Content-Type': type } = headers
    mustEqual([authorization, type], ['Bearer token', 'application/json'], `the headers for payout ${id}`)
    if (method !== 'POST') continue
    mustEqual(headers['Idempotency-Key'], id, `the key of the payment of ${id}`)
    const order = { amount, currency: 'usd', reference: id, account: BANK_ACCOUNT }
    mustEqual(JSON.parse(body), order, `the order of payout ${id}`)
  }
  if (!isCalm) return // requests come twice
  for (const [index, { at, said }] of requests.entries()) {
    const next = requests[index + 1]
    const pause = said === undefined ? UNUSABLE_PAUSE_MS : PAUSES_MS[said]
    if (next && pause === undefined) fail(`the bank was asked about payout ${id} after it was ${said}`)
    if (next && next.at < at + pause!)
      fail(`payout ${id} was looked at ${next.at - at} ms after it was ${said}`)
  }
  const last = requests.at(-1)!
  if (state === 'paid' && last.said === 'settled' && Math.abs(due! - last.at - RETURN_PAUSE_MS) > SLOW_MS)
    fail(`the payment of payout ${id} is looked at again at ${due}, after ${last.at}`)
}

/** Least pauses after answers. One that has ended is not looked at again. */
const PAUSES_MS: Readonly<Record<string, number | undefined>> = { pending: 10_000, settled: RETURN_PAUSE_MS }
const UNUSABLE_PAUSE_MS = 1000

/** Longest time between a request to the bank and the moment in which its answer is recorded. */
const SLOW_MS = 120_000
