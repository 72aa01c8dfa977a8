/** Worker declarations: one declaration creates a worker in each environment. */
import type { Logger } from 'pino'
import type { Database } from '../database/database.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import type { Clock } from '../tenants/clock/clock.ts'
import type { Tracer } from '../tracing/span.ts'
import { createLeaseClock } from './lease-clock.ts'
import { createQueueWorker, type QueueWorkerStats, type WorkerTask } from './queue-worker.ts'
import { createSetAside } from './set-aside.ts'

export interface WorkerParts {
  readonly database: Readonly<Record<'control' | Environment, Database>>
  readonly clock: Pick<Clock, 'machine'>
  readonly log: Pick<Logger, 'error' | 'warn' | 'info'>
  readonly tracer?: Tracer | undefined
}

export interface WorkerDeclaration<Row> extends WorkerTask<Row> {
  /** Default: both. */
  readonly environments?: readonly Environment[]
}

/** A declared worker in all of its environments. */
export interface DeclaredWorker {
  readonly name: string
  /** Polls until `stop`. */
  start(): void
  /** Performs all due work in every environment, without polling. Then throws the first failure that no row caused. */
  runOnce(): Promise<void>
  /** Searches for due work immediately. */
  wake(environment: Environment): void
  /** Statistics since the start, by environment. */
  stats(): Readonly<Partial<Record<Environment, QueueWorkerStats>>>
  /** Starts no further turn. Resolves after the running turns. */
  stop(): Promise<void>
}

/** Declares a worker. Nothing runs before `start` or `runOnce`. */
export function defineWorker<Row>(
  { database, clock, log, tracer }: WorkerParts,
  { environments = ENVIRONMENTS, ...task }: WorkerDeclaration<Row>,
): DeclaredWorker {
  const { control } = database
  const workers = environments.map((environment) =>
    createQueueWorker<Row>({
      ...task,
      environment,
      log,
      tracer,
      leaseClock: createLeaseClock(database[environment], clock.machine),
      setAside: createSetAside({ control, clock, log }, task.name, environment),
    }),
  )
  return {
    name: task.name,
    start() {
      for (const worker of workers) worker.start()
    },
    async runOnce() {
      const failures: unknown[] = []
      for (const worker of workers) await worker.runOnce().catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw failures[0]
    },
    wake: (environment) => workers[environments.indexOf(environment)]?.wake(),
    stats: () => Object.fromEntries(environments.map((each, at) => [each, workers[at]!.stats()])),
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()))
    },
  }
}
