/**
 * The loop of every worker. It finds due rows, performs them in turns, isolates failing rows and drains at shutdown.
 */
import type { Logger } from 'pino'
import type { Environment } from '../platform/environment.ts'
import type { Tracer } from '../tracing/span.ts'
import type { LeaseClock } from './lease-clock.ts'
import type { SetAside, WorkItem } from './set-aside.ts'
import { createWakeUp } from './wake-up.ts'

/**
 * How a turn ended. `done`: the search finds the rows again only if more work is due. `more`: the rows take another
 * turn, after the waiting rows. `idle`: nothing was done, because another worker has the rows or they must wait; they
 * get no turn before the next poll.
 */
export type TurnOutcome = 'done' | 'more' | 'idle'

/** One page of a search for due rows. */
export interface WorkSearch<Row> {
  /** If the search finds fewer rows, there are no more. */
  readonly limit: number
  /**
   * Last row of the previous page. Undefined to search from the beginning. Searches ordered by due time can ignore it.
   */
  readonly after: Row | undefined
  /** Machine time by the database clock. */
  readonly now: number
}

/** Context of a turn. */
export interface WorkTurn {
  readonly environment: Environment
  /** Machine time by the database clock. */
  readonly now: () => number
  /** Whether the process is stopping. The turn must not start further work. */
  readonly isStopping: () => boolean
  readonly setAside: SetAside
  /** Continues traces. Absent if traces are not exported. */
  readonly tracer: Tracer | undefined
}

/** The task of a worker, the same in each environment. */
export interface WorkerTask<Row> {
  /** Name in logs and metrics, and of the rows set aside. */
  readonly name: string
  /** Finds due rows of all tenants. Must not return rows whose work is done. */
  readonly find: (search: WorkSearch<Row>, environment: Environment) => Promise<readonly Row[]>
  /** Maximum number of rows in one search and in one turn. Default: 100. */
  readonly batch?: number
  readonly itemOf: (row: Row) => WorkItem
  /** Rows of one group are performed together, and never in two concurrent turns. Default: each row is a group. */
  readonly groupOf?: (row: Row) => string
  /** Does the work for all rows of a group or for none. */
  readonly perform: (rows: readonly Row[], turn: WorkTurn) => Promise<TurnOutcome>
  /** Records the failure of a row that fails alone, if the row may be the cause. Default: the row is set aside. */
  readonly isolate?: (row: Row, error: unknown, turn: WorkTurn) => Promise<void>
  /** Maximum number of concurrent turns. Default: 1. */
  readonly atOnce?: number
  /** Polling interval in milliseconds: the maximum delay of a due row without a wake-up. Default: 1000. */
  readonly pollMs?: number
}

export interface QueueWorkerOptions<Row> extends WorkerTask<Row> {
  readonly environment: Environment
  readonly setAside: SetAside
  readonly leaseClock: LeaseClock
  readonly log: Pick<Logger, 'warn' | 'info'>
  readonly tracer?: Tracer | undefined
}

export interface QueueWorkerStats {
  /** Number of turns by outcome, and of rows that failed alone. */
  readonly turns: Readonly<Record<TurnOutcome | 'failed', number>>
  /** Number of running turns. */
  readonly running: number
  /** Number of rows that wait for a turn. */
  readonly waiting: number
  /** Whether the last poll, or a turn after it, failed because of the database. */
  readonly failing: boolean
}

/** A worker of one environment. Any number of processes can run one. */
export interface QueueWorker<Row> {
  /** Polls until `stop`. */
  start(): void
  /** Performs all due work without polling. Throws the first failure that no row caused. */
  runOnce(): Promise<void>
  /**
   * Gives the row a turn soon, even if no search finds it, unless it is set aside. Without a row, searches immediately.
   */
  wake(row?: Row): void
  stats(): QueueWorkerStats
  /** Starts no further turn. Resolves after the running turns. */
  stop(): Promise<void>
}

const BATCH = 100
const POLL_MS = 1000

/** Searches use at most this share of the time, however many rows there are. */
const FIND_SHARE = 0.2

export function createQueueWorker<Row>(options: QueueWorkerOptions<Row>): QueueWorker<Row> {
  const { name, environment, find, itemOf, groupOf, perform, isolate, setAside, leaseClock, log, tracer } =
    options
  const { batch = BATCH, atOnce = 1, pollMs = POLL_MS } = options
  const keyOf = (row: Row) => `${itemOf(row).space} ${itemOf(row).id}`
  const groupOrKey = groupOf ?? keyOf
  const wakeUp = createWakeUp()
  /** Rows that wait for a turn, in order. */
  const agenda = new Map<string, Row>()
  /** Running turns by group. */
  const turns = new Map<string, Promise<void>>()
  /** Rows that get no turn before the next poll, unless they are woken. */
  const idle = new Set<string>()
  const counts = { done: 0, more: 0, idle: 0, failed: 0 }
  let [stopping, failing] = [false, false]
  /** The failure since the last poll. No turn starts until the next poll. */
  let failure: { readonly error: unknown } | undefined
  const turn: WorkTurn = { environment, setAside, tracer, now: leaseClock.now, isStopping: () => stopping }

  let after: Row | undefined
  let limit = batch
  /** Whether the last page was full, so that there may be another one. */
  let isFull = false
  const findPage = async (): Promise<void> => {
    const found = await find({ limit, after, now: leaseClock.now() }, environment)
    if (found.length > 0 && !isolate) await setAside.refresh()
    let skipped = 0
    for (const row of found) {
      const key = keyOf(row)
      if (idle.has(key) || turns.has(groupOrKey(row)) || setAside.isHeld(itemOf(row))) skipped += 1
      else agenda.set(key, row)
    }
    isFull = found.length >= limit
    after = isFull ? found.at(-1) : undefined
    // The search finds skipped rows again, and they must not displace other rows.
    limit = isFull ? batch + skipped : batch
  }

  const performTurn = async (rows: readonly Row[]): Promise<void> => {
    type TurnItem = WorkItem & { readonly row: Row }
    const items = rows.map((row): TurnItem => ({ ...itemOf(row), row }))
    const { again = [], first = [] } = Object.groupBy(items, (item) =>
      setAside.isKnown(item) ? 'again' : 'first',
    )
    const performSome = async (some: readonly TurnItem[]) => {
      const outcome = await perform(
        some.map(({ row }) => row),
        turn,
      )
      counts[outcome] += 1
      if (outcome === 'more') for (const { row } of some) agenda.set(keyOf(row), row)
      if (outcome === 'idle') for (const { row } of some) idle.add(keyOf(row))
    }
    const isolateOne = async ({ row, ...item }: TurnItem, error: unknown) => {
      await (isolate ? isolate(row, error, turn) : setAside.take(item, error))
      counts.failed += 1
      idle.add(keyOf(row))
    }
    for (const some of [first, ...again.map((each) => [each])])
      await setAside.performGroup(some, performSome, isolateOne)
  }

  const fail = (error: unknown) => {
    if (!failing)
      log.warn(
        { err: error, work: name, environment },
        'Work failed because of the database; the next poll retries it',
      )
    failing = true
    failure = { error }
    isFull = false
    agenda.clear() // the next poll finds the rows again
  }

  const beginTurns = () => {
    for (const row of agenda.values()) {
      if (stopping || failure || turns.size >= atOnce) return
      const group = groupOrKey(row)
      if (turns.has(group)) continue
      const rows = groupOf
        ? [...agenda.values()].filter((each) => groupOf(each) === group).slice(0, batch)
        : [row]
      for (const each of rows) agenda.delete(keyOf(each))
      const running = performTurn(rows)
        .catch(fail)
        .finally(() => {
          turns.delete(group)
          wakeUp.notify()
        })
      turns.set(group, running)
    }
  }

  /** Allows turns again for rows that were idle or had to wait because of a failure. */
  const renew = () => {
    idle.clear()
    failure = undefined
  }

  let findAt = Number.NEGATIVE_INFINITY
  const poll = async () => {
    const began = performance.now()
    if (failing && !failure) log.info({ work: name, environment }, 'Work has resumed')
    failing = failure !== undefined
    renew()
    const next = began + pollMs
    findAt = next
    await leaseClock.refresh()
    if (agenda.size < batch) await findPage()
    // Unless `wake` has requested a search in the meantime.
    if (findAt === next) findAt = began + Math.max(pollMs, (performance.now() - began) / FIND_SHARE)
  }

  const needsPage = () => isFull && agenda.size === 0 && turns.size < atOnce
  const run = async () => {
    while (!stopping) {
      try {
        if (performance.now() >= findAt) await poll()
        else if (needsPage()) await findPage()
      } catch (error) {
        fail(error)
      }
      beginTurns()
      if (!needsPage()) await wakeUp.wait(Math.max(0, findAt - performance.now()))
    }
  }
  let running: Promise<void> | undefined
  return {
    start() {
      running ??= run()
    },
    async runOnce() {
      renew()
      do {
        await findPage()
        while ((agenda.size > 0 || turns.size > 0) && !stopping && !failure) {
          beginTurns()
          await Promise.race(turns.values())
        }
        await Promise.all(turns.values())
        if (failure) throw failure.error
      } while (isFull && !stopping)
    },
    wake(row) {
      if (row === undefined) findAt = Number.NEGATIVE_INFINITY
      else if (!setAside.isHeld(itemOf(row))) agenda.set(keyOf(row), row)
      wakeUp.notify()
    },
    stats: () => ({ turns: { ...counts }, running: turns.size, waiting: agenda.size, failing }),
    async stop() {
      stopping = true
      wakeUp.notify()
      await running
      await Promise.all(turns.values())
    },
  }
}
