/** What a merchant read of its money, compared with the rows. */
import { ENVIRONMENTS } from '../../../runtime/platform/environment.ts'
import type { Merchant } from '../merchant.ts'
import { type Evidence, rowsOf } from './evidence.ts'
import { mustEqual } from './must.ts'

type Row = Readonly<Record<string, unknown>> & { readonly id: string; readonly created: number }

const timeOf = (at: unknown) => (typeof at === 'number' ? new Date(at).toISOString() : null)

/** Cents of the past: entries and holds before an instant. */
function balanceAt(
  at: number,
  entries: readonly EntryRow[],
  holds: readonly HoldRow[],
): { readonly available: number; readonly held: number; readonly payable: number } {
  // Entries are numbered by their commits: those behind the first one of the instant or later are not counted.
  const sum = (account: string) => {
    const own = entries.filter(({ account_id }) => account_id === account)
    const end = own.findIndex(({ created }) => created >= at)
    return own.slice(0, end < 0 ? own.length : end).reduce((total, { amount }) => total + amount, 0)
  }
  const held = holds.reduce(
    (total, { amount, created, ended }) =>
      created < at && (ended === null || ended >= at) ? total + amount : total,
    0,
  )
  return { available: sum('program_funds') - held, held, payable: sum('settlement_payable') }
}

interface EntryRow extends Row {
  readonly account_id: string
  readonly amount: number
}

interface HoldRow {
  readonly amount: number
  readonly created: number
  readonly ended: number | null
}

const newestFirst = <T extends Row>(rows: readonly T[]) =>
  rows.toSorted((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1))

/** Each list shows every row in order, with its values, and balances of the past follow from the rows. */
export async function moneyIsShown(evidence: Evidence, merchant: Merchant): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    const read = merchant.money?.[environment]
    if (!read) return
    const of = <T = Row>(table: string, order = 'id') =>
      rowsOf<T>(evidence, environment, merchant, table, order)
    const place = `of ${merchant.name} in ${environment}`
    const lines = await of('settlement_lines')
    const lineOf = (row: Row) => ({
      ...{ id: row.id, object: 'settlement_line', settlement_id: row.settlement_id, type: row.type },
      ...{
        amount: row.amount,
        currency: 'usd',
        source_id: row.source_id,
        ledger_entry_id: row.ledger_entry_id,
      },
      created: timeOf(row.created),
    })
    const own = (id: unknown) => lines.filter(({ settlement_id }) => settlement_id === id)
    mustEqual(
      read.settlements,
      newestFirst(await of('settlements')).map((row) => ({
        ...{
          id: row.id,
          object: 'settlement',
          status: row.status,
          currency: 'usd',
          payout_id: row.payout_id,
        },
        ...{ period_start: timeOf(row.period_start), period_end: timeOf(row.period_end) },
        ...{ transaction_amount: row.transaction_amount, interchange_amount: row.interchange_amount },
        ...{ fees_amount: row.fees_amount, net_amount: row.net_amount, lines_count: row.lines_count },
        lines: newestFirst(own(row.id)).toReversed().slice(0, 100).map(lineOf),
        ...{ created: timeOf(row.created), updated: timeOf(row.updated) },
      })),
      `the settlements ${place}`,
    )
    mustEqual(
      read.lines,
      read.settlements.flatMap(({ id }) => newestFirst(own(id)).map(lineOf)),
      `the settlement lines ${place}`,
    )
    mustEqual(
      read.payouts,
      newestFirst(await of('payouts')).map((row) => ({
        ...{ id: row.id, object: 'payout', amount: row.amount, currency: row.currency, status: row.status },
        ...{
          destination_id: row.destination_id,
          settlement_id: row.settlement_id,
          failure_code: row.failure_code,
        },
        chain: row.chain_id && {
          ...{ id: row.chain_id, transaction_hash: row.transaction_hash, confirmations: row.confirmations },
        },
        ...{ arrival_date: row.arrival_date, metadata: row.metadata },
        ...{ created: timeOf(row.created), updated: timeOf(row.updated) },
      })),
      `the payouts ${place}`,
    )
    const defaults = await of<{ destination_id: string }>('payout_defaults', 'tenant_id')
    mustEqual(
      read.destinations,
      newestFirst(await of('payout_destinations')).map((row) => ({
        ...{
          id: row.id,
          object: 'payout_destination',
          type: row.type,
          status: row.status,
          address: row.address,
        },
        ...{ bank_account: row.bank_account, holder_name: row.holder_name, metadata: row.metadata },
        ...{ default: defaults[0]?.destination_id === row.id, active_at: timeOf(row.active_at) },
        ...{ created: timeOf(row.created), updated: timeOf(row.updated) },
      })),
      `the destinations ${place}`,
    )
    const ended = new Map(
      (await of<{ hold_id: string; created: number }>('ledger_resolutions', 'hold_id')).map((row) => [
        row.hold_id,
        row.created,
      ]),
    )
    const holds = (await of<HoldRow & Row>('ledger_holds')).map(({ id, amount, created }) => ({
      ...{ amount, created, ended: ended.get(id) ?? null },
    }))
    const entries = await of<EntryRow>('ledger_entries', 'account_id, version')
    // After a fault, an entry can be written later than one with a greater time, and counts from then on.
    for (const [at, found] of evidence.faults === 0 ? read.balances : []) {
      const wanted = { object: 'balance', currency: 'usd', ...balanceAt(instantOf(at), entries, holds) }
      mustEqual(found, wanted, `the balance at ${at} ${place}`)
    }
  }
}

/** A fraction of a millisecond is after the millisecond. */
const instantOf = (text: string) =>
  Date.parse(text.replace(/(\.\d{3})\d+Z/, '$1Z')) + (/\.\d{3}\d*[1-9]\d*Z/.test(text) ? 1 : 0)
