/**
 * `node test/bench/balance.ts`: lists balance entries, and reads balances of random instants of two years, of a tenant with a million
 * entries and a million holds, beside a tenant with a thousand. Prints the p95 of requests over HTTP.
 *
 * Options: --rows N (1000000), --rounds N (200).
 */
import { parseArgs } from 'node:util'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { holdTotalsWorker } from '../../runtime/money/balance/hold-totals-job.ts'
import { makeKey, makeTenant, START, speak, startTestService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { BENCH_PEPPER, startDatabase } from './bench-database.ts'
import { withScratch } from './scratch.ts'
import { ms, print, quantile } from './webhooks-figures.ts'

const { values: options } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '200' } },
})
const rounds = Number(options.rounds)
const SMALL = 1000
const YEARS_MS = 730 * 86_400_000

await withScratch(async (scratch) => {
  const url = await startDatabase(scratch, {
    shared_buffers: '512MB',
    max_wal_size: '4GB',
    synchronous_commit: 'off',
  })
  const settings = {
    databaseUrl: url,
    pepper: BENCH_PEPPER,
    dataDir: scratch.directory,
    poolSize: 4,
    preparedStatements: true,
  }
  const opened = await openDatabase(settings)
  const clock = { machine: Date.now, service: Date.now, offset: () => 0 }
  const database = {
    ...opened,
    url,
    clock,
    operator: { control: opened.control, clock, pepper: BENCH_PEPPER },
  } as never
  const service = await startTestService({ database, guarded: false })
  scratch.atEnd(() => service.stop())
  const run = (text: string, ...values: readonly unknown[]) => opened.control.query({ text }, values)

  /** Fills a tenant: holds that end 3 days later in an entry, evenly over the years; one in a thousand entries is a refund. */
  const fill = async (rows: number) => {
    const tenantId = await makeTenant(service, 'enterprise')
    const at = (n: string) =>
      `to_timestamp(${(START - YEARS_MS) / 1000}) + (${n}) * interval '1 ms' * ${Math.floor(YEARS_MS / (rows + 1))}`
    const id = (prefix: string) => `'${prefix}_01' || lpad(to_hex(n), 24, '0')`
    const series = `generate_series(1, ${rows}) n`
    await run(
      `INSERT INTO sandbox.ledger_entries (tenant_id, id, cause, account_id, amount, previous, current, version, created)
     SELECT $1, ${id('len')}, ${id('ctx')} || '/1', 'program_funds', CASE WHEN n % 1000 = 0 THEN 1 ELSE -1 END, 0, 0, n, ${at('n')} FROM ${series}`,
      tenantId,
    )
    await run(
      `INSERT INTO sandbox.ledger_accounts (tenant_id, id, balance, held, version) SELECT $1, 'program_funds', 0, 0, ${rows}`,
      tenantId,
    )
    await run(
      `INSERT INTO sandbox.ledger_holds SELECT $1, ${id('ctx')}, 100, ${at('n')} - interval '3 days' FROM ${series}`,
      tenantId,
    )
    await run(
      `INSERT INTO sandbox.ledger_resolutions SELECT $1, ${id('ctx')}, ${at('n')} FROM ${series}`,
      tenantId,
    )
    const { secret } = await makeKey(service, tenantId)
    return speak(service.urls.sandbox, { secret, version: '2026-05-19' })
  }

  const tenants = { large: await fill(Number(options.rows)), small: await fill(SMALL) }
  await run(
    'VACUUM (ANALYZE) sandbox.ledger_entries, sandbox.ledger_holds, sandbox.ledger_resolutions, sandbox.ledger_accounts',
  )
  const began = performance.now()
  await holdTotalsWorker({ database: opened, clock: service.clock, log: strictLog }).runOnce()
  print(`hours added up in ${ms(performance.now() - began)}`)

  const instant = () => new Date(START - Math.floor(Math.random() * YEARS_MS)).toISOString()
  const ASKED: Readonly<Record<string, () => string>> = {
    'balance now': () => '/v1/balance',
    'balance of an instant': () => `/v1/balance?at=${instant()}`,
    'first page': () => '/v1/balance_entries?limit=100',
    'first page before an instant': () => `/v1/balance_entries?limit=100&created[lt]=${instant()}`,
    'first page of a rare kind': () => '/v1/balance_entries?limit=100&kind=card_refund',
    'first page of no kind': () => '/v1/balance_entries?limit=100&kind=funding',
    'entries of a source': () => `/v1/balance_entries?source_id=ctx_01${'7'.padStart(24, '0')}`,
  }
  print(['', ...Object.keys(tenants)].join('\t'))
  for (const [name, path] of Object.entries(ASKED)) {
    const figures: string[] = []
    for (const send of Object.values(tenants)) {
      const times: number[] = []
      for (let round = 0; round < rounds; round += 1) {
        service.clock.monotonic += 60_000
        const from = performance.now()
        const { status, text } = await send(path())
        times.push(performance.now() - from)
        if (status !== 200) throw new Error(text)
      }
      figures.push(`p50 ${ms(quantile(times, 0.5))}, p95 ${ms(quantile(times, 0.95))}`)
    }
    print([name, ...figures].join('\t'))
  }
})
