/** The table of the bench of sizes: every operation in a large tenant beside the same in a small one. */

import { addToTotals } from '../../runtime/account/totals/adding.ts'
import type { Database, RowResult, Statement } from '../../runtime/database/database.ts'
import type { OpenDatabase } from '../../runtime/database/open/open-database.ts'
import { readEvent, readEventsAfter } from '../../runtime/events/emit/queries.ts'
import { lockPasses, readPass, updatePasses } from '../../runtime/passes/passes/queries.ts'
import { readTemplate, shareTemplates } from '../../runtime/passes/templates/queries.ts'
import { type Crowd, crowdId } from '../isolation/crowd.ts'
import { examine } from '../isolation/examine.ts'
import { everyCount, everyList, everyPage } from '../isolation/pages.ts'
import { print, quantile } from './webhooks-figures.ts'

interface Operation {
  readonly name: string
  run(db: Database): Promise<unknown>
}

/** Throwing it takes a transaction back. */
class Undone extends Error {}

function operationsOf(crowd: Crowd, now: number): Operation[] {
  const { tenantId, rows, commonTemplate, event } = crowd
  const pass = crowdId('pass', Math.floor(rows / 2))
  const lists = (db: Database) => everyList(db, crowd, now)
  const names = lists(NOBODY)
  return [
    { name: 'pass: read', run: (db) => readPass(db, tenantId, pass) },
    {
      name: 'pass: lock and change',
      run: async (db) => updatePasses(db, tenantId, [...(await lockPasses(db, tenantId, [pass])).values()]),
    },
    { name: 'template: read', run: (db) => readTemplate(db, tenantId, commonTemplate) },
    { name: 'template: share', run: (db) => shareTemplates(db, tenantId, [commonTemplate]) },
    { name: 'event: read', run: (db) => readEvent(db, tenantId, event) },
    { name: 'events: stream', run: (db) => readEventsAfter(db, tenantId, Math.floor(rows / 6), 25) },
    ...names.flatMap((list, index) =>
      everyPage(list, crowd).map(([page, each]) => ({
        name: `${list.name} (${page})`,
        run: (db: Database) => lists(db)[index]!.read(each),
      })),
    ),
    ...countsOf('count', crowd, now),
  ]
}

function countsOf(prefix: string, crowd: Crowd, now: number): Operation[] {
  return everyCount(NOBODY, crowd, now).map(({ name }, index) => ({
    name: `${prefix} ${name}`,
    run: (db: Database) => everyCount(db, crowd, now)[index]!.read(),
  }))
}

/** Counts the passes as the worker does, and prints how long that takes. */
async function keepCounts(database: OpenDatabase, { tenantId, rows }: Crowd): Promise<void> {
  const began = performance.now()
  await database.sandbox.transaction((tx) => addToTotals(tx, tenantId, 2000, Date.now()))
  print(`a worker counted ${rows} passes in ${Math.round(performance.now() - began)} ms`)
}

/** Events that a worker adds in one turn. */
const BEHIND = 2000

/** Emits events that are not added to the counts. */
async function emitMoves({ control }: OpenDatabase, { tenantId, commonTemplate }: Crowd): Promise<void> {
  await control.query(
    {
      text: `INSERT INTO sandbox.events (tenant_id, id, sequence, type, version, body, created, pass_move)
             SELECT h.tenant_id, 'evt_z' || n, h.sequence + n, 'pass.installed', '2026-05-19', repeat('x', 1700), now(), $2
               FROM sandbox.event_heads h, generate_series(1, ${BEHIND}) AS n WHERE h.tenant_id = $1`,
    },
    [tenantId, `${commonTemplate} issued installed`],
  )
  const head = { text: `UPDATE sandbox.event_heads SET sequence = sequence + ${BEHIND} WHERE tenant_id = $1` }
  await control.query(head, [tenantId])
}

/** For names only. */
const NOBODY: Database = {
  query: () => Promise.reject(new Error('nobody answers')),
}

interface Figures {
  /** What is compared: whatever else the machine does stands above it. */
  readonly p25: number
  readonly p50: number
  readonly p95: number
  readonly rows: number
  /** Pages for each row that was given. */
  readonly buffers: number
}

/** What the operation touches, under the plan for everybody. */
async function look(
  database: OpenDatabase,
  operation: Operation,
): Promise<Pick<Figures, 'rows' | 'buffers'>> {
  const found = { rows: 0, buffers: 0 }
  const work = async (tx: Database) => {
    const looking: Database = {
      async query<Row>(statement: Statement, values?: readonly unknown[]): Promise<RowResult<Row>> {
        const recorded = { role: 'sandbox', statement, values: values ?? [], tenantId: undefined } as const
        const reading = await examine(tx, recorded, 'generic')
        found.rows += reading?.answered ?? 0
        found.buffers += reading?.buffers ?? 0
        return tx.query<Row>(statement, values)
      },
    }
    await operation.run(looking)
    throw new Undone()
  }
  await database.sandbox.transaction(work).catch(passOver)
  return { rows: found.rows, buffers: found.buffers / Math.max(1, found.rows) }
}

function passOver(error: unknown): void {
  if (!(error instanceof Undone)) throw error
}

async function time(database: OpenDatabase, operation: Operation): Promise<number> {
  const began = performance.now()
  if (operation.name.includes('lock')) {
    const work = async (tx: Database) => {
      await operation.run(tx)
      throw new Undone()
    }
    await database.sandbox.transaction(work).catch(passOver)
  } else {
    await operation.run(database.sandbox)
  }
  return performance.now() - began
}

/** Rounds of both sizes alternate, so that whatever else the machine does meets both alike. */
async function measure(
  database: OpenDatabase,
  pair: readonly [Operation, Operation],
  rounds: number,
): Promise<readonly [Figures, Figures]> {
  const times: [number[], number[]] = [[], []]
  const isCount = pair[0].name.startsWith('count')
  // The first ones make the prepared statements turn to the plan for everybody.
  const last = isCount ? rounds / 4 : rounds
  for (let round = -6; round < last; round += 1) {
    for (const index of [0, 1] as const) {
      const took = await time(database, pair[index])
      if (round >= 0) times[index].push(took)
    }
  }
  const figures = async (index: 0 | 1): Promise<Figures> => ({
    p25: quantile(times[index], 0.25),
    p50: quantile(times[index], 0.5),
    p95: quantile(times[index], 0.95),
    ...(await look(database, pair[index])),
  })
  return [await figures(0), await figures(1)]
}

/** Prints the table, and what is slower in the large tenant than three times the small one's time. */
export async function compareSizes(
  database: OpenDatabase,
  { large, small }: { readonly large: Crowd; readonly small: Crowd },
  now: number,
  { rounds, only }: { readonly rounds: number; readonly only: string },
): Promise<void> {
  const head = ['rows', 'p50', 'p95', 'rows', 'p50', 'p95', 'ratio', 'pages/row']
  print(`${'operation'.padEnd(64)}${head.map((word) => word.padStart(9)).join('')}`)
  const slow: string[] = []
  const compare = async (operation: Operation, other: Operation) => {
    if (!operation.name.includes(only)) return
    const [less, more] = await measure(database, [other, operation], rounds)
    const ratio = more.p25 / less.p25
    const cells = [less.rows, less.p50, less.p95, more.rows, more.p50, more.p95, ratio, more.buffers]
    const shown = cells.map((cell, at) => cell.toFixed(at % 3 === 0 && at < 6 ? 0 : 2).padStart(9))
    print(`${operation.name.padEnd(64)}${shown.join('')}`)
    if (ratio > 3 && !operation.name.startsWith('count')) slow.push(operation.name)
  }
  const compareAll = async (operations: readonly Operation[], others: readonly Operation[]) => {
    for (const [index, operation] of operations.entries()) await compare(operation, others[index]!)
  }
  await compareAll(operationsOf(large, now), operationsOf(small, now))
  for (const crowd of [large, small]) await keepCounts(database, crowd)
  await compareAll(countsOf('kept count', large, now), countsOf('kept count', small, now))
  await emitMoves(database, large)
  const behind = `kept count, ${BEHIND} events behind,`
  await compareAll(countsOf(behind, large, now), countsOf(behind, small, now))
  print(
    slow.length === 0
      ? 'only counts without kept counts take more than 3 ×'
      : `more than 3 ×: ${slow.join('; ')}`,
  )
}
