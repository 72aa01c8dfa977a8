/**
 * `npm run bench:settlement`: how fast a settlement closes and is reported, at 10,000 lines and at a million: what closing costs, rows of
 * reports a second, and the memory that a report takes. Sizes stand side by side in one run.
 *
 * Options: --sizes N,N (10000,1000000).
 */
import { parseArgs } from 'node:util'
import { type OpenDatabase, openDatabase } from '../../runtime/database/open/open-database.ts'
import { reportWorker } from '../../runtime/money/reports/job.ts'
import { insertReport, type ReportType, readReport } from '../../runtime/money/reports/queries.ts'
import { settlementWorker } from '../../runtime/money/settlements/job.ts'
import { firstIdAt } from '../../runtime/platform/ids.ts'
import { openReportLinks } from '../../runtime/tenants/addresses/report-links.ts'
import { strictLog } from '../support/strict-log.ts'
import { BENCH_PEPPER, startDatabase } from './bench-database.ts'
import { withScratch } from './scratch.ts'

const { values: options } = parseArgs({
  options: { sizes: { type: 'string', default: '10000,1000000' } },
})

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const DAY = Date.UTC(2026, 4, 1)

const id = (prefix: string, number: number) => `${prefix}_${String(number).padStart(26, '0')}`

// Four lines a clearing; entries of two accounts that follow on each other.
const FILL = [
  `INSERT INTO sandbox.settlement_clocks (tenant_id, offset_ms) SELECT $1, 0 WHERE $2 > 0`,
  `INSERT INTO sandbox.settlements (tenant_id, id, status, period_start, period_end, due, created, updated, lines_count, net_amount,
     interchange_amount, fees_amount, transaction_amount)
   SELECT $1, '${id('stl', 1)}', 'open', '2026-05-01', '2026-05-02', '2026-05-02', '2026-05-01T00:00:01Z', '2026-05-01T00:00:01Z',
          $2, $2 / 4 * 14, $2 / 4 * 15, $2 / 4, $2 / 4 * -1000`,
  `INSERT INTO sandbox.settlement_lines (tenant_id, id, settlement_id, type, amount, source_id, ledger_entry_id, created)
   SELECT $1, 'sln_' || lpad(n::text, 26, '0'), '${id('stl', 1)}',
          (ARRAY['card_transaction', 'program_funding', 'interchange', 'network_fee'])[n % 4 + 1], (ARRAY[-1000, 1000, 15, -1])[n % 4 + 1],
          'ctx_' || lpad((n / 4)::text, 26, '0'), '${firstIdAt('len', DAY + 1000)}' || lpad((n / 4 * 2 + (n % 4 = 1)::integer)::text, 16, '0'),
          timestamptz '2026-05-01T00:00:01Z' + n * interval '50 milliseconds'
     FROM generate_series(0, $2 - 1) n`,
  `INSERT INTO sandbox.ledger_entries (tenant_id, id, cause, account_id, amount, previous, current, version, created)
   SELECT $1, '${firstIdAt('len', DAY + 1000)}' || lpad(n::text, 16, '0'), 'ctx_' || lpad((n / 2)::text, 26, '0') || '/2',
          CASE WHEN n % 2 = 0 THEN 'network_clearing' ELSE 'program_funds' END, a.sign, a.sign * (n / 2), a.sign * (n / 2 + 1), n / 2 + 1,
          timestamptz '2026-05-01T00:00:01Z' + n * interval '50 milliseconds'
     FROM generate_series(0, $2 - 1) n, LATERAL (SELECT CASE WHEN n % 2 = 0 THEN 1 ELSE -1 END AS sign) a`,
  `INSERT INTO sandbox.ledger_accounts (tenant_id, id, balance, held, version)
   SELECT $1, a.id, a.sign * $2 / 2, 0, $2 / 2 FROM (VALUES ('network_clearing', 1), ('program_funds', -1)) a (id, sign)`,
]

async function fill({ control }: OpenDatabase, tenantId: string, lines: number): Promise<void> {
  for (const text of FILL)
    await control.query({ text: text.replaceAll('$2', '$2::integer') }, [tenantId, lines])
}

/** The most memory that the process had while it worked, in MiB, and how long that took. */
async function watch(work: () => Promise<unknown>): Promise<{ seconds: number; peak: number; base: number }> {
  globalThis.gc?.()
  const base = process.memoryUsage().rss
  let peak = base
  const look = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, 20)
  const began = performance.now()
  await work()
  clearInterval(look)
  const mib = (bytes: number) => Math.round(bytes / 2 ** 20)
  return { seconds: (performance.now() - began) / 1000, peak: mib(peak), base: mib(base) }
}

await withScratch(async (scratch) => {
  const database = await openDatabase({
    databaseUrl: await startDatabase(scratch),
    ...{ pepper: BENCH_PEPPER, dataDir: '.', poolSize: 4, preparedStatements: true },
  })
  scratch.atEnd(() => database.close())
  const sizes = options.sizes.split(',').map(Number)
  for (const [index, lines] of sizes.entries()) await fill(database, id('ten', index + 1), lines)
  await database.control.query({ text: 'VACUUM (ANALYZE)' })

  let now = DAY + DAY_MS - 1
  const clock = { machine: Date.now, service: () => now }
  const wakeUpChannel = { publish: () => {} }
  const sanctions = {
    list: () => ({
      name: 'Bench',
      version: 'bench',
      number: 1,
      match: () => [],
      findWallet: () => undefined,
    }),
  }
  console.log('lines       closing      settling')
  const rest = await database.sandbox.query<{ tenant_id: string; due: number }>({
    text: 'SELECT tenant_id, due FROM settlements ORDER BY tenant_id',
  })
  // One tenant after the other, each beside none.
  for (const [index, { tenant_id }] of rest.rows.entries()) {
    const later = `UPDATE sandbox.settlements SET due = '2027-01-01' WHERE tenant_id <> $1 AND status = 'open'`
    await database.control.query({ text: later }, [tenant_id])
    await database.control.query(
      { text: `UPDATE sandbox.settlements SET due = '2026-05-02' WHERE tenant_id = $1` },
      [tenant_id],
    )
    now = DAY + DAY_MS
    const parts = { database, clock, wakeUpChannel, sanctions, log: strictLog }
    const closing = await watch(() => settlementWorker(parts).runOnce())
    now += 3 * HOUR_MS
    const settling = await watch(() => settlementWorker(parts).runOnce())
    const ms = ({ seconds }: { seconds: number }) => `${(seconds * 1000).toFixed(1)} ms`.padStart(12)
    console.log(String(sizes[index]).padEnd(8), ms(closing), ms(settling))
  }

  console.log('\nreport                     lines      rows   rows/s   MiB before, at most')
  const links = openReportLinks(BENCH_PEPPER, { sandbox: 'http://127.0.0.1', live: 'http://127.0.0.1' })
  const types: readonly ReportType[] = ['settlement_reconciliation', 'ledger_entries', 'balance_summary']
  for (const type of types) {
    for (const [index, lines] of sizes.entries()) {
      const tenantId = id('ten', index + 1)
      const report = {
        ...({
          id: id('trp', types.indexOf(type) + 1),
          type,
          currency: 'usd',
          version: '2026-05-19',
        } as const),
        ...({ status: 'pending' } as const),
        ...{ interval_start: DAY, interval_end: DAY + DAY_MS, result: null, expires_at: null },
        ...{ failure_code: null, created: now, updated: now },
      } as const
      await insertReport(database.sandbox, tenantId, report)
      const { seconds, base, peak } = await watch(() =>
        reportWorker({ database, clock, log: strictLog, wakeUpChannel, links }).runOnce(),
      )
      const made = await readReport(database.sandbox, tenantId, report.id)
      if (made?.status !== 'succeeded') throw new Error(`${type}: ${made?.failure_code}`)
      const rows = made.result?.row_count ?? 0
      const rate = Math.round(lines / seconds)
      console.log(
        ...[type.padEnd(26), String(lines).padStart(7), String(rows).padStart(9), String(rate).padStart(8)],
        `${String(base).padStart(6)}, ${peak}`,
      )
    }
  }
})
