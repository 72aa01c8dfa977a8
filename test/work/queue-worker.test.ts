/** The loop of every worker: turns, pages, groups, rows that fail, failures of the database, and the drain. */
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import type { Database } from '../../runtime/database/database.ts'
import { DatabaseUnavailable } from '../../runtime/database/errors.ts'
import {
  createQueueWorker,
  type QueueWorker,
  type QueueWorkerOptions,
  type TurnOutcome,
} from '../../runtime/work/queue-worker.ts'
import { createSetAside } from '../../runtime/work/set-aside.ts'
import { until } from '../support/programs.ts'

interface Row {
  readonly space: string
  readonly id: string
}

/** Stands for the table of rows that are set aside. */
function createControl(): Database {
  const rows = new Map<string, { tenant_id: string; subject_id: string; tries: number; retry_at: number }>()
  return {
    async query({ name }: { name?: string }, values: readonly unknown[] = []) {
      const [, , tenant_id, subject_id] = values as string[]
      const key = `${tenant_id} ${subject_id}`
      if (name === 'set_aside_note') {
        const tries = (rows.get(key)?.tries ?? 0) + 1
        rows.set(key, {
          tenant_id: tenant_id!,
          subject_id: subject_id!,
          tries,
          retry_at: Date.now() + 60_000,
        })
      }
      if (name === 'set_aside_forget') rows.delete(key)
      return { rows: name === 'set_aside_note' ? [rows.get(key)] : [...rows.values()], count: 1 }
    },
  } as unknown as Database
}

const rowsOf = (space: string, count: number): Row[] =>
  Array.from({ length: count }, (_, at) => ({ space, id: `${at}`.padStart(3, '0') }))

const log = pino({ level: 'silent' })
const workers: QueueWorker<Row>[] = []
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()))
})

/** A worker for rows in memory: a row that is performed is not found again unless the outcome says so. */
function open(due: Row[], options: Partial<QueueWorkerOptions<Row>> = {}) {
  const performed: string[][] = []
  const worker = createQueueWorker<Row>({
    name: 'test',
    environment: 'sandbox',
    log,
    pollMs: 20,
    setAside: createSetAside(
      { control: createControl(), clock: { machine: Date.now }, log },
      'test',
      'sandbox',
    ),
    leaseClock: { now: Date.now, refresh: async () => {} },
    find: async ({ limit }) => due.slice(0, limit),
    itemOf: (row) => row,
    ...options,
    async perform(rows, turn) {
      performed.push(rows.map(({ id }) => id))
      const outcome: TurnOutcome = (await options.perform?.(rows, turn)) ?? 'done'
      if (outcome === 'done') for (const row of rows) if (due.includes(row)) due.splice(due.indexOf(row), 1)
      return outcome
    },
  })
  workers.push(worker)
  return { worker, performed }
}

test('performs every row once, page after page, although rows that fail are found first', async () => {
  const due = rowsOf('ten_1', 50)
  const { worker, performed } = open(due, {
    batch: 10,
    perform: async ([row]) => {
      if (Number(row!.id) < 15) throw new Error('a poisoned row')
      return 'done'
    },
  })
  await worker.runOnce()
  expect(performed).toHaveLength(50)
  expect(due).toHaveLength(15)
  expect(worker.stats().turns).toEqual({ done: 35, more: 0, idle: 0, failed: 15 })
  await worker.runOnce()
  expect(performed).toHaveLength(50) // rows that are set aside wait
})

test('performs rows of one group together, halved until the row that fails is alone', async () => {
  const due = [...rowsOf('ten_1', 4), ...rowsOf('ten_2', 2)]
  const { worker, performed } = open(due, {
    groupOf: ({ space }) => space,
    perform: async (rows) => {
      if (rows.some(({ space, id }) => space === 'ten_1' && id === '002')) throw new Error('a poisoned row')
      return 'done'
    },
  })
  await worker.runOnce()
  expect(performed).toEqual([
    ['000', '001', '002', '003'],
    ['000', '001'],
    ['002', '003'],
    ['002'],
    ['003'],
    ['000', '001'],
  ])
  expect(due.map(({ id }) => id)).toEqual(['002'])
})

test('gives a row another turn after the others, and an idle row none in the same run', async () => {
  const due = rowsOf('ten_1', 3)
  const outcomes: Record<string, TurnOutcome[]> = { '000': ['more', 'more', 'done'], '001': ['idle'] }
  const { worker, performed } = open(due, { perform: async ([row]) => outcomes[row!.id]?.shift() ?? 'done' })
  await worker.runOnce()
  expect(performed.flat()).toEqual(['000', '001', '002', '000', '000'])
})

test('goes on with other rows while a turn takes long, and never has two turns of one row at once', async () => {
  const slow = Promise.withResolvers<void>()
  const due = rowsOf('ten_1', 1)
  const { worker, performed } = open(due, {
    atOnce: 2,
    perform: async ([row]) => {
      if (row!.id === '000') await slow.promise
      return 'done'
    },
  })
  worker.start()
  await until('the slow turn', () => performed.length === 1)
  due.push({ space: 'ten_2', id: 'later' })
  await until('the row that came later', () => performed.length === 2)
  worker.wake({ space: 'ten_2', id: 'woken' })
  await until('the row that was woken', () => performed.length === 3)
  expect(performed.flat()).toEqual(['000', 'later', 'woken'])
  expect(worker.stats().running).toBe(1)
  slow.resolve()
})

test('stops after the turns that are running, and begins no other', async () => {
  const slow = Promise.withResolvers<void>()
  const due = rowsOf('ten_1', 3)
  const { worker, performed } = open(due, {
    perform: async () => {
      await slow.promise
      return 'done'
    },
  })
  worker.start()
  await until('the first turn', () => performed.length === 1)
  const stopped = worker.stop()
  slow.resolve()
  await stopped
  expect([performed.length, due.length]).toEqual([1, 2])
})

test('tells a failure of the database from a row that fails, and recovers at a later poll', async () => {
  let isAway = true
  const due = rowsOf('ten_1', 2)
  const { worker, performed } = open(due, {
    perform: async () => {
      if (isAway) throw new DatabaseUnavailable('the database is away')
      return 'done'
    },
  })
  await expect(worker.runOnce()).rejects.toThrow('the database is away')
  expect(performed).toHaveLength(1) // the other row does not try in vain
  worker.start()
  await until('the failure to show', () => worker.stats().failing)
  isAway = false
  await until('the rows to be done', () => due.length === 0)
  await until('the recovery to show', () => !worker.stats().failing)
  expect(worker.stats().turns).toMatchObject({ done: 2, failed: 0 })
})
