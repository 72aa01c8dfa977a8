/** Settlements and their lines, computed a second time from the card transactions. */
import type { Merchant } from '../merchant.ts'
import { type Evidence, rowsOf } from './evidence.ts'
import { fail, mustEqual } from './must.ts'

interface LineRow {
  readonly id: string
  readonly settlement_id: string
  readonly type: 'card_transaction' | 'card_refund' | 'program_funding' | 'interchange' | 'network_fee'
  readonly amount: number
  readonly source_id: string
  readonly ledger_entry_id: string
  readonly created: number
}

interface SettlementRow {
  readonly id: string
  readonly status: string
  readonly period_start: number
  readonly period_end: number
  readonly transaction_amount: number
  readonly interchange_amount: number
  readonly fees_amount: number
  readonly net_amount: number
  readonly lines_count: number
  /** When it moves to its next status; null if it does not. */
  readonly due: number | null
}

interface TransactionRow {
  readonly id: string
  readonly cleared: number
  readonly refunded: number
}

/** Shares of a cleared amount, in basis points: what an installation has without settings. */
const INTERCHANGE = 150
const FEE = 10

const DAY_MS = 86_400_000

/** A settlement moves within this time, and one late poll. */
const SOON_MS = 2 * 3_600_000

/** Half to even. Amounts are small enough for numbers. */
function shareOf(amount: number, numerator: number, denominator: number): number {
  const [whole, rest] = [Math.floor((amount * numerator) / denominator), (amount * numerator) % denominator]
  return 2 * rest > denominator || (2 * rest === denominator && whole % 2 === 1) ? whole + 1 : whole
}

const sumOf = (lines: readonly LineRow[], ...types: readonly LineRow['type'][]) =>
  lines
    .filter(({ type }) => types.length === 0 || types.includes(type))
    .reduce((sum, { amount }) => sum + amount, 0)

/** Each settlement has its lines, each line its source, and each transaction the lines of what was cleared and refunded. */
export async function settlementsAreRight(evidence: Evidence, merchant: Merchant): Promise<void> {
  const settlements = await rowsOf<SettlementRow>(
    evidence,
    'sandbox',
    merchant,
    'settlements',
    'period_start',
  )
  const lines = await rowsOf<LineRow>(evidence, 'sandbox', merchant, 'settlement_lines')
  const transactions = await rowsOf<TransactionRow>(evidence, 'sandbox', merchant, 'card_transactions')
  const entries = await rowsOf<{ id: string; cause: string }>(evidence, 'sandbox', merchant, 'ledger_entries')
  const causes = new Map(entries.map(({ id, cause }) => [id, cause]))
  for (const [index, settlement] of settlements.entries()) {
    const { id, status, period_start, period_end, due, ...totals } = settlement
    const own = lines.filter(({ settlement_id }) => settlement_id === id)
    mustEqual(
      {
        transaction_amount: totals.transaction_amount,
        interchange_amount: totals.interchange_amount,
        fees_amount: totals.fees_amount,
        net_amount: totals.net_amount,
        lines_count: totals.lines_count,
      },
      {
        transaction_amount: sumOf(own, 'card_transaction', 'card_refund'),
        interchange_amount: sumOf(own, 'interchange'),
        fees_amount: 0 - sumOf(own, 'network_fee'),
        net_amount: sumOf(own),
        lines_count: own.length,
      },
      `the totals of settlement ${id}`,
    )
    if (period_end !== period_start + DAY_MS || period_start % DAY_MS !== 0)
      fail(`settlement ${id} is not of one day`)
    if (period_start < (settlements[index - 1]?.period_end ?? 0))
      fail(`settlement ${id} begins before the last one ends`)
    if ((due === null) !== (status === 'settled' || status === 'failed'))
      fail(`settlement ${id} is ${status}, and moves at ${due}`)
    if (due !== null && due < evidence.now + merchant.aheadSeconds * 1000 - evidence.lateMs - SOON_MS)
      fail(`settlement ${id} is ${status}, and should have moved at ${new Date(due).toISOString()}`)
    if (status === 'open' && index < settlements.length - 1) fail(`settlement ${id} is open after its day`)
    if (own.some(({ created }) => created < period_start || created >= period_end))
      fail(`settlement ${id} has a line of another day`)
  }
  for (const { ledger_entry_id, source_id, id } of lines)
    if (causes.get(ledger_entry_id)?.split('/')[0] !== source_id)
      fail(`line ${id} has no entry of its transaction`)
  for (const { id, cleared, refunded } of transactions) {
    const own = lines.filter(({ source_id }) => source_id === id)
    mustEqual(sumOf(own, 'card_transaction'), 0 - cleared, `what settlements have of the clearings of ${id}`)
    mustEqual(sumOf(own, 'card_refund'), refunded, `what settlements have of the refunds of ${id}`)
    mustEqual(sumOf(own, 'program_funding'), cleared - refunded, `what funds the settlements of ${id}`)
    const earned = shareOf(cleared, INTERCHANGE, 10_000)
    const kept = cleared === 0 ? 0 : earned - shareOf(earned, refunded, cleared)
    mustEqual(sumOf(own, 'interchange'), kept, `the interchange of ${id}`)
    mustEqual(sumOf(own, 'network_fee'), 0 - shareOf(cleared, FEE, 10_000), `the fee of ${id}`)
  }
}
