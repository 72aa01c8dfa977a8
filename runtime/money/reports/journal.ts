/** The report that accounting software imports: each ledger transaction as two lines, a debit and a credit. */
import { writeInstant } from '../../platform/instants.ts'
import { type AccountStep, InconsistentLedger, type LedgerEntry, walkAccount } from '../ledger/history.ts'
import { CURRENCY, type ReportLine, type RowSource } from './rows.ts'

const LINES = 2_000

/** What the memo says, by the prefix of the cause. */
const MEMOS: Readonly<Record<string, string>> = {
  ctx: 'Card transaction',
  dsp: 'Dispute',
  len: 'Funding',
  po: 'Payout',
  stl: 'Settlement',
}

/**
 * All transactions, in the order of their time. The accounts are read side by side. Both entries of a transaction have the
 * same time, so only few entries wait for their counterpart.
 */
export const journal: RowSource = {
  columns: ['date', 'account', 'debit', 'credit', 'currency', 'reference', 'memo'],
  async *steps({ db, space, span }) {
    const readers = Object.keys(span.until).map((account) => entriesOf(walkAccount(db, space, account, span)))
    const heads = await Promise.all(readers.map((reader) => reader.next()))
    const waiting = new Map<string, LedgerEntry>()
    let rows: ReportLine[] = []
    for (;;) {
      const first = heads.reduce((least, { value }, index) => {
        const other = heads[least]?.value
        return value && (!other || value.created < other.created) ? index : least
      }, -1)
      const entry = heads[first]?.value
      if (!entry) break
      heads[first] = await readers[first]!.next()
      const counterpart = waiting.get(entry.cause)
      waiting.set(entry.cause, entry)
      if (!counterpart) continue
      waiting.delete(entry.cause)
      rows.push(...linesOf(entry, counterpart))
      if (rows.length < LINES) continue
      yield { opening: 0n, rows }
      rows = []
    }
    yield { opening: 0n, rows }
    for (const cause of waiting.keys()) throw new InconsistentLedger(`${cause} has a single entry`)
  },
}

async function* entriesOf(steps: AsyncIterable<AccountStep>): AsyncGenerator<LedgerEntry, undefined> {
  for await (const { entries } of steps) yield* entries
}

function linesOf(one: LedgerEntry, other: LedgerEntry): readonly ReportLine[] {
  if (one.amount + other.amount !== 0n) throw new InconsistentLedger(`${one.cause} does not add up to 0`)
  return one.amount > 0n ? [lineOf(one), lineOf(other)] : [lineOf(other), lineOf(one)]
}

function lineOf({ account_id, amount, cause, created }: LedgerEntry): ReportLine {
  const [reference, step] = cause.split('/')
  const memo = MEMOS[cause.slice(0, cause.indexOf('_'))] ?? 'Correction'
  return {
    date: writeInstant(created).slice(0, 10),
    account: account_id,
    debit: amount > 0n ? writeDollars(amount) : '',
    credit: amount < 0n ? writeDollars(-amount) : '',
    currency: CURRENCY,
    reference: reference!,
    // The steps of other causes are numbers.
    memo: memo === MEMOS.stl && step ? `${memo}: ${step.replaceAll('_', ' ')}` : memo,
    amount,
  }
}

/** Writes cents as a decimal number, for example `12.50`. */
export function writeDollars(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
