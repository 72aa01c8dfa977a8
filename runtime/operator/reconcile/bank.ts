/** Compares the bank's list of payments with the database. */
import type { Statement } from '../../database/database.ts'
import { readSpace } from '../../database/space.ts'
import type { Bank, ListedPayment } from '../../money/payouts/bank-client.ts'
import { newId } from '../../platform/ids.ts'
import type { Comparison } from './chain.ts'
import type { DestinationPlace, FoundOutside, PlannedChange } from './finding.ts'
import type { FoundRecorder } from './record.ts'

/** Bank payouts exist only in live. */
const PAYOUTS: Statement = {
  text: `SELECT p.id, p.tenant_id AS space, p.status FROM live.payouts p WHERE p.id = ANY ($1)`,
}

const PAYMENTS: Statement = { text: 'SELECT b.bank_id FROM live.bank_transfers b WHERE b.bank_id = ANY ($1)' }

const DESTINATIONS: Statement = {
  text: `SELECT 'live' AS environment, d.tenant_id AS space, d.id FROM live.payout_destinations d
          WHERE d.bank_account ->> 'last4' = $1 AND d.bank_account ->> 'routing_number' = $2`,
}

interface KnownPayout {
  readonly id: string
  readonly space: string
  readonly status: string
}

/** A payment with one of these statuses has moved money. */
const MADE = new Set(['pending', 'settled'])

/** A payout with one of these statuses has not. */
const NOT_PAID = new Set(['canceled', 'failed'])

/**
 * Finds payments that the database does not know. Throws if the bank cannot list payments.
 * @param since machine time from which on payments are listed.
 */
export async function compareBank(bank: Bank, recorder: FoundRecorder, since: number): Promise<Comparison> {
  const listed = await bank.list(since)
  const { control } = recorder.operator
  const references = listed.map(({ reference }) => reference)
  const payouts = new Map(
    (await control.query<KnownPayout>(PAYOUTS, [references])).rows.map((row) => [row.id, row]),
  )
  const ids = listed.map(({ id }) => id)
  const { rows } = await control.query<{ bank_id: string }>(PAYMENTS, [ids])
  const known = new Set(rows.map(({ bank_id }) => bank_id))
  const changes: PlannedChange[] = []
  for (const payment of listed.filter(({ id }) => !known.has(id))) {
    const payout = payouts.get(payment.reference)
    if (payout && !NOT_PAID.has(payout.status)) changes.push({ found: asked(payment, payout) })
    else if (MADE.has(payment.status)) changes.push(await planRecord(recorder, payment, payout !== undefined))
  }
  return { changes, words: `${listed.length} payments at the bank since ${new Date(since).toISOString()}` }
}

const foundAt = (
  { id, amount }: ListedPayment,
  rest: Pick<FoundOutside, 'action' | 'reason'> & Partial<FoundOutside>,
): FoundOutside => ({
  ...{ from: 'bank', payment: id, environment: 'live', tenant_id: null, payout_id: null, amount },
  ...rest,
})

const asked = (payment: ListedPayment, { id, space }: KnownPayout): FoundOutside =>
  foundAt(payment, {
    ...{ action: 'ask', tenant_id: readSpace(space).tenantId, payout_id: id },
    reason:
      'the bank has a payment with the reference of this payout; it returns that payment when it is asked again',
  })

async function planRecord(
  recorder: FoundRecorder,
  payment: ListedPayment,
  isReferenceUsed: boolean,
): Promise<PlannedChange> {
  const { last4, routing_number } = payment.account
  const { rows } = await recorder.operator.control.query<DestinationPlace>(DESTINATIONS, [
    last4,
    routing_number,
  ])
  const [destination, ...others] = rows
  if (!destination || others.length > 0) {
    const whose = destination ? `${rows.length} destinations have` : 'no destination has'
    const reason = `${whose} an account that ends in ${last4} at ${routing_number}`
    return { found: foundAt(payment, { action: 'unknown', payout_id: payment.reference, reason }) }
  }
  const id = isReferenceUsed ? newId('po', recorder.operator.clock.service('live')) : payment.reference
  const { space } = destination
  const reason = isReferenceUsed
    ? `payout ${payment.reference} has ended without a payment in the database`
    : 'the database has no payout with this reference'
  return {
    space,
    found: foundAt(payment, {
      action: 'record',
      tenant_id: readSpace(space).tenantId,
      payout_id: id,
      reason,
    }),
    apply: () => recorder.record(destination, { id, amount: payment.amount, at: { bank_id: payment.id } }),
  }
}
