/**
 * Treasury reports beside the same rows computed from `GET /v1/events` alone. What events do not say, and is not compared or is
 * taken from elsewhere:
 *
 * - Test funds have no event: that they came, how much and when is taken from the request. They come first.
 * - Entries of the ledger are named by lines of settlements only: the identifiers of the others are not compared.
 * - Events of settlements carry their first 100 lines, and the lines that an open one has got since are told when it closes: all
 *   have closed here, with fewer.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reportWorker } from '../../runtime/money/reports/job.ts'
import { openReportLinks } from '../../runtime/tenants/addresses/report-links.ts'
import { CARD_VERSIONS, type CardVersion } from '../cards/fixtures.ts'
import { type Account, type Answered, openAccount, perform } from '../cards/money-account.ts'
import type { Operation } from '../cards/money-model.ts'
import { operations } from '../cards/money-operations.ts'
import { walkAtOnce } from '../cards/money-walks.ts'
import { useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import {
  balanceSummary,
  type Event,
  ledgerEntries,
  payoutReconciliation,
  settlementReconciliation,
  transfersOf,
} from './from-events.ts'

const service = useService({ guarded: false, keepsTime: true })

const FUNDED = 100_000

/** Something of each kind that reports tell of; what is drawn comes before the end. */
const BEFORE: readonly Operation[] = [
  { kind: 'fund', amount: FUNDED },
  { kind: 'destination', isListed: false },
  { kind: 'force_post', card: 0, amount: 20_000 },
  { kind: 'authorize', card: 0, amount: 9000, reply: 'approve' },
  { kind: 'clearing', pick: 1, amount: 9001, final: true },
  { kind: 'refund', pick: 0, amount: 333 },
  { kind: 'dispute', pick: 0, amount: 5000 },
  { kind: 'submit', pick: 0 },
  { kind: 'seconds', seconds: 2 * 86_400 },
  { kind: 'chain', pick: 0, state: 'paid' },
  { kind: 'return_payout', pick: 0 },
  { kind: 'payout', pick: 0, amount: 50 },
  { kind: 'payout', pick: 0, amount: 20 },
  { kind: 'cancel_payout', pick: 1 },
  { kind: 'lost', pick: 0 },
]

const TYPES = [
  'balance_summary',
  'ledger_entries',
  'settlement_reconciliation',
  'payout_reconciliation',
] as const

type Row = Readonly<Record<string, string | number | null>>

type Reports = Record<(typeof TYPES)[number], Report>

interface Report {
  readonly rows: readonly Row[]
  readonly opening: number
  readonly closing: number
}

/** One report of each type, over everything. */
async function makeAll({ secret }: Account, version: CardVersion): Promise<Reports> {
  const headers = {
    ...{ Authorization: `Bearer ${secret}`, 'Service-Version': version, 'Content-Type': 'application/json' },
  }
  const ask = async (path: string, body?: object): Promise<Answered['body']> => {
    const key = { 'Idempotency-Key': crypto.randomUUID() }
    const init = body
      ? { method: 'POST', headers: { ...headers, ...key }, body: JSON.stringify(body) }
      : { headers }
    return (await fetch(service.urls.sandbox + path, init)).json()
  }
  const at = (ms: number) => new Date(ms).toISOString()
  const interval = {
    interval_start: at(service.clock.now - 86_400_000),
    interval_end: at(service.clock.now + 1),
  }
  service.clock.now += 1
  const asked = await Promise.all(
    TYPES.map((type) => ask('/v1/treasury_reports', { type, currency: 'usd', ...interval })),
  )
  const parts = {
    ...{ database: service.database, wakeUpChannel: { publish: () => {} } },
    clock: { machine: () => service.clock.now, service: () => service.clock.now },
    log: strictLog,
    links: openReportLinks(service.database.pepper, service.urls),
  }
  for (const _ of TYPES) await reportWorker(parts).runOnce() // one of a tenant at a time
  const made = await Promise.all(
    asked.map(async ({ id, type }): Promise<[string, Report]> => {
      const { result, status } = await ask(`/v1/treasury_reports/${id}`)
      expect([type, status]).toEqual([type, 'succeeded'])
      const { url } = result.files.find(({ format }: { format: string }) => format === 'json')
      return [type, { ...result, rows: await (await fetch(url)).json() }]
    }),
  )
  return Object.fromEntries(made) as Reports
}

const sorted = (rows: readonly object[]) =>
  rows.map((row) => JSON.stringify(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)))).toSorted()

test.each(CARD_VERSIONS)(
  'each report says what the events of %s say',
  { timeout: 120_000 },
  async (version) => {
    const agrees = async (drawn: readonly Operation[]) => {
      const account = await openAccount(service, { version })
      for (const each of [...BEFORE, ...drawn.filter(({ kind }) => kind !== 'fund')])
        await perform(account, each)
      await walkAtOnce(account)
      const events: Event[] = await account.list('/v1/events')
      const created = new Date(service.clock.now).toISOString()
      const transfers = transfersOf(events, { amount: FUNDED, created })
      const reports = await makeAll(account, version)
      for (const { rows, opening, closing } of Object.values(reports))
        expect(closing).toBe(rows.reduce((sum, { amount }) => sum + Number(amount), opening))
      expect(reports.balance_summary.rows).toEqual(balanceSummary(transfers))
      expect(reports.settlement_reconciliation.rows).toEqual(settlementReconciliation(events))
      const payable = reports.payout_reconciliation.rows.map(({ id: _, ...row }) => row)
      expect(sorted(payable)).toEqual(sorted(payoutReconciliation(events, transfers)))
      const entries = reports.ledger_entries.rows
      const unnamed = entries.map(({ id: _, ...row }) => ({
        ...row,
        ...(String(row.source_id).startsWith('len_') && { source_id: 'funding' }),
      }))
      expect(sorted(unnamed)).toEqual(sorted(ledgerEntries(transfers)))
      const sources = new Map(entries.map(({ id, source_id }) => [id, source_id]))
      for (const line of settlementReconciliation(events))
        expect(sources.get(line.ledger_entry_id)).toBe(line.source_id)
    }
    await fc.assert(fc.asyncProperty(operations(40), agrees), { numRuns: 2, endOnFailure: true })
  },
)
