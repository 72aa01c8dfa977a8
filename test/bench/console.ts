/**
 * `npm run bench:console`: every page of the dashboard of a tenant with a million passes, card transactions and requests in its
 * log, beside that of a tenant with a thousand, in one database. Prints for each page what it takes in both and its bytes, without
 * pictures and style sheets; and which pages take longer than 100 ms (p95) or are larger than 100 kB. The sandbox first, then live.
 *
 * Options: --rows N (1000000), --rounds N (40), --only TEXT (pages whose address has it: live, sandbox/passes).
 */
import { parseArgs } from 'node:util'
import { listRoutes } from '../../runtime/dashboard/pages/dashboard.ts'
import { findById } from '../../runtime/dashboard/pages/search/places.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { ENVIRONMENTS, type Environment } from '../../runtime/platform/environment.ts'
import { PREFIXES } from '../../runtime/platform/ids.ts'
import {
  Browser,
  makeTenant,
  startDashboard,
  type TestDashboard,
  type Visitor,
} from '../dashboard/support/dashboard.ts'
import { crowdId, fillCrowd } from '../isolation/crowd.ts'
import { settleInto } from '../support/payable.ts'
import { makeKey } from '../support/service.ts'
import { BENCH_PEPPER, startDatabase } from './bench-database.ts'
import { withScratch } from './scratch.ts'
import { print, quantile } from './webhooks-figures.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '40' },
    only: { type: 'string', default: '' },
  },
})

const MAX_MS = 100
const MAX_BYTES = 100_000

const SMALL = 1000

/** As `bench:size` has it. */
const PARAMETERS = {
  shared_buffers: '2GB',
  max_wal_size: '8GB',
  maintenance_work_mem: '512MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  synchronous_commit: 'off',
  session_replication_role: 'replica',
}

/** What the log of requests can be narrowed to. */
const NARROWED = [
  'requests?path=/v1/me',
  'requests?status=404',
  'requests?status=4xx&path=/v1/passes',
  'requests?status=5xx&key=key_common&path=/v1/passes',
  'requests?key=key_rare&status=200',
]

/**
 * Addresses of all pages of an environment, with what stands for their parameters in a tenant of so many rows. Streams, style sheets
 * and exports, which are as long as their lists, are no pages.
 *
 * @param own identifiers of records that were not loaded, by the first part of the address.
 */
function pagesOf(
  dashboard: TestDashboard,
  environment: Environment,
  rows: number,
  { memberId }: Visitor,
  own: ReadonlyMap<string, string>,
): string[] {
  const ids = new Map<string, string>()
  // The first ones are those that nearly everything is of: the longest pages.
  for (const prefix of PREFIXES) {
    const id = crowdId(prefix, prefix === 'req' || prefix === 'pass' ? Math.floor(rows / 2) : 0)
    const found = findById(id)
    if (found) ids.set(found.path.split('/')[0]!, id)
  }
  for (const [path, id] of own) ids.set(path, id)
  ids.set('members', memberId)
  ids.set(':attempt', crowdId('wdla', 1)).set(':version', '2026-02-01')
  const shown = listRoutes(dashboard.watching).filter(
    ({ method, path }) =>
      method === 'GET' && path.startsWith(`/${environment}`) && !/.\/live$|\.css$|\/export\.\w+$/.test(path),
  )
  const filled = shown.map(({ path }) =>
    path.replaceAll(/:\w+/g, (name) => ids.get(name === ':id' ? path.split('/')[2]! : name) ?? 'x'),
  )
  return [...filled, ...NARROWED.map((rest) => `/${environment}/${rest}`)].filter((path) =>
    path.includes(options.only),
  )
}

interface Figures {
  readonly p50: number
  readonly p95: number
  readonly bytes: number
  readonly status: number
}

/** Rounds of both sizes alternate, so that whatever else the machine does meets both alike. */
async function measure(pair: readonly (readonly [Browser, string])[], rounds: number): Promise<Figures[]> {
  const found = pair.map(() => ({ times: [] as number[], bytes: 0, status: 0 }))
  for (let round = -6; round < rounds; round += 1) {
    for (const [index, [browser, path]] of pair.entries()) {
      const began = performance.now()
      const { text, status } = await browser.get(path)
      if (round >= 0) found[index]!.times.push(performance.now() - began)
      Object.assign(found[index]!, { bytes: Buffer.byteLength(text), status })
    }
  }
  return found.map(({ times, ...rest }) => ({
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    ...rest,
  }))
}

/** An owner in a browser, of a tenant with so many rows, and the pages of it. */
async function settle(dashboard: TestDashboard, environment: Environment, rows: number) {
  const { service } = dashboard
  const tenantId = await makeTenant(service)
  const owner = await dashboard.signIn(tenantId, 'owner')
  const key = await makeKey(service, tenantId, { environment })
  const sizes = { rows, tenants: 0, each: 0, whole: ['card_transactions', 'request_log'], environment }
  const { control } = service.database
  await fillCrowd(control, tenantId, service.clock.now - (rows + 1) * 1000, sizes)
  await settleInto(service.database, environment, tenantId, 100, service.clock.now)
  const newest = async (table: string) => {
    const text = `SELECT id FROM ${environment}.${table} WHERE tenant_id = $1 ORDER BY id DESC LIMIT 1`
    return (await control.query<{ id: string }>({ text }, [tenantId])).rows[0]!.id
  }
  const own = new Map([
    ['keys', key.id],
    ['audit-log', await newest('audit_log')],
    ['ledger-entries', await newest('ledger_entries')],
  ])
  return {
    browser: new Browser(dashboard.origin, owner.cookie),
    pages: pagesOf(dashboard, environment, rows, owner, own),
  }
}

async function compare(
  dashboard: TestDashboard,
  environment: Environment,
  rows: number,
  rounds: number,
): Promise<void> {
  const began = performance.now()
  const small = await settle(dashboard, environment, SMALL)
  const large = await settle(dashboard, environment, rows)
  print(
    `${rows} passes, card transactions and requests in ${environment} beside ${SMALL}: loaded in ${Math.round((performance.now() - began) / 1000)} s`,
  )
  const head = ['p50', 'p95', 'p50', 'p95', 'kB', 'status']
  print(`${'page'.padEnd(52)}${head.map((word) => word.padStart(9)).join('')}`)
  const slow: string[] = []
  const heavy: string[] = []
  for (const [index, path] of large.pages.entries()) {
    const pair = [
      [small.browser, small.pages[index]!],
      [large.browser, path],
    ] as const
    const [less, more] = (await measure(pair, rounds)) as [Figures, Figures]
    const name = path.replaceAll(/\w+_\w{26}/g, ':id')
    const cells = [less.p50, less.p95, more.p50, more.p95, more.bytes / 1000]
    print(
      `${name.padEnd(52)}${cells.map((cell) => cell.toFixed(1).padStart(9)).join('')}${String(more.status).padStart(9)}`,
    )
    if (more.p95 > MAX_MS) slow.push(name)
    if (more.bytes > MAX_BYTES) heavy.push(name)
  }
  print(`p95 over ${MAX_MS} ms: ${slow.join(', ') || 'none'}`)
  print(`over ${MAX_BYTES / 1000} kB: ${heavy.join(', ') || 'none'}`)
}

await withScratch(async (scratch) => {
  const { directory, atEnd } = scratch
  const url = await startDatabase(scratch, PARAMETERS)
  const pepper = BENCH_PEPPER
  const settings = { databaseUrl: url, pepper, dataDir: directory, poolSize: 10, preparedStatements: true }
  const opened = await openDatabase(settings)
  const clock = { machine: Date.now, service: Date.now, offset: () => 0 }
  const database = { ...opened, url, clock, operator: { control: opened.control, clock, pepper } } as never
  const dashboard = await startDashboard({ database, guarded: false })
  atEnd(() => dashboard.stop())
  const named = ENVIRONMENTS.filter((each) => options.only.includes(each))
  for (const environment of named.length > 0 ? named : ENVIRONMENTS)
    await compare(dashboard, environment, Number(options.rows), Number(options.rounds))
})
