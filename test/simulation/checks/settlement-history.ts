/** The stages of settlements, in the order of their events: when each began, what was posted, and which payout followed. */
import type { Merchant } from '../merchant.ts'
import { type Evidence, rowsOf } from './evidence.ts'
import { fail, mustEqual } from './must.ts'

interface SettlementRow {
  readonly id: string
  readonly status: string
  readonly period_start: number
  readonly period_end: number
  readonly interchange_amount: number
  readonly fees_amount: number
  readonly net_amount: number
  readonly payout_id: string | null
  readonly due: number | null
  readonly created: number
  readonly updated: number
}

interface Told {
  readonly type: string
  readonly created: number
  readonly sequence: number
  readonly data: Readonly<
    Record<
      string,
      { readonly id: string; readonly status: string; readonly created: string; readonly updated: string }
    >
  >
}

interface EntryRow {
  readonly cause: string
  readonly account_id: string
  readonly amount: number
  readonly current: number
  readonly version: number
  readonly created: number
}

const HOUR_MS = 3_600_000

/** Each settlement went through its stages in time, was posted once it was settled, and was paid out if it could be. */
export async function settlementsMoveInTime(evidence: Evidence, merchant: Merchant): Promise<void> {
  const rows = await rowsOf<SettlementRow>(evidence, 'sandbox', merchant, 'settlements', 'period_start')
  const entries = await rowsOf<EntryRow>(
    evidence,
    'sandbox',
    merchant,
    'ledger_entries',
    'account_id, version',
  )
  const lines = await rowsOf<{ settlement_id: string; created: number }>(
    evidence,
    'sandbox',
    merchant,
    'settlement_lines',
  )
  const events = await rowsOf<Omit<Told, 'data'> & { body: string }>(
    evidence,
    'sandbox',
    merchant,
    'events',
    'sequence',
  )
  const told = events.map(({ body, ...event }) => ({ ...event, data: JSON.parse(body).data as Told['data'] }))
  for (const row of rows) {
    const own = told.filter(
      ({ type, data }) => type.startsWith('settlement.') && data.settlement!.id === row.id,
    )
    const newest = lines
      .filter(({ settlement_id }) => settlement_id === row.id)
      .reduce((last, { created }) => Math.max(last, created), row.created)
    const began = stagesAreRight(row, own, newest, merchant)
    if (merchant.isCurrent) isTold(row, own, merchant)
    const settled = own.find(({ type }) => type === 'settlement.settled')
    isPosted(row, entries, settled, began)
    if (settled) isPaidOut(row, entries, settled, told, merchant)
  }
  const strange = entries.find(
    ({ cause }) =>
      cause.startsWith('stl_') && cause.includes('/') && !rows.some(({ id }) => cause.startsWith(id)),
  )
  if (strange) fail(`the ledger has ${strange.cause} of a settlement that does not exist`)
  await clockIsRight(evidence, merchant)
}

/** How far the clock of settlements is ahead at a time, at most. */
const aheadAt = ({ advances }: Merchant, at: number): number =>
  advances.reduce((most, { began, time }) => (began <= at ? Math.max(most, time - began) : most), 0)

const NEXT: Readonly<Record<string, readonly string[]>> = {
  open: ['pending'],
  pending: ['processing'],
  processing: ['settled', 'failed'],
  failed: ['processing'],
}

/** Checks each stage, and the row. Returns when the last stage began. */
function stagesAreRight(
  row: SettlementRow,
  own: readonly Told[],
  newest: number,
  merchant: Merchant,
): number {
  const { id, period_end, created: opened } = row
  const what = `settlement ${id} of ${merchant.name}`
  const [first, ...others] = own
  if (first?.type !== 'settlement.created') fail(`${what} begins with ${first?.type}`)
  mustEqual(Date.parse(first.data.settlement!.updated), opened, `the beginning of ${what}`)
  let [status, due, began] = ['open', period_end, opened]
  for (const { type, data, created } of others) {
    const now = type.split('.')[1]!
    const at = Date.parse(data.settlement!.updated)
    if (!NEXT[status]?.includes(now)) fail(`${what} is ${now} after ${status}`)
    mustEqual(data.settlement!.status, now, `what ${type} tells of ${what}`)
    if (merchant.isExact && at > created + aheadAt(merchant, created))
      fail(`${what} became ${now} before its time, ${new Date(at).toISOString()}`)
    if (now === 'failed') {
      if (!merchant.failures.some((failure) => failure.id === id && failure.at === at) || at > due + HOUR_MS)
        fail(`${what} failed at ${at}, which nobody asked for`)
    } else mustEqual(at, Math.max(due, newest), `when ${what} became ${now}`)
    ;[status, due, began] = [now, (now === 'failed' ? at : due) + HOUR_MS, at]
  }
  mustEqual(
    { status: row.status, due: row.due, updated: row.updated },
    {
      status,
      due: status === 'settled' ? null : due,
      updated: status === 'open' ? newest : Math.max(began, newest),
    },
    `the row of ${what}`,
  )
  return began
}

const EMPTY = {
  ...{ object: 'settlement', status: 'open', currency: 'usd', payout_id: null, lines: [], lines_count: 0 },
  ...{ transaction_amount: 0, interchange_amount: 0, fees_amount: 0, net_amount: 0 },
}

/** The first event tells of a settlement without lines, and the last one of a settled settlement tells what is shown. */
function isTold(
  { id, period_start, period_end, status }: SettlementRow,
  own: readonly Told[],
  merchant: Merchant,
) {
  const { created, updated, ...first } = own[0]!.data.settlement!
  const [start, end] = [period_start, period_end].map((at) => new Date(at).toISOString())
  mustEqual(
    first,
    { id, ...EMPTY, period_start: start, period_end: end },
    `settlement ${id}, as it was opened`,
  )
  mustEqual(updated, created, `when settlement ${id} was opened`)
  const shown = merchant.money?.sandbox.settlements.find((each) => each.id === id)
  if (shown?.status === 'settled' && status === 'settled')
    mustEqual(own.at(-1)!.data.settlement, shown, `what the last event tells of settlement ${id}`)
}

function isPosted(
  { id, interchange_amount, fees_amount, net_amount }: SettlementRow,
  entries: readonly EntryRow[],
  settled: Told | undefined,
  began: number,
): void {
  const posted = entries.filter(({ cause }) => cause.startsWith(`${id}/`))
  const movedTo = (account: string) =>
    posted.reduce((sum, { account_id, amount }) => (account_id === account ? sum + amount : sum), 0)
  const count = [interchange_amount, fees_amount, Math.min(0, net_amount)].filter(
    (amount) => amount !== 0,
  ).length
  mustEqual(
    {
      count: posted.length,
      interchange_revenue: movedTo('interchange_revenue'),
      network_fees: movedTo('network_fees'),
      program_funds: movedTo('program_funds'),
      settlement_payable: movedTo('settlement_payable'),
    },
    settled
      ? {
          count: 2 * count,
          interchange_revenue: 0 - interchange_amount,
          network_fees: fees_amount,
          program_funds: Math.min(0, net_amount),
          settlement_payable: Math.max(0, net_amount),
        }
      : {
          ...{ count: 0, interchange_revenue: 0, network_fees: 0, program_funds: 0, settlement_payable: 0 },
        },
    `what was posted for settlement ${id}, whose last stage began at ${began}`,
  )
  if (posted.some(({ created }) => Math.abs(created - settled!.created) > SLOW_MS))
    fail(`settlement ${id} was posted at another time than it was settled`)
}

/** Longest time between the moments in which a transaction looks at the clock. */
const SLOW_MS = 120_000

/** A settlement is paid out if there was an active default destination, and money. */
function isPaidOut(
  { id, net_amount, payout_id }: SettlementRow,
  entries: readonly EntryRow[],
  settled: Told,
  told: readonly Told[],
  merchant: Merchant,
): void {
  const place = told.findIndex(({ sequence }) => sequence === settled.sequence)
  const after = told[place + 1]
  const isTold = after?.type === 'payout.created' && after.data.payout?.id === payout_id
  if (isTold !== (payout_id !== null))
    fail(`settlement ${id} has the payout ${payout_id}, and ${after?.type} follows`)
  if (!merchant.isExact) return
  const last = entries.findLast(
    ({ account_id, cause }) => account_id === 'settlement_payable' && cause.startsWith(`${id}/`),
  )
  const destination = merchant.defaults.sandbox.findLast(({ at }) => at <= settled.created)?.id
  const statuses = told
    .slice(0, place)
    .filter(
      ({ type, data }) =>
        type.startsWith('payout_destination.') && data.payout_destination!.id === destination,
    )
  const isActive = statuses.at(-1)?.type === 'payout_destination.activated'
  const isPayable = net_amount > 0 && isActive && last!.current >= net_amount
  if (isPayable !== (payout_id !== null))
    fail(`settlement ${id} of ${net_amount} has the payout ${payout_id}, with ${last?.current} payable`)
}

/** The clock is as far ahead as the last move took it. */
async function clockIsRight(evidence: Evidence, merchant: Merchant): Promise<void> {
  const clocks = await rowsOf<{ offset_ms: number }>(
    evidence,
    'sandbox',
    merchant,
    'settlement_clocks',
    'tenant_id',
  )
  if (!merchant.isExact) return
  const { began, ended, time } = merchant.advances.at(-1) ?? { began: 0, ended: 0, time: 0 }
  const offset = clocks[0]?.offset_ms ?? 0
  if (time !== 0 && (time - offset < began || time - offset > ended))
    fail(
      `the clock of ${merchant.name} is ${offset} ms ahead, and was moved to ${new Date(time).toISOString()}`,
    )
}
