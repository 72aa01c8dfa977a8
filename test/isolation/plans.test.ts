/** Whatever plan PostgreSQL chooses, a statement reads about as many rows as it gives, in the largest tenant too. */
import { beforeAll, expect, test } from 'vitest'
import { addToTotals } from '../../runtime/account/totals/adding.ts'
import { findNamed } from '../../runtime/dashboard/pages/search/name-queries.ts'
import { openTestDatabase } from '../support/database.ts'
import { makeTenant, START, useService } from '../support/service.ts'
import { type Crowd, crowdId, fillCrowd, rowsOf } from './crowd.ts'
import { examine, type Reading } from './examine.ts'
import { findException, LAVISH } from './exceptions.ts'
import { everyCount, everyList, everyPage } from './pages.ts'
import { plainText, type Recorder, recordStatements } from './recorder.ts'
import { runBackground, runGoogle, runWorker, tour } from './walk.ts'

/** Rows of the large tenant: a statement that reads them all is seen at once. */
const ROWS = 10_000

/** Rows read for each row that is given, and besides. */
const TIMES = 10
const BESIDES = 40

/** Pages of 8 KiB for each row that is given, and besides: a walk that begins in the wrong place reads no rows, but pages. */
const PAGES_TIMES = 20
const PAGES_BESIDES = 250

/** Executions of one text that are looked at. */
const MOST = 15

let recorder: Recorder
let crowd: Crowd
const readings: Reading[] = []
const counted = new Map<string, number>()
let isWatching = false

/** Forgets what was read, and executes on behalf of `work` alone. */
async function watch(work: () => Promise<unknown>): Promise<readonly Reading[]> {
  counted.clear()
  readings.length = 0
  isWatching = true
  await work()
  isWatching = false
  return [...readings]
}

const service = useService(async () => {
  const database = await openTestDatabase({ poolSize: 6 })
  recorder = recordStatements(database, async (tx, recorded) => {
    const { name, text } = recorded.statement
    const count = counted.get(text) ?? 0
    if (!isWatching || count >= MOST) return
    counted.set(text, count + 1)
    // Without a name a statement is planned each time, for its values.
    const modes = name === undefined ? (['custom'] as const) : (['generic', 'custom'] as const)
    const examined = await Promise.all(modes.map((mode) => examine(tx, recorded, mode)))
    readings.push(...examined.filter((reading) => reading !== undefined))
  })
  return { database: recorder.database, guarded: false, keepsTime: true }
})

beforeAll(async () => {
  const from = START - ROWS * 1000 - 86_400_000
  // As the live tables are: a list looks into each part.
  for (const [table, prefix] of [
    ['events', 'evt'],
    ['webhook_attempts', 'wdla'],
    ['scans', 'scan'],
  ] as const) {
    const half = crowdId(prefix, Math.floor(rowsOf(prefix, ROWS) / 2))
    await service.database.control.query({
      text: `CREATE TABLE sandbox.${table}_half PARTITION OF sandbox.${table} FOR VALUES FROM (MINVALUE) TO ('${half}')`,
    })
  }
  const sizes = { rows: ROWS, tenants: ROWS / 4, each: 2 }
  crowd = (await fillCrowd(service.database.control, await makeTenant(service), from, sizes)).large
}, 120_000)

function excess({ read, answered, buffers, text }: Reading): boolean {
  const given = /^SELECT coalesce\(sum\(count\)/.test(text) ? ROWS : answered
  return read > TIMES * given + BESIDES || buffers > PAGES_TIMES * given + PAGES_BESIDES
}

/** Lists that read on while what they have read does not fit, or first find the place of an instant. */
const IN_STEPS = /^requests .*, |^balance entries .*of a time/

test('every page of every list reads about as many rows as it gives', { timeout: 120_000 }, async () => {
  const db = recorder.database.sandbox
  const wrong: unknown[] = []
  for (const list of everyList(db, crowd, service.clock.now)) {
    for (const [page, each] of everyPage(list, crowd)) {
      const read = await watch(() => list.read(each))
      // What is planned for its values is so each time.
      const modes = list.name.includes(' and the ') ? ['custom'] : ['generic', 'custom']
      const steps = IN_STEPS.test(list.name) ? Math.ceil(read.length / modes.length) : 1
      const wanted = Array.from({ length: steps }, () => modes).flat()
      expect([list.name, page, ...read.map(({ mode }) => mode)]).toEqual([list.name, page, ...wanted])
      wrong.push(...read.filter(excess).map((reading) => ({ list: list.name, page, ...reading })))
    }
  }
  expect(wrong).toEqual([])
})

test.each(['ada', 'moreau', 'ada@', 't', 'nothing'])(
  'a search for %s reads about as many rows as it gives',
  { timeout: 60_000 },
  async (text) => {
    const read = await watch(() => findNamed(recorder.database.sandbox, crowd.tenantId, text))
    expect(read).toHaveLength(1)
    expect(read.filter(excess)).toEqual([])
  },
)

test('a count reads what it counts, from an index alone', { timeout: 60_000 }, async () => {
  const db = recorder.database.sandbox
  const read = await watch(async () => {
    for (const count of everyCount(db, crowd, service.clock.now)) await count.read()
  })
  expect(read.length).toBeGreaterThan(10)
  // What is overdue and written down by nobody yet is looked up, and so are counts, which are kept from events.
  const scans = read.flatMap((each) => each.scans)
  const isIndexed = /^Index (Only Scan|Scan (passes_ending|totals_cursors|event_heads|pass_counts|events_))/
  expect(scans.filter((scan) => !isIndexed.test(scan))).toEqual([])
  expect(read.filter((each) => each.read > ROWS + BESIDES)).toEqual([])
})

test('a count reads a few rows once a worker has counted the passes', { timeout: 60_000 }, async () => {
  const db = recorder.database.sandbox
  const counts = everyCount(db, crowd, service.clock.now)
  const each = () => Promise.all(counts.map((count) => count.read()))
  const before = await each()
  await db.transaction((tx) => addToTotals(tx, crowd.tenantId, 2000, service.clock.machine()))
  const read = await watch(async () => expect(await each()).toEqual(before))
  expect(read.map(({ read: rows }) => rows).filter((rows) => rows > BESIDES)).toEqual([])
  expect(read.length).toBeGreaterThan(10)
})

// Last: its workers may write for a while longer.
test('every statement of the walk reads about as many rows as it gives', { timeout: 120_000 }, async () => {
  const walker = { service, recorder }
  const read = await watch(async () => {
    await tour(walker, 'sandbox', crowd.tenantId)
    await runBackground(walker)
    await runWorker(walker, 'sandbox')
    await runGoogle(walker, 'sandbox', crowd.tenantId)
  })
  const wrong = read.filter((each) => !findException(LAVISH, each.text) && excess(each))
  const byText = new Map(wrong.map((each) => [`${each.mode} ${each.text}`, each]))
  expect([...byText.values()]).toEqual([])
  const used = new Set(recorder.recorded.map((each) => findException(LAVISH, plainText(each))))
  expect(LAVISH.map(([begins]) => begins).filter((begins) => !used.has(begins))).toEqual([])
  console.log(`${read.length} executions of ${counted.size} texts, ${ROWS} passes of one tenant`)
  expect(new Set(read.map(({ text }) => text)).size).toBeGreaterThan(60)
})
