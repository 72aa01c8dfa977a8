/** The network's settlement report: what it settled on each day, for reconciliation. */
import { writeFileSync } from 'node:fs'
import {
  type Interchange,
  type LineAmount,
  linesOfClearing,
  linesOfRefund,
  NO_INTERCHANGE,
} from '../../money/settlement-lines/amounts.ts'
import { type Rates, selectInterchange } from '../../money/settlement-lines/interchange.ts'
import type { Environment } from '../../platform/environment.ts'
import type { FiledMessage } from './clearing-file.ts'

/** Counts and cents of a day and an interchange category. The network knows no card programs. */
export interface SettlementReportRow {
  readonly business_date: string
  readonly environment: Environment
  readonly interchange_category: string
  readonly clearings_count: number
  readonly clearings_amount: number
  readonly refunds_count: number
  readonly refunds_amount: number
  readonly interchange_amount: number
  readonly fees_amount: number
}

export interface SettlementReport {
  /** Settles a message, once. Refunds follow the clearings of their transaction. */
  add(sent: FiledMessage): void
  rows(): readonly SettlementReportRow[]
  /** Writes the rows as JSON. Blocks. */
  write(path: string): void
}

interface Settling extends Interchange {
  readonly cleared: number
  readonly refunded: number
}

const sumOf = (lines: readonly LineAmount[], type: LineAmount['type']) =>
  lines.reduce((sum, line) => (line.type === type ? sum + line.amount : sum), 0)

/** @param rates of the network, which the service must have too. */
export function createSettlementReport(environment: Environment, rates: Rates): SettlementReport {
  const transactions = new Map<string, Settling>()
  const rows = new Map<string, SettlementReportRow>()

  const settle = ({ kind, message }: FiledMessage): void => {
    const { transaction_id, amount, merchant, sent_at } = message
    const before = transactions.get(transaction_id) ?? { ...NO_INTERCHANGE, cleared: 0, refunded: 0 }
    const entryMethod = kind === 'clear' ? (message.entry_method ?? null) : null
    const rate = selectInterchange(rates, {
      categoryCode: merchant.category_code,
      entryMethod,
      country: merchant.country ?? null,
    })
    const isClearing = kind === 'clear'
    const after = {
      cleared: before.cleared + (isClearing ? amount : 0),
      refunded: before.refunded + (isClearing ? 0 : amount),
    }
    const lines = isClearing
      ? linesOfClearing(amount, rate, rates.networkFee, before, after)
      : linesOfRefund(amount, before, after)
    const interchange = sumOf(lines, 'interchange')
    const more = lines.reduce((sum, { interchange_earned = 0 }) => sum + interchange_earned, 0)
    const category = isClearing ? rate.id : before.category
    const earned = before.earned + more
    const returned = before.returned + more - interchange
    transactions.set(transaction_id, { ...after, earned, returned, category })
    count(sent_at.slice(0, 10), category, (row) => ({
      ...row,
      clearings_count: row.clearings_count + (isClearing ? 1 : 0),
      clearings_amount: row.clearings_amount + (isClearing ? amount : 0),
      refunds_count: row.refunds_count + (isClearing ? 0 : 1),
      refunds_amount: row.refunds_amount + (isClearing ? 0 : amount),
      interchange_amount: row.interchange_amount + interchange,
      fees_amount: row.fees_amount - sumOf(lines, 'network_fee'),
    }))
  }
  const count = (
    business_date: string,
    interchange_category: string,
    change: (row: SettlementReportRow) => SettlementReportRow,
  ) => {
    const key = `${business_date} ${interchange_category}`
    const nothing = { clearings_count: 0, clearings_amount: 0, refunds_count: 0, refunds_amount: 0 }
    const empty = { ...nothing, interchange_amount: 0, fees_amount: 0 }
    rows.set(key, change(rows.get(key) ?? { business_date, environment, interchange_category, ...empty }))
  }
  const all = () => [...rows.values()]
  return {
    add: settle,
    rows: all,
    write: (path) => writeFileSync(path, `${JSON.stringify({ rows: all() }, null, 2)}\n`),
  }
}
