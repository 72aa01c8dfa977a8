/** The network's settlement report: what it settled on each day, for reconciliation. */
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

interface Settling extends Interchange {
  readonly cleared: number
  readonly refunded: number
}

const sumOf = (lines: readonly LineAmount[], type: LineAmount['type']) =>
  lines.reduce((sum, line) => (line.type === type ? sum + line.amount : sum), 0)

/**
 * Returns what the network settles for clearings and refunds, each of them once.
 * @param rates of the network, which the service must have too.
 */
export function settle(
  environment: Environment,
  rates: Rates,
  messages: readonly FiledMessage[],
): readonly SettlementReportRow[] {
  const transactions = new Map<string, Settling>()
  const rows = new Map<string, SettlementReportRow>()
  const sentAt = ({ message }: FiledMessage) => Date.parse(message.sent_at)
  // A refund follows the clearings of its transaction, although it may arrive before them.
  for (const { kind, message } of messages.toSorted((a, b) => sentAt(a) - sentAt(b))) {
    const { transaction_id, amount, merchant, sent_at } = message
    const before = transactions.get(transaction_id) ?? { ...NO_INTERCHANGE, cleared: 0, refunded: 0 }
    const [cleared, refunded] = kind === 'clear' ? [amount, 0] : [0, amount]
    const amounts = { cleared: before.cleared + cleared, refunded: before.refunded + refunded }
    const rate = selectInterchange(rates, {
      categoryCode: merchant.category_code,
      entryMethod: kind === 'clear' ? (message.entry_method ?? null) : null,
      country: merchant.country ?? null,
    })
    const lines =
      kind === 'clear'
        ? linesOfClearing(amount, rate, rates.networkFee, before, amounts)
        : linesOfRefund(amount, before, amounts)
    const interchange = sumOf(lines, 'interchange')
    const earned = lines.reduce((sum, line) => sum + (line.interchange_earned ?? 0), 0)
    const interchange_category = kind === 'clear' ? rate.id : before.category
    transactions.set(transaction_id, {
      ...amounts,
      earned: before.earned + earned,
      returned: before.returned + earned - interchange,
      category: interchange_category,
    })
    const business_date = sent_at.slice(0, 10)
    const key = `${business_date} ${interchange_category}`
    const row = rows.get(key) ?? { business_date, environment, interchange_category, ...NOTHING }
    rows.set(key, {
      ...row,
      clearings_count: row.clearings_count + (kind === 'clear' ? 1 : 0),
      clearings_amount: row.clearings_amount + cleared,
      refunds_count: row.refunds_count + (kind === 'clear' ? 0 : 1),
      refunds_amount: row.refunds_amount + refunded,
      interchange_amount: row.interchange_amount + interchange,
      fees_amount: row.fees_amount - sumOf(lines, 'network_fee'),
    })
  }
  return [...rows.values()]
}

const NOTHING = {
  ...{ clearings_count: 0, clearings_amount: 0, refunds_count: 0, refunds_amount: 0 },
  ...{ interchange_amount: 0, fees_amount: 0 },
}
