/**
 * `npm run prove:year`: merchants live through a year of service time in one process, and nothing grows that should not.
 *
 * The service has a real PostgreSQL and real sockets. The operator moves its clock by a day at a time. Each day, each merchant
 * issues, redeems, revokes, archives and forgets passes, uses cards, gets reports and webhooks, and now and then rotates keys
 * and secrets. Merchants are pinned to each version; the sunset of the old ones is at 70 % of the time. After each day, the
 * script waits until the service has what a model says: passes, card transactions, settlements and reports by status, webhooks
 * by type with their signatures, and keys that work or not.
 *
 * At the end of each week, a second node joins with the clock of the next day, because `admin clock advance` moves only the
 * sandbox. The clock of live moves then, and old live events are dropped. The script waits until all retentions have been
 * applied, and takes a sample. `judge` in `growth.ts` describes how samples are compared, and `docs/operations/retention.md` lists
 * how each table may grow. The machine’s clock cannot be moved, so the script makes rows a day older that are kept by machine
 * time: the request log, names of usage batches, and sent transactions.
 *
 * Options: --tenants N (4), --days N (16), --week N: days between two samples (4, or 7 from 120 days on).
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect, parseArgs } from 'node:util'
import pg from 'pg'
import { versions } from '../../../generated/versions.ts'
import { findCluster } from '../../../runtime/database/embedded/cluster.ts'
import { findPostmaster } from '../../../runtime/database/embedded/postmaster.ts'
import { connectionTo } from '../../../runtime/database/embedded/server.ts'
import { endPrograms, isAlive, startService, until } from '../../support/programs.ts'
import { openPlace } from '../move/place.ts'
import { judge, type Read, type Sample, takeSample } from './growth.ts'
import { DAY_MS, type Merchant, openMerchant } from './merchant.ts'
import { startSink } from './sink.ts'

const { values } = parseArgs({
  options: {
    tenants: { type: 'string', default: '4' },
    days: { type: 'string', default: '16' },
    week: { type: 'string' },
  },
})
const [tenants, days] = [Number(values.tenants), Number(values.days)]
const isLong = days >= 120
const week = Number(values.week ?? (isLong ? 7 : 4))
if (!(tenants >= 1 && week >= 1 && days >= 3 * week))
  throw new Error(`expected --tenants of at least 1, and --days of at least three weeks: ${3 * week}`)
/** Retention of live events, and the time that one of their partitions covers. */
const [eventDays, partitionDays] = [isLong ? 30 : 1, 7]
const habits = { rotationDays: isLong ? 90 : 4, reportDays: week }

const WAIT_MS = 60_000
/** The service deletes expired rows every minute. */
const SWEEP_WAIT_MS = 180_000

const SUNSET = Date.parse(versions[0]!.sunset!)
const SUNSET_AT = 0.7
/** In the morning, so that a settlement is settled before the next day’s work begins. */
const start = SUNSET - Math.round(days * SUNSET_AT) * DAY_MS + DAY_MS / 4

const root = mkdtempSync(join(tmpdir(), 'svc-year-'))
chmodSync(root, 0o711)
const print = (line: string) => void process.stdout.write(`${line}\n`)

const place = await openPlace(root, 'year', {
  MALLOC_MMAP_THRESHOLD_: '1048576',
  SVC_CLOCK: new Date(start).toISOString(),
  SVC_EVENT_DAYS: String(eventDays),
  SVC_SCAN_DAYS: '100',
})
const cluster = findCluster(place.dataDir)!
const postmaster = findPostmaster(cluster.data)!
const owner = new pg.Client(connectionTo(cluster, postmaster))
await owner.connect()
const read: Read = async (text, values = []) => (await owner.query(text, [...values])).rows
const sink = await startSink()

/** Service time less machine time. */
const offsets = { sandbox: 0, live: 0 }
const readOffsets = async () => {
  const rows = await read<{ environment: 'sandbox' | 'live'; offset_ms: string }>(
    'SELECT environment, offset_ms FROM control.clock',
  )
  for (const { environment, offset_ms } of rows) offsets[environment] = Number(offset_ms)
}

const parts = {
  url: place.url,
  liveUrl: String(place.ready.live_base_url),
  admin: place.admin,
  now: () => Date.now() + offsets.sandbox,
  liveNow: () => Date.now() + offsets.live,
}

/** Waits until a difference is gone. If it stays, throws it. */
async function settle(
  what: string,
  difference: () => string | undefined | Promise<string | undefined>,
  ms = WAIT_MS,
) {
  let last: string | undefined
  try {
    await until(
      what,
      async () => {
        last = await difference()
        return last === undefined
      },
      ms,
    )
  } catch (error) {
    throw new Error(`${what}: ${last}`, { cause: error })
  }
}

/** Milliseconds by part of a day. */
const spent = new Map<string, number>()

async function timed<T>(part: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await work()
  spent.set(part, (spent.get(part) ?? 0) + performance.now() - began)
  return result
}

const FOUND = `
  SELECT tenant_id, 'pass ' || status AS what, count(*)::integer AS rows FROM sandbox.passes GROUP BY 1, 2
  UNION ALL SELECT tenant_id, 'card transaction ' || status, count(*)::integer FROM sandbox.card_transactions GROUP BY 1, 2
  UNION ALL SELECT tenant_id, 'settlement ' || status, count(*)::integer FROM sandbox.settlements GROUP BY 1, 2
  UNION ALL SELECT tenant_id, 'payout ' || status, count(*)::integer FROM sandbox.payouts GROUP BY 1, 2
  UNION ALL SELECT tenant_id, 'report ' || status, count(*)::integer FROM sandbox.treasury_reports GROUP BY 1, 2`

const LEFT = `
  SELECT ((SELECT count(*) FROM sandbox.webhook_ready) + (SELECT count(*) FROM sandbox.webhook_waiting))::integer AS webhooks,
         (SELECT count(*) FROM sandbox.payouts WHERE status <> 'paid')::integer AS payouts`

const show = (counts: Iterable<readonly [string, number]>) => JSON.stringify([...counts].toSorted())

async function findLeft(): Promise<string | undefined> {
  const [left] = await read<{ webhooks: number; payouts: number }>(LEFT)
  if (left!.webhooks + left!.payouts === 0) return undefined
  return `${left!.webhooks} webhooks are not delivered, and ${left!.payouts} payouts are not paid`
}

/** Looks first at what costs least, because the counts read all rows of a year, and are repeated until nothing differs. */
async function findDifference(merchants: readonly Merchant[]): Promise<string | undefined> {
  for (const { tenantId, events, box } of merchants) {
    const got = show([...events.keys()].map((type) => [type, box.byType.get(type) ?? 0]))
    if (got !== show(events)) return `webhooks of ${tenantId}: expected ${show(events)}, found ${got}`
    if (box.faults.length > 0) return `webhooks of ${tenantId}: ${box.faults.join('; ')}`
  }
  const left = await findLeft()
  if (left !== undefined) return left
  const rows = await read<{ tenant_id: string; what: string; rows: number }>(FOUND)
  const found = Map.groupBy(rows, ({ tenant_id }) => tenant_id)
  for (const { tenantId, expected } of merchants) {
    const has = show((found.get(tenantId) ?? []).map(({ what, rows }) => [what, rows]))
    if (has !== show(expected())) return `${tenantId}: expected ${show(expected())}, found ${has}`
  }
  // The webhooks of what has changed between the two looks.
  return findLeft()
}

const age = (table: string, column: string) =>
  read(`UPDATE ${table} SET ${column} = ${column} - interval '1 day'`)

/** Moves the clock of the sandbox by a day. If `joins` is true, a second node moves both clocks, and applies retentions. */
async function nextDay(merchants: readonly Merchant[], joins: boolean): Promise<void> {
  for (const { expectNight } of merchants) expectNight(parts.now() + DAY_MS)
  for (const environment of ['sandbox', 'live']) {
    await age(`${environment}.request_log`, 'written')
    await age(`${environment}.usage_batches`, 'added')
  }
  await age('control.chain_transactions', 'signed_at')
  if (joins) {
    const clock = new Date(parts.now() + DAY_MS).toISOString()
    const node = startService({ ...place.env, SVC_CLOCK: clock }, ['--json', '--role', 'worker'])
    await node.ready()
    await readOffsets()
    for (const { passTime } of merchants) passTime()
    await checkLive(merchants)
    const { code, stderr } = await node.end()
    if (code !== 0) throw new Error(`the second node ended with ${code}: ${stderr}`)
  } else {
    await place.admin('clock', 'advance', '--seconds', String(DAY_MS / 1000))
    await readOffsets()
    for (const { passTime } of merchants) passTime()
  }
}

/** Live events of whole partitions are dropped after their retention, and no other ones. */
async function checkLive(merchants: readonly Merchant[]): Promise<void> {
  const kept = parts.liveNow() - eventDays * DAY_MS
  const oldest = kept - partitionDays * DAY_MS
  const expected = merchants.flatMap(({ livePasses }) => livePasses).filter((at) => at > kept).length
  await settle('the retention of live events', async () => {
    const [found] = await read<{ late: number; kept: number }>(
      `SELECT count(*) FILTER (WHERE created < $1)::integer AS late,
              count(*) FILTER (WHERE created > $2 AND type = 'pass.created')::integer AS kept FROM live.events`,
      [new Date(oldest), new Date(kept)],
    )
    const { late, kept: has } = found!
    if (late === 0 && has === expected) return undefined
    return `${late} events are too old; ${has} of ${expected} events are kept`
  })
}

/** Rows that no retention may leave, by what they are. */
const EXPIRED = `
  SELECT 'stored answers' AS what, count(*)::integer AS rows FROM sandbox.idempotency_answers WHERE created < $1::timestamptz - interval '25 hours'
  UNION ALL SELECT 'tokens', count(*)::integer FROM sandbox.tokens WHERE expires_at < $1
  UNION ALL SELECT 'counts of touched changes', count(*)::integer FROM sandbox.touched_changes WHERE day < ($1::timestamptz AT TIME ZONE 'UTC')::date - 29
  UNION ALL SELECT 'totals of days', count(*)::integer FROM sandbox.card_spending
    WHERE granularity = 'day' AND period < ($1::timestamptz AT TIME ZONE 'UTC')::date - 13
  UNION ALL SELECT 'logged requests', count(*)::integer FROM sandbox.request_log WHERE written < $2::timestamptz - interval '7 days'
  UNION ALL SELECT 'usage batches', count(*)::integer FROM sandbox.usage_batches WHERE added < $2::timestamptz - interval '1 day'
  UNION ALL SELECT 'sent transactions', count(*)::integer FROM control.chain_transactions t JOIN control.chain_payments p USING (chain_id, signer, nonce)
    WHERE p.state <> 'open' AND t.signed_at < $2::timestamptz - interval '90 days'
  UNION ALL SELECT 'files of reports', count(*)::integer FROM sandbox.treasury_report_pieces p JOIN sandbox.treasury_reports r ON (r.tenant_id, r.id) = (p.tenant_id, p.report_id)
    WHERE r.expires_at < $1`

async function findExpired(): Promise<string | undefined> {
  const rows = await read<{ what: string; rows: number }>(EXPIRED, [new Date(parts.now()), new Date()])
  const left = rows.filter((each) => each.rows > 0)
  return left.length === 0 ? undefined : left.map(({ what, rows }) => `${rows} ${what}`).join(', ')
}

async function cleanUp(): Promise<void> {
  await owner.end()
  await endPrograms()
  // Without the services, the server may have ended already.
  if (isAlive(postmaster.pid)) process.kill(postmaster.pid, 'SIGQUIT')
  await until('PostgreSQL to end', () => !isAlive(postmaster.pid))
  sink.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 3 })
}
process.once('SIGTERM', () => {
  const exit = () => process.exit(1)
  cleanUp().then(exit, exit)
})

try {
  await readOffsets()
  const merchants: Merchant[] = []
  for (let index = 0; index < tenants; index += 1)
    merchants.push(await openMerchant(parts, sink, habits, index))
  // New destinations of payouts are held for a day.
  await nextDay(merchants, false)
  const samples: Sample[] = []
  for (let day = 1; day <= days; day += 1) {
    const isSampled = day % week === 0
    const agree = (time: string) => settle(`day ${day}, ${time}`, () => findDifference(merchants))
    await timed('requests', () => Promise.all(merchants.map(({ liveDay }) => liveDay(day))))
    await timed('evening', () => agree('evening'))
    await timed(isSampled ? 'second node' : 'clock', () => nextDay(merchants, isSampled))
    await timed('night', () => agree('night'))
    await timed('keys', () => Promise.all(merchants.map(({ checkKeys }) => checkKeys())))
    if (!isSampled) continue
    await timed('live', async () => {
      for (const { useLive, checkAnswers } of merchants) {
        await useLive()
        await checkAnswers()
      }
    })
    await timed('retentions', () => settle(`the retentions on day ${day}`, findExpired, SWEEP_WAIT_MS))
    const created = merchants.reduce((sum, { objects }) => sum + objects(), 0)
    const sample = await timed('sample', () =>
      takeSample(read, { day, created, dataDir: place.dataDir, pid: place.service.pid }),
    )
    samples.push(sample)
    const received = merchants.reduce((sum, { box }) => sum + box.count(), 0)
    print(
      `day ${day}, ${new Date(parts.now()).toISOString().slice(0, 10)}: ${created} objects, ${received} webhooks, ` +
        `${Math.round(sample.memory / 1e6)} MB of memory: as the model says`,
    )
  }
  print(`seconds: ${[...spent].map(([part, ms]) => `${part} ${Math.round(ms / 1000)}`).join(', ')}`)
  for (const { tenantId } of merchants) {
    await place.admin('audit', 'verify', '--tenant', tenantId, '--env', 'sandbox')
    await place.admin('ledger', 'verify', '--tenant', tenantId)
  }
  const { lines, faults } = judge(samples)
  for (const line of lines) print(line)
  const logged = place.service.stderr().split('\n').filter(Boolean)
  if (faults.length + logged.length > 0) throw new Error([...faults, ...logged].join('\n'))
  print(
    `${days} days of ${tenants} merchants: everything is as the model says, and nothing grows without bound`,
  )
} catch (error) {
  process.stderr.write(`${inspect(error)}\n`)
  process.exitCode = 1
} finally {
  await cleanUp()
}
// After a failure, a merchant may still be at work.
process.exit()
