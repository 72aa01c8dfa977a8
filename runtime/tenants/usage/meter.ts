import type { Logger } from 'pino'
import type { Database } from '../../database/database.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import type { Clock } from '../clock/clock.ts'
import { createCounter } from './counter.ts'
import { addUsage, noteKeyUses, type UsageLine } from './queries.ts'
import { addTouches, countTouches, createTouchCounter, type TouchedRequest } from './touches.ts'

/** Counts requests in memory, and adds the counts to the tables in batches. */
export interface UsageMeter {
  /** Counts a request that took a token. @param now service time, milliseconds since the epoch. */
  count(environment: Environment, tenantId: string, keyId: string, bucket: string, now: number): void
  /** Counts a request that version changes altered. */
  touch(environment: Environment, request: TouchedRequest): void
  /** Number of alterations that were not counted for lack of space. */
  droppedTouches(): number
  /** Writes the counts. If that fails, rejects and keeps them for the next call. */
  flush(): Promise<void>
}

type Databases = Readonly<Record<Environment | 'control', Database>>

const DAY_MS = 86_400_000

type CountedLine = { -readonly [Name in keyof UsageLine]: UsageLine[Name] }

const addOne = (line: CountedLine) => {
  line.requests += 1
}

export function createUsageMeter(databases: Databases, clock: Clock): UsageMeter {
  const counters = { sandbox: createCounter<CountedLine>(), live: createCounter<CountedLine>() }
  const touches = { sandbox: createTouchCounter(), live: createTouchCounter() }
  let uses = new Map<string, { readonly tenantId: string; at: number }>()

  const flushUses = async () => {
    const taken = uses
    if (taken.size === 0) return
    uses = new Map()
    try {
      await noteKeyUses(
        databases.control,
        [...taken].map(([id, { tenantId, at }]) => ({ id, tenantId, at })),
      )
    } catch (error) {
      for (const [id, use] of taken) if (!uses.has(id)) uses.set(id, use)
      throw error
    }
  }
  return {
    count(environment, tenantId, keyId, bucket, now) {
      const day = Math.floor(now / DAY_MS)
      counters[environment].count(
        `${tenantId} ${bucket} ${day}`,
        () => ({ tenantId, day: new Date(day * DAY_MS).toISOString().slice(0, 10), bucket, requests: 1 }),
        addOne,
      )
      const use = uses.get(keyId)
      if (use) use.at = now
      else uses.set(keyId, { tenantId, at: now })
    },
    touch: (environment, request) => countTouches(touches[environment], request),
    droppedTouches: () => touches.sandbox.dropped() + touches.live.dropped(),
    async flush() {
      const added = ENVIRONMENTS.map((environment) =>
        counters[environment].flush((batch) =>
          addUsage(databases[environment], batch.id, batch.lines, clock.machine()),
        ),
      )
      const touched = ENVIRONMENTS.map((environment) =>
        touches[environment].flush((batch) =>
          addTouches(databases[environment], batch.id, batch.lines, clock.machine()),
        ),
      )
      const failed = (await Promise.allSettled([...added, ...touched, flushUses()])).find(
        (each) => each.status === 'rejected',
      )
      if (failed) throw failed.reason
    },
  }
}

const FLUSH_MS = 10_000

/** Flushes every 10 s, and once more when it is stopped. */
export function startUsageFlush(meter: UsageMeter, log: Logger): { stop(): Promise<void> } {
  const timer = setInterval(() => {
    meter.flush().catch((err) => log.warn({ err }, 'usage counts not written; the next flush tries again'))
  }, FLUSH_MS)
  timer.unref()
  return {
    stop: () => {
      clearInterval(timer)
      return meter.flush().catch((err) => log.error({ err }, 'last usage counts not written'))
    },
  }
}
