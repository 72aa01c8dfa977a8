/**
 * Writes card transactions with their consequences: spending, ledger postings and events. The caller has locked the card.
 */
import { notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import type { LedgerAccount } from '../../money/ledger/accounts.ts'
import { newEntries, type Posting, post } from '../../money/ledger/post.ts'
import {
  type ClearedAmounts,
  type Interchange,
  type LineAmount,
  linesOfClearing,
  linesOfRefund,
  NO_INTERCHANGE,
} from '../../money/settlement-lines/amounts.ts'
import { requireBounds } from '../../money/settlement-lines/bounds.ts'
import { type Rates, selectInterchange } from '../../money/settlement-lines/interchange.ts'
import { type SettlementPlace, writeLines } from '../../money/settlement-lines/lines.ts'
import { type OpenSettlement, readInterchange } from '../../money/settlement-lines/queries.ts'
import { writeInstant } from '../../platform/instants.ts'
import { refuseBeyond } from './bounds.ts'
import { insertHolding } from './insert-holding.ts'
import { messagesOf } from './messages.ts'
import {
  type CardTransactionRow,
  insertCardTransaction,
  lockCardTransaction,
  updateCardTransaction,
} from './queries.ts'
import { addSpending, countOf, spentBy } from './spending.ts'
import { showCardTransaction } from './view.ts'

/** The context in which a transaction is written. */
export interface TransactionPlace extends SettlementPlace {
  /** Interchange and fee rates; needed to collect money. */
  readonly rates?: Rates
  /** The category that the network names for a clearing. */
  readonly interchangeCategory?: string | undefined
  /** The network's business day of the message, ISO 8601. Default: the day in UTC on which the network sent it. */
  readonly networkDate?: string | undefined
  /** The settlement that receives the lines, read together with the locks; needed to collect or refund money. */
  readonly open?: OpenSettlement | undefined
}

export type TransactionEventType =
  | 'card.transaction.authorized'
  | 'card.transaction.declined'
  | 'card.transaction.reversed'
  | 'card.transaction.expired'
  | 'card.transaction.cleared'
  | 'card.transaction.refunded'

/** Amounts of a transaction that has not moved any money yet. */
const NOTHING_MOVED = { held: 0, hold_id: null, cleared: 0, refunded: 0, authorized: 0 }

type Moved = Pick<CardTransactionRow, keyof typeof NOTHING_MOVED>

/**
 * Writes a new transaction.
 * @param covered cents that must still be available at the commit, which otherwise fails with `Overtaken`; absent if the
 * amount is held in any case.
 */
export async function writeNew(
  place: TransactionPlace,
  row: CardTransactionRow,
  type: TransactionEventType,
  covered?: number,
): Promise<void> {
  const { db, space, events } = place
  if (row.held > 0 && row.cleared === 0 && covered !== undefined) {
    pipelined(insertHolding(db, space, row, covered))
  } else {
    pipelined(insertCardTransaction(db, space, row))
    await refuseBeyond(move(place, NOTHING_MOVED, row))
  }
  emit(events, { type, data: { card_transaction: showCardTransaction(row) } })
}

/** Writes a changed transaction and emits the event. @param type absent if nothing that the tenant sees has changed. */
export async function writeChange(
  place: TransactionPlace,
  before: CardTransactionRow,
  after: CardTransactionRow,
  type?: TransactionEventType | 'card.transaction.updated',
): Promise<void> {
  const { db, space, events } = place
  pipelined(updateCardTransaction(db, space, after))
  await refuseBeyond(move(place, before, after))
  const data = { card_transaction: showCardTransaction(after) }
  if (type === 'card.transaction.updated') {
    emit(events, { type, data, before: { card_transaction: showCardTransaction(before) } })
  } else if (type) emit(events, { type, data })
}

/**
 * Records spending and posts the amounts that a transaction moved. Throws `BeyondBounds` if a sum would exceed the maximum
 * amount. If a clearing makes room for a refund that arrived before it, both are posted, one after the other.
 */
async function move(place: TransactionPlace, before: Moved, after: CardTransactionRow): Promise<void> {
  const { db, space } = place
  addSpending(db, space, after, spentBy(after) - spentBy(before), countOf(after) - countOf(before))
  const cause = `${after.id}/${messagesOf(after).length}`
  const collected = after.cleared - before.cleared
  const refunded = after.refunded - before.refunded
  const holds = holdsOf(before, after)
  if (collected === 0 && refunded === 0) {
    pipelined(post(db, space, cause, holds, after.updated))
    return
  }
  if (collected > 0) {
    const transfer = transferOf('program_funds', 'network_clearing', collected, after.updated)
    const amounts = { cleared: after.cleared, refunded: before.refunded }
    await transact(place, after, cause, { transfer, ...holds }, amounts)
  }
  if (refunded > 0) {
    const transfer = transferOf('network_clearing', 'program_funds', refunded, after.updated)
    if (collected > 0) await transact(place, after, `${cause}/refund`, { transfer }, after)
    else await transact(place, after, cause, { transfer, ...holds }, after)
  }
}

const transferOf = (from: LedgerAccount, to: LedgerAccount, amount: number, now: number) => ({
  from,
  to,
  amount,
  entries: newEntries(now),
})

type CardTransfer = ReturnType<typeof transferOf>

/**
 * Writes the settlement lines of a collection or a refund, and posts it. The interchange and fee lines refer to the same
 * ledger entry as the transaction's line.
 */
async function transact(
  place: TransactionPlace,
  row: CardTransactionRow,
  cause: string,
  posting: Posting & { readonly transfer: CardTransfer },
  amounts: ClearedAmounts,
): Promise<void> {
  const { db, space } = place
  const { from, amount, entries } = posting.transfer
  const isCollected = from === 'program_funds'
  // Without refunds, the interchange of a clearing depends on no other clearing.
  const before = amounts.refunded > 0 ? await readInterchange(db, space, row.id) : NO_INTERCHANGE
  const network_date = place.networkDate ?? writeInstant(messagesOf(row).at(-1)!.at).slice(0, 10)
  const [funding, clearing] = isCollected ? [entries.from, entries.to] : [entries.to, entries.from]
  const lines = (
    isCollected
      ? linesOfCollected(amount, place, row, before, amounts)
      : linesOfRefund(amount, before, amounts)
  ).map((line) => ({
    ...line,
    network_date,
    source_id: row.id,
    ledger_entry_id: line.type === 'program_funding' ? funding : clearing,
  }))
  await writeLines(place, lines, row.updated, place.open)
  await requireBounds(post(db, space, cause, posting, row.updated), isCollected ? 'down' : 'up')
}

function linesOfCollected(
  amount: number,
  { rates, interchangeCategory }: TransactionPlace,
  { merchant, entry_method: entryMethod }: CardTransactionRow,
  before: Interchange,
  amounts: ClearedAmounts,
): readonly LineAmount[] {
  if (!rates) throw new Error('A collection needs the interchange and fee rates.')
  const use = { categoryCode: merchant.category_code, entryMethod, country: merchant.country }
  const rate = selectInterchange(rates, use, interchangeCategory)
  return linesOfClearing(amount, rate, rates.networkFee, before, amounts)
}

/** The hold to resolve and the hold to place. */
function holdsOf(before: Moved, after: CardTransactionRow): Omit<Posting, 'transfer'> {
  if (after.hold_id === before.hold_id) return {}
  return {
    resolved: before.hold_id === null ? undefined : { id: before.hold_id, amount: before.held },
    placed: after.hold_id === null ? undefined : { id: after.hold_id, amount: after.held },
  }
}

/**
 * Locks a transaction, applies `change`, writes the result, and returns it. Throws 404 if the transaction does not exist.
 */
export async function changeCardTransaction(
  { caller, db, events }: Pick<Context, 'caller' | 'db' | 'events'>,
  id: string,
  type: Parameters<typeof writeChange>[3],
  change: (row: CardTransactionRow) => CardTransactionRow,
): Promise<CardTransactionRow> {
  const before = await lockCardTransaction(db, caller.space, id)
  if (!before) throw notFound()
  const after = change(before)
  await writeChange({ db, space: caller.space, events }, before, after, type)
  return after
}
