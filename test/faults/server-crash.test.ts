/**
 * PostgreSQL dies at once, with everything in it: what was acknowledged is there afterwards, and what is not was told to
 * nobody. On a server of this file's own, whose writer of the WAL rests for so long that nothing gets to the disk by itself.
 */
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { acquireServer, type EmbeddedServer } from '../../runtime/database/embedded/server.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { createWorker } from '../../runtime/events/delivery/worker.ts'
import { BEFORE_EVENTS } from '../../runtime/events/emit/queries.ts'
import { createEventStreams } from '../../runtime/events/emit/streams.ts'
import { createWakeUps } from '../../runtime/events/emit/wake-ups.ts'
import type { Outbound } from '../../runtime/events/outbound/outbound.ts'
import { createSeals } from '../../runtime/platform/secrets.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { makeTemplate } from '../api/fixtures.ts'
import type { TestDatabase } from '../support/database.ts'
import { until } from '../support/programs.ts'
import { administer, watchOver } from '../support/server.ts'
import {
  makeKey,
  makeTenant,
  type Send,
  speak,
  startTestService,
  type TestService,
} from '../support/service.ts'

const PARAMETERS = {
  fsync: 'off', // the machine does not die
  autovacuum: 'off',
  wal_writer_delay: '10s',
  checkpoint_timeout: '1d',
}

let directory: string
let server: EmbeddedServer
let watcher: ReturnType<typeof watchOver>
let database: TestDatabase
let service: TestService
let tenantId: string
let send: Send
let templateId: string

function urlOf(): string {
  const { user, password, host, port, database } = server.connection()
  return `postgres://${user}:${password}@${host}:${port}/${database}`
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'svc-crash-'))
  chmodSync(directory, 0o711) // for the server's user, when root runs the tests
  server = await acquireServer({ dataDir: directory, say: () => {}, parameters: PARAMETERS })
  watcher = watchOver(server, directory)
  const settings = { dataDir: directory, poolSize: 16, preparedStatements: true, pepper: 'pepper of crashes' }
  const opened = await openDatabase({ databaseUrl: urlOf(), ...settings })
  const clock = createClock()
  const operator = { control: opened.control, clock, pepper: settings.pepper }
  database = { ...opened, url: urlOf(), clock, operator }
  service = await startTestService({ database })
  tenantId = await makeTenant(service)
  send = speak(service.urls.sandbox, {
    secret: (await makeKey(service, tenantId)).secret,
    version: '2026-05-19',
  })
  templateId = await makeTemplate(send)
})
afterAll(async () => {
  await service.stop()
  await server.release()
  watcher.stdin?.end('done\n')
  rmSync(directory, { recursive: true })
})

const order = () => ({ template_id: templateId })

async function one<T>(text: string, values: readonly unknown[] = []): Promise<T> {
  const { rows } = await database.control.query<{ value: T }>({ text }, values)
  return rows[0]!.value
}

const processes = (which: string) =>
  one<number[]>(`SELECT coalesce(array_agg(pid), '{}') AS value FROM pg_stat_activity WHERE ${which}`)

const FLUSHING = `application_name = 'svc sandbox flush'`

/** Transactions of the sandbox are committed first and wait for the disk together. */
beforeEach(async () => {
  await until('the connection that waits for the disk', async () => {
    await send('/v1/passes', { body: order() })
    return (await processes(FLUSHING)).length === 1
  })
  await send('/v1/passes', { body: order() }) // by it: it is tried before it is used
})

/** Processes of the server that stand still. */
const frozen = new Set<number>()

/** Nothing gets to the disk any more. */
async function freeze(): Promise<void> {
  const writers = `backend_type IN ('walwriter', 'background writer', 'checkpointer')`
  for (const pid of await processes(`${FLUSHING} OR ${writers}`)) {
    process.kill(pid, 'SIGSTOP')
    frozen.add(pid)
  }
}

function kill(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {} // it has noticed that the postmaster is gone
}

afterEach(() => {
  for (const pid of frozen) kill(pid, 'SIGCONT')
  frozen.clear()
})

/** The whole server at once, so that nothing that stands in its memory alone gets anywhere. */
async function die(how: 'SIGKILL' | 'SIGQUIT'): Promise<void> {
  const [postmaster, all] = [server.pid(), await processes('true')]
  process.kill(postmaster, how)
  if (how === 'SIGKILL') for (const pid of all) kill(pid, how)
  await until('the server to be back', async () => {
    if (server.pid() === postmaster) return false
    return administer(urlOf(), 'SELECT 1').then(
      () => true,
      () => false,
    )
  })
}

/** Whether it has come to an end by now. */
function watch<T>(work: Promise<T>): { readonly work: Promise<T>; ended: boolean } {
  const watched = { work, ended: false }
  const end = () => {
    watched.ended = true
  }
  work.then(end, end)
  return watched
}

test('nothing is told of what is not on disk yet, and the crash that undoes it is answered 503', async () => {
  const posted: string[] = []
  const outbound: Outbound = {
    check: async () => undefined,
    post: async ({ body }) => {
      posted.push(String(body))
      return { status: 200, body: '', durationMs: 1 }
    },
    close: () => {},
  }
  const endpoint = { url: 'https://93.184.215.14/hooks', enabled_events: ['pass.created'] }
  expect((await send('/v1/webhook-endpoints', { body: endpoint })).status).toBe(201)
  const worker = createWorker({
    environment: 'sandbox',
    pool: database.sandbox,
    control: database.control,
    clock: database.clock,
    outbound,
    seals: createSeals(database.pepper),
    log: pino({ level: 'silent' }),
    readPin: async () => '2026-05-19',
    pollMs: 3_600_000,
    drainMs: 0,
  })
  const streams = createEventStreams({
    database: database.sandbox,
    environment: 'sandbox',
    wakeUps: createWakeUps(),
    isLeaving: () => false,
  })
  await until('the worker to have looked', () => worker.stats().claims > 0)
  const sequence = await one<number>(
    'SELECT sequence AS value FROM sandbox.event_heads WHERE tenant_id = $1',
    [tenantId],
  )
  const after = { sequence, id: BEFORE_EVENTS }
  const opened = streams.open({ after, types: new Set(['pass.created']), findSpace: async () => tenantId })
  const stream = opened[Symbol.asyncIterator]()
  await stream.next() // its greeting
  const passes = () =>
    one<number>('SELECT count(*) AS value FROM sandbox.passes WHERE tenant_id = $1', [tenantId])
  const before = await passes()

  await freeze()
  const headers = { 'Idempotency-Key': randomUUID() }
  const first = watch(send('/v1/passes', { body: order(), headers }))
  await until('it to be committed', async () => (await passes()) === before + 1)
  const written = () => one<string>('SELECT pg_current_wal_insert_lsn() AS value')
  const then = await written()
  const again = watch(send('/v1/passes', { body: order(), headers }))
  await until('the repeat to have found it', async () => (await written()) !== then)
  const event = watch(stream.next())
  worker.wake(tenantId)
  await until('the worker to have claimed it', () => worker.stats().underWay + posted.length === 1)
  // Whoever did not wait would be through by now: these take as many steps, one after the other.
  for (let round = 0; round < 5; round += 1) expect((await send('/v1/passes?limit=1')).status).toBe(200)
  expect([first.ended, again.ended, event.ended, posted]).toEqual([false, false, false, []])

  await die('SIGKILL')
  expect([(await first.work).status, (await again.work).status]).toEqual([503, 503])
  expect(await passes()).toBe(before)
  await worker.stop()
  expect([event.ended, posted]).toEqual([false, []])

  const made = await send('/v1/passes', { body: order(), headers })
  expect([made.status, await passes()]).toEqual([201, before + 1])
  expect((await event.work).value).toContain(made.body.id)
  await stream.return?.()
  await verifyAudit(database.operator, tenantId, 'sandbox')
})

test.each(['SIGKILL', 'SIGQUIT'] as const)(
  '%s under load: every pass that was acknowledged is there',
  async (how) => {
    const acknowledged: string[] = []
    let stopping = false
    const refused: number[] = []
    const load = Array.from({ length: 16 }, async () => {
      while (!stopping) {
        const answer = await send('/v1/passes', { body: order() })
        if (answer.status === 201) acknowledged.push(answer.body.id)
        else refused.push(answer.status)
      }
    })
    await until('the load to run', () => acknowledged.length > 200)
    await die(how)
    const before = acknowledged.length
    await until('it to go on', () => acknowledged.length > before + 50)
    stopping = true
    await Promise.all(load)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.filter((status) => status !== 503)).toEqual([])
    const lost = await one<string[]>(
      `SELECT coalesce(array_agg(id), '{}') AS value FROM unnest($2::text[]) AS told (id)
      WHERE NOT EXISTS (SELECT FROM sandbox.passes p WHERE p.tenant_id = $1 AND p.id = told.id)`,
      [tenantId, acknowledged],
    )
    expect(lost).toEqual([])
    await verifyAudit(database.operator, tenantId, 'sandbox')
  },
)
