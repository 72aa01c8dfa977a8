/**
 * Writes card transactions with their consequences: spending, ledger postings and events. The caller has locked the card.
 */
import { notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { type LedgerTransfer, newEntries, type Posting, post } from '../../money/ledger/post.ts'
import {
  type Interchange,
  type LineAmount,
  linesOfClearing,
  linesOfRefund,
  NO_INTERCHANGE,
} from '../../money/settlement-lines/amounts.ts'
import { requireBounds } from '../../money/settlement-lines/bounds.ts'
import { type Rates, selectInterchange } from '../../money/settlement-lines/interchange.ts'
import { type SettlementPlace, writeLines } from '../../money/settlement-lines/lines.ts'
import {
  type OpenSettlement,
  readInterchange,
  readOpenSettlement,
} from '../../money/settlement-lines/queries.ts'
import { refuseBeyond } from './bounds.ts'
import {
  type CardTransactionRow,
  insertCardTransaction,
  lockCardTransaction,
  updateCardTransaction,
} from './queries.ts'
import { addSpending, spentBy } from './spending.ts'
import { showCardTransaction } from './view.ts'

/** The context in which a transaction is written. */
export interface TransactionPlace extends SettlementPlace {
  /** Interchange and fee rates; needed to collect money. */
  readonly rates?: Rates
  /** The category that the network names for a clearing. */
  readonly interchangeCategory?: string | undefined
  /** The settlement that receives the lines, read together with the locks; needed to collect or refund money. */
  readonly open?: OpenSettlement | undefined
}

type TransactionEventType =
  | 'card.transaction.authorized'
  | 'card.transaction.declined'
  | 'card.transaction.reversed'
  | 'card.transaction.expired'
  | 'card.transaction.cleared'
  | 'card.transaction.refunded'

/** Amounts of a transaction that has not moved any money yet. */
const NOTHING_MOVED = { held: 0, hold_id: null, cleared: 0, refunded: 0 }

/** Writes a new transaction. If it holds an amount that is no longer available, the commit fails with `Overtaken`. */
export async function writeNew(
  place: TransactionPlace,
  row: CardTransactionRow,
  type: TransactionEventType,
): Promise<void> {
  const { db, space, events } = place
  pipelined(insertCardTransaction(db, space, row))
  // An authorization of 0 only verifies the card, so it does not count as an authorization.
  await refuseBeyond(move(place, NOTHING_MOVED, row, row.authorized > 0 ? 1 : 0, row.created))
  emit(events, { type, data: { card_transaction: showCardTransaction(row) } })
}

/** Writes a changed transaction and emits the event. */
export async function writeChange(
  place: TransactionPlace,
  before: CardTransactionRow,
  after: CardTransactionRow,
  type: TransactionEventType | 'card.transaction.updated',
): Promise<void> {
  const { db, space, events } = place
  pipelined(updateCardTransaction(db, space, after))
  await refuseBeyond(move(place, before, after, 0, after.updated))
  const data = { card_transaction: showCardTransaction(after) }
  if (type === 'card.transaction.updated') {
    emit(events, { type, data, before: { card_transaction: showCardTransaction(before) } })
  } else emit(events, { type, data })
}

/**
 * Records spending and posts the amounts that a transaction moved. Throws `BeyondBounds` if a sum would exceed the maximum
 * amount.
 */
async function move(
  place: TransactionPlace,
  before: Pick<CardTransactionRow, keyof typeof NOTHING_MOVED>,
  after: CardTransactionRow,
  authorizations: number,
  now: number,
): Promise<void> {
  const { db, space } = place
  addSpending(db, space, after, spentBy(after) - spentBy(before), authorizations)
  // A new authorization was decided without a lock on the account, so the posting checks the available amount again.
  const posting = postingOf(before, after, now, authorizations > 0 ? after.requested : undefined)
  if (posting.transfer) await settle(place, after, posting.transfer)
  const posted = post(db, space, `${after.id}/${after.history.length}`, posting, now)
  if (!posting.transfer) return
  await requireBounds(posted, posting.transfer.to === 'program_funds' ? 'up' : 'down')
}

type Collected = LedgerTransfer & Required<Pick<LedgerTransfer, 'entries'>>

/**
 * Writes the settlement lines of a collection or a refund. The interchange and fee lines refer to the same ledger entry as
 * the collection.
 */
async function settle(place: TransactionPlace, row: CardTransactionRow, transfer: Collected): Promise<void> {
  const { from, amount, entries } = transfer
  const isCollected = from === 'program_funds'
  // Without refunds, the interchange of a clearing depends on no other clearing.
  const before = row.refunded > 0 ? await readInterchange(place.db, place.space, row.id) : NO_INTERCHANGE
  const amounts = isCollected ? collected(amount, place, row, before) : linesOfRefund(amount, before, row)
  const [funding, clearing] = isCollected ? [entries.from, entries.to] : [entries.to, entries.from]
  const lines = amounts.map((line) => ({
    ...line,
    source_id: row.id,
    ledger_entry_id: line.type === 'program_funding' ? funding : clearing,
  }))
  await writeLines(place, lines, row.updated, place.open)
}

function collected(
  amount: number,
  { rates, interchangeCategory }: TransactionPlace,
  row: CardTransactionRow,
  before: Interchange,
): readonly LineAmount[] {
  if (!rates) throw new Error('A collection needs the interchange and fee rates.')
  const { merchant, entry_method: entryMethod } = row
  const use = { categoryCode: merchant.category_code, entryMethod, country: merchant.country }
  const rate = selectInterchange(rates, use, interchangeCategory)
  return linesOfClearing(amount, rate, rates.networkFee, before, row)
}

function postingOf(
  before: Pick<CardTransactionRow, keyof typeof NOTHING_MOVED>,
  after: CardTransactionRow,
  now: number,
  covered: number | undefined,
): Posting & { readonly transfer: Collected | undefined } {
  const collected = after.cleared - after.refunded - (before.cleared - before.refunded)
  const [from, to] =
    collected > 0
      ? (['program_funds', 'network_clearing'] as const)
      : (['network_clearing', 'program_funds'] as const)
  const isHeldAnew = after.hold_id !== before.hold_id
  return {
    transfer:
      collected === 0 ? undefined : { from, to, amount: Math.abs(collected), entries: newEntries(now) },
    resolved: isHeldAnew && before.hold_id !== null ? { id: before.hold_id, amount: before.held } : undefined,
    placed:
      isHeldAnew && after.hold_id !== null ? { id: after.hold_id, amount: after.held, covered } : undefined,
  }
}

/** The parts of a request context that transaction changes use. */
export type ChangeContext = Pick<Context, 'caller' | 'db' | 'events' | 'request' | 'rates'>

/**
 * Locks a transaction, applies `change`, writes the result, and returns it.
 * @param missing creates the error to throw if the transaction does not exist; default: 404.
 */
export async function changeCardTransaction(
  { caller, db, events, rates }: ChangeContext,
  id: string,
  type: Parameters<typeof writeChange>[3],
  change: (row: CardTransactionRow) => CardTransactionRow,
  missing: () => Error = notFound,
): Promise<CardTransactionRow> {
  const [before, open] = await Promise.all([
    lockCardTransaction(db, caller.space, id),
    type === 'card.transaction.cleared' ? readOpenSettlement(db, caller.space) : undefined,
  ])
  if (!before) throw missing()
  const after = change(before)
  await writeChange({ db, space: caller.space, events, rates, open }, before, after, type)
  return after
}
