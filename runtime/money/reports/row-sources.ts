/**
 * Produces report rows step by step. Each step reads separately, because the entries in a span and their settlement
 * lines never change.
 */
import { filters } from '../../../generated/canonical/records.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { isId } from '../../platform/ids.ts'
import { writeInstant } from '../../platform/instants.ts'
import { type LedgerEntry, walkAccount } from '../ledger/history.ts'
import { type PayoutRow, readPayouts } from '../payouts/queries.ts'
import { journal } from './journal.ts'
import type { ReportType } from './queries.ts'
import { CURRENCY, type ReportLine, type RowSource } from './rows.ts'
import {
  InconsistentLines,
  isWithin,
  lineSpelling,
  type ReportedSettlement,
  readNetBefore,
  walkLines,
  walkSettlements,
} from './settlements.ts'

type Schemas = components['schemas']

/** Returns the object that caused an entry, for example `ctx_…` for the cause `ctx_…/2`. */
const sourceOf = ({ cause }: LedgerEntry) => cause.split('/')[0]!

/**
 * All ledger entries, account by account. The entries of each transaction add up to zero, and so do the opening and
 * closing balances.
 */
const ledgerEntries: RowSource = {
  columns: ['id', 'created', 'account', 'source_id', 'amount', 'previous_balance', 'balance', 'currency'],
  async *steps({ db, space, span }) {
    for (const account of Object.keys(span.until).toSorted()) {
      for await (const { opening, entries } of walkAccount(db, space, account, span)) {
        yield { opening, rows: entries.map(entryRow) }
      }
    }
  },
}

const entryRow = (entry: LedgerEntry): ReportLine => ({
  id: entry.id,
  created: writeInstant(entry.created),
  account: entry.account_id,
  source_id: sourceOf(entry),
  amount: entry.amount,
  previous_balance: entry.previous,
  balance: entry.current,
  currency: CURRENCY,
})

/** Row types of movements on `program_funds`, by the prefix of their cause and by direction. */
const MOVEMENTS: Readonly<Record<string, readonly [into: string, outOf: string]>> = {
  ctx: ['card_refund', 'card_transaction'],
  dsp: ['dispute', 'dispute_reversal'],
  len: ['funding', 'funding'],
  stl: ['settlement', 'settlement'],
}

interface Movement {
  entries: number
  credits: bigint
  debits: bigint
}

/** The movements of the money that cards can spend, with one row for each type. */
const balanceSummary: RowSource = {
  columns: ['type', 'entries', 'credits', 'debits', 'amount', 'currency'],
  async *steps({ db, space, span }) {
    const movements = new Map<string, Movement>()
    for await (const { opening, entries } of walkAccount(db, space, 'program_funds', span)) {
      for (const entry of entries) add(movements, typeOf(entry), entry.amount)
      yield { opening, rows: [] }
    }
    const rows = [...movements]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([type, movement]) => ({
        type,
        ...movement,
        amount: movement.credits + movement.debits,
        currency: CURRENCY,
      }))
    yield { opening: 0n, rows }
  },
}

function typeOf({ cause, amount }: LedgerEntry): string {
  const [into, outOf] = MOVEMENTS[cause.slice(0, cause.indexOf('_'))] ?? ['adjustment', 'adjustment']
  return amount > 0 ? into : outOf
}

function add(movements: Map<string, Movement>, type: string, amount: bigint): void {
  const movement = movements.get(type) ?? { entries: 0, credits: 0n, debits: 0n }
  movement.entries += 1
  movement[amount > 0 ? 'credits' : 'debits'] += amount
  movements.set(type, movement)
}

/** Everything that made money payable or paid it out, with one row for each movement. */
const payoutReconciliation: RowSource = {
  columns: [
    ...[
      'id',
      'created',
      'type',
      'settlement_id',
      'payout_id',
      'payout_status',
      'destination_id',
      'payout_currency',
    ],
    ...['amount', 'currency'],
  ],
  async *steps({ db, space, span }) {
    for await (const { opening, entries } of walkAccount(db, space, 'settlement_payable', span)) {
      const ids = new Set(entries.map(sourceOf).filter((id) => isId('po', id)))
      const payouts = new Map((await readPayouts(db, space, [...ids])).map((payout) => [payout.id, payout]))
      yield { opening, rows: entries.map((entry) => payableRow(entry, payouts.get(sourceOf(entry)))) }
    }
  },
}

function payableRow(entry: LedgerEntry, payout: PayoutRow | undefined): ReportLine {
  const source = sourceOf(entry)
  const type = payout === undefined ? 'settlement' : entry.amount < 0 ? 'payout' : 'payout_reversal'
  return {
    id: entry.id,
    created: writeInstant(entry.created),
    type,
    settlement_id: payout ? payout.settlement_id : source,
    payout_id: payout?.id ?? null,
    payout_status: payout?.status ?? null,
    destination_id: payout?.destination_id ?? null,
    payout_currency: payout?.currency ?? null,
    amount: entry.amount,
    currency: CURRENCY,
  }
}

/** The settlement lines whose ledger entries are in the span, settlement by settlement. */
const settlementReconciliation: RowSource = {
  columns: [
    ...[
      'settlement_id',
      'settlement_status',
      'id',
      'created',
      'type',
      'source_id',
      'ledger_entry_id',
      'amount',
    ],
    'currency',
  ],
  async *steps({ db, space, span, version }) {
    const spell = lineSpelling(version)
    yield { opening: await readNetBefore(db, space, span.after), rows: [] }
    for await (const settlement of walkSettlements(db, space, span)) {
      let net = 0n
      for await (const lines of walkLines(db, space, settlement.id)) {
        let opening = 0n
        for (const line of lines) {
          net += BigInt(line.amount)
          if (isWithin(span.after, line)) opening += BigInt(line.amount)
        }
        const own = lines.filter((line) => isWithin(span.until, line) && !isWithin(span.after, line))
        yield { opening, rows: spell(own).map((line) => lineRow(settlement, line)) }
      }
      if (settlement.status !== 'open' && net !== BigInt(settlement.net_amount)) {
        throw new InconsistentLines(
          `the lines of ${settlement.id} add up to ${net}, but its net amount is ${settlement.net_amount}`,
        )
      }
    }
  },
}

function lineRow(settlement: ReportedSettlement, line: Schemas['SettlementLine']): ReportLine {
  return {
    settlement_id: settlement.id,
    settlement_status: settlement.status,
    id: line.id,
    created: line.created,
    type: line.type,
    source_id: line.source_id,
    ledger_entry_id: line.ledger_entry_id,
    amount: line.amount,
    currency: CURRENCY,
  }
}

/** Both balances that the API lists: each begins with its opening balance, and then has the totals of each kind. */
const statement: RowSource = {
  columns: ['account', 'kind', 'entries', 'credits', 'debits', 'amount', 'balance', 'currency'],
  async *steps({ db, space, span }) {
    for (const account of filters.listBalanceEntries.account) {
      const movements = new Map<string, Movement>()
      let balance = 0n
      for await (const { opening, entries } of walkAccount(db, space, account, span)) {
        for (const { kind, amount } of entries) add(movements, kind, amount)
        balance += opening
        yield { opening, rows: [] }
      }
      yield { opening: 0n, rows: statementRows(account, balance, movements) }
    }
  },
}

const UNMOVED: Movement = { entries: 0, credits: 0n, debits: 0n }

function statementRows(
  account: string,
  opening: bigint,
  movements: ReadonlyMap<string, Movement>,
): readonly ReportLine[] {
  let balance = opening
  const row = (kind: string, movement: Movement) => {
    const amount = movement.credits + movement.debits
    balance += amount
    return { account, kind, ...movement, amount, balance, currency: CURRENCY }
  }
  return [
    row('opening_balance', UNMOVED),
    ...[...movements.keys()].toSorted().map((kind) => row(kind, movements.get(kind)!)),
    row('closing_balance', UNMOVED),
  ]
}

export const ROW_SOURCES: Readonly<Record<ReportType, RowSource>> = {
  balance_summary: balanceSummary,
  ledger_entries: ledgerEntries,
  settlement_reconciliation: settlementReconciliation,
  payout_reconciliation: payoutReconciliation,
  statement,
  journal,
}
