/** How long live events and attempts are kept, and that the sandbox keeps them. */
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listPartitions } from '../../../runtime/database/migrate/partitions.ts'
import { retain } from '../../../runtime/events/delivery/retention-job.ts'
import { collectEvents } from '../../../runtime/events/emit/emit.ts'
import { insertScan } from '../../../runtime/passes/scans/queries.ts'
import { firstIdAt, newId } from '../../../runtime/platform/ids.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { START, VERSION } from './setup.ts'

const DAY = 86_400_000
const WEEK = 7 * DAY

let database: TestDatabase
const clock = { now: START, machine: Date.now, service: () => clock.now }
const tenantId = newId('ten')
beforeAll(async () => {
  database = await openTestDatabase({ poolSize: 8 })
})
afterAll(() => database.close())

const run = () => retain({ control: database.control, clock, log: pino({ level: 'silent' }) })

async function emit(environment: 'live' | 'sandbox'): Promise<string> {
  return database[environment].transaction(async (tx) => {
    const events = collectEvents({ tenantId, pin: VERSION, now: clock.now })
    const event = events.emit({ type: 'pass.revoked', data: { pass: { id: 'pass_x' } } })!
    await events.write(tx)
    return event.id
  })
}

/** The partition that holds each row. */
async function places(
  environment: 'live' | 'sandbox',
  table: 'events' | 'scans' = 'events',
): Promise<Record<string, string>> {
  const { rows } = await database[environment].query<{ id: string; place: string }>({
    // Without the number of the shard, where there are shards.
    text: `SELECT id, regexp_replace(tableoid::regclass::text, '_\\d{6}$', '') AS place FROM ${table} ORDER BY id`,
  })
  return Object.fromEntries(rows.map(({ id, place }) => [id, place]))
}

const weeks = () => listPartitions(database.control, { environment: 'live', table: 'events', prefix: 'evt' })

const week = (at: number) => Math.floor(at / WEEK) * WEEK

test('events go where their week is, and leave with it', async () => {
  const before = await emit('live')
  const kept = await emit('sandbox')
  // What is in the default partition stays there: that week has no partition of its own.
  await run()
  expect(await weeks()).toEqual([week(START) + WEEK, week(START) + 2 * WEEK])
  clock.now += WEEK
  const after = await emit('live')
  await run()
  await run()
  expect(await weeks()).toEqual([1, 2, 3].map((step) => week(START) + step * WEEK))
  expect(await places('live')).toEqual({
    [before]: 'events_default',
    [after]: `events_${new Date(week(clock.now)).toISOString().slice(0, 10).replaceAll('-', '')}`,
  })
  clock.now = START + 30 * DAY - 1
  await run()
  expect(Object.keys(await places('live'))).toEqual([before, after])
  clock.now = START + 30 * DAY + 1
  await run()
  expect(Object.keys(await places('live'))).toEqual([after])
  clock.now = week(START + WEEK) + WEEK + 30 * DAY
  await run()
  expect(await places('live')).toEqual({})
  expect(Object.keys(await places('sandbox'))).toEqual([kept])
  const newest = await emit('live')
  expect((await places('live'))[newest]).not.toBe('events_default')
})

test('scans stay longer, in the sandbox for good', async () => {
  const scan = async (environment: 'live' | 'sandbox') => {
    const id = newId('scan', clock.now)
    await insertScan(database[environment], tenantId, {
      id,
      pass_id: null,
      mode: 'verify',
      result: 'unknown',
      scanner: null,
      latitude: null,
      longitude: null,
      created: clock.now,
    })
    return id
  }
  const keep = (scanDays?: number) =>
    retain({
      control: database.control,
      clock,
      log: pino({ level: 'silent' }),
      ...(scanDays && { scanDays }),
    })
  await keep()
  const began = clock.now
  const [first, sandbox] = [await scan('live'), await scan('sandbox')]
  clock.now += 90 * DAY
  await keep()
  const second = await scan('live')
  clock.now = began + 400 * DAY
  await keep()
  expect(await places('live', 'scans')).toEqual({
    [first]: expect.stringMatching(/^scans_2\d{7}$/),
    [second]: expect.stringMatching(/^scans_2\d{7}$/),
  })
  // A partition goes when the last that it can hold is old enough.
  clock.now += 56 * DAY
  await keep()
  expect(Object.keys(await places('live', 'scans'))).toEqual([second])
  await keep(100)
  expect(await places('live', 'scans')).toEqual({})
  expect(Object.keys(await places('sandbox', 'scans'))).toEqual([sandbox])
})

test('several concurrent sweeps delete each row once', async () => {
  clock.now += 20 * WEEK
  await Promise.all([run(), run(), run()])
  await run()
  expect((await weeks()).slice(-3)).toEqual([0, 1, 2].map((step) => week(clock.now) + step * WEEK))
})

test('a busy table is not waited for long, and nobody behind it', async () => {
  clock.now += 5 * WEEK
  let release = () => {}
  const until = new Promise<void>((resolve) => {
    release = resolve
  })
  let reading: Promise<void> = Promise.resolve()
  await new Promise<void>((read) => {
    reading = database.live.transaction(async (tx) => {
      await tx.query({ text: 'SELECT FROM events' })
      read()
      await until
    })
  })
  await expect(run()).rejects.toMatchObject({ code: '55P03' })
  await emit('live')
  release()
  await reading
  await run()
  // The week of what was emitted meanwhile stays in the default partition.
  expect((await weeks()).slice(-2)).toEqual([1, 2].map((step) => week(clock.now) + step * WEEK))
})

test('bounds lie between the identifiers of two milliseconds', () => {
  expect(newId('evt', START - 1) < firstIdAt('evt', START)).toBe(true)
  expect(newId('evt', START) > firstIdAt('evt', START)).toBe(true)
})
