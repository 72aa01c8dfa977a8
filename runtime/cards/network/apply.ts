/** Applies messages of the card network to transactions. The caller has locked the card. */
import { pipelined } from '../../database/pipelined.ts'
import { readOpenSettlement } from '../../money/settlement-lines/queries.ts'
import type { CardRow } from '../cards/queries.ts'
import type { AuthorizationPlace } from '../decisions/concluding.ts'
import { lockDisputesOf } from '../disputes/queries.ts'
import { contestedBy, writeRefund } from '../disputes/refunds.ts'
import { OPEN } from '../disputes/states.ts'
import { judgeShadows, showShadows } from '../spending-control-shadows/judging.ts'
import { recordShadows } from '../spending-control-shadows/recording.ts'
import type { LockedFacts } from '../transactions/authorizing.ts'
import {
  type TransactionEventType,
  type TransactionPlace,
  writeChange,
  writeNew,
} from '../transactions/changes.ts'
import { withMessage } from '../transactions/messages.ts'
import type { CardTransactionRow, TransactionMessage } from '../transactions/queries.ts'
import { decide } from '../transactions/rules.ts'
import {
  askingMessage,
  holdFor,
  keptOf,
  ownMessage,
  requireTotals,
  type Sent,
} from '../transactions/states.ts'
import { readUses } from '../transactions/uses-queries.ts'
import { endWaiting, type KnownUse } from './known-uses.ts'

/** Applies a message and returns the transaction. Throws `validation_failed` if a total would exceed the maximum. */
export async function applyMessage(
  place: TransactionPlace,
  before: CardTransactionRow,
  message: TransactionMessage,
): Promise<CardTransactionRow> {
  if (message.kind === 'refund') return applyRefund(place, before, message)
  const after = withMessage(before, message)
  requireTotals(after)
  const open = after.cleared > before.cleared ? await openOf(place) : undefined
  return writeSeen({ ...place, open }, before, after, eventOf(after, message))
}

const openOf = ({ open, db, space }: TransactionPlace) => open ?? readOpenSettlement(db, space)

async function applyRefund(
  place: TransactionPlace,
  before: CardTransactionRow,
  message: TransactionMessage,
): Promise<CardTransactionRow> {
  const { db, space } = place
  const [open, disputes] = await Promise.all([openOf(place), lockDisputesOf(db, space, before.id, OPEN)])
  const after = withMessage(before, message, keptOf(before, contestedBy(disputes)))
  if (after.refunded === before.refunded) return writeSeen(place, before, after)
  return writeRefund({ ...place, open }, before, after, disputes)
}

/**
 * Decides an increment of an authorization by the rules, and returns the transaction. An authorization that holds nothing,
 * or that only verifies the card, cannot grow.
 * @param sent the message of the network; absent if the increment is simulated.
 */
export async function applyIncrement(
  place: AuthorizationPlace,
  before: CardTransactionRow,
  facts: LockedFacts,
  amount: number,
  sent?: Sent,
): Promise<CardTransactionRow> {
  const { merchant, currency, authorized, entry_method } = before
  const { category_code: categoryCode, country } = merchant
  const use = { merchant, entryMethod: entry_method, checks: before.checks ?? {}, at: facts.now }
  const { db, space, now } = place
  const usesFor = (controls: CardRow['spending_controls']) =>
    readUses(db, space, before.card_id, controls, merchant, now)
  const uses = await usesFor(facts.card.spending_controls)
  // An increment needs no active wallet token: the wallet took part only in the original authorization.
  const request = { amount, currency, categoryCode, country, authorized, wallet: null, use }
  const judged = decide(request, { ...facts, uses })
  const decision =
    before.held > 0 ? judged : { ...judged, declined: judged.declined ?? 'transaction_not_allowed' }
  const expires = place.now + facts.clockOffset + holdFor(categoryCode)
  const own = ownMessage(before, askingMessage('increment', amount, decision, expires), place.now)
  const shadowFacts = facts.shadows.map(async (each) => ({
    ...each,
    uses: await usesFor(each.spending_controls),
  }))
  const shadows = judgeShadows(request, decision, await Promise.all(shadowFacts))
  const shadow_decisions = showShadows(shadows)
  const after = { ...withMessage(before, { ...own, ...sent }), rules: decision.rules, shadow_decisions }
  requireTotals(after)
  await writeChange(place, before, after, 'card.transaction.updated')
  recordShadows(place, after, amount, shadows)
  return after
}

/** Writes a transaction; the tenant gets an event only if the message made a difference. */
async function writeSeen(
  place: TransactionPlace,
  before: CardTransactionRow,
  after: CardTransactionRow,
  type?: Parameters<typeof writeChange>[3],
): Promise<CardTransactionRow> {
  const isSeen =
    after.history.length !== before.history.length ||
    after.status !== before.status ||
    after.authorized !== before.authorized
  const row = isSeen ? after : { ...after, updated: before.updated }
  await writeChange(place, before, row, isSeen ? type : undefined)
  return row
}

function eventOf({ status }: CardTransactionRow, { kind, approved }: TransactionMessage) {
  const types = {
    authorization: status === 'declined' ? 'declined' : approved === undefined ? 'updated' : 'authorized',
    increment: 'updated',
    reversal: 'reversed',
    release: 'reversed',
    expiry: 'expired',
    clearing: 'cleared',
    refund: 'refunded',
  } as const
  return `card.transaction.${types[kind]}` as const
}

/**
 * Begins a transaction with a message that needs no decision: a clearing without an authorization, or a decision of the
 * network.
 * @param blank the transaction without messages.
 */
export async function beginWith(
  place: TransactionPlace,
  blank: CardTransactionRow,
  message: TransactionMessage,
): Promise<CardTransactionRow> {
  const row = withMessage(blank, message)
  requireTotals(row)
  const open = row.cleared > 0 ? await openOf(place) : undefined
  await writeNew({ ...place, open }, row, eventOf(row, message) as TransactionEventType)
  return row
}

/** Applies the messages that arrived before the transaction began, and returns the transaction. */
export async function takeWaiting(
  place: TransactionPlace,
  begun: CardTransactionRow,
  { waiting }: KnownUse,
): Promise<CardTransactionRow> {
  if (waiting.length === 0) return begun
  let row = begun
  for (const message of waiting) row = await applyMessage(place, row, message)
  pipelined(endWaiting(place.db, place.space, row.network_id!))
  return row
}
