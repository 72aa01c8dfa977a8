import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Database } from '../database/database.ts'
import { ENVIRONMENTS, type Environment } from '../environment.ts'
import { randomBase62 } from '../keys/keys.ts'
import { addUsage, noteKeyUses, type UsageLine } from './queries.ts'

/** Counts requests in memory; what has been counted is added to the tables in batches. */
export interface UsageMeter {
  /** One request that took a token. @param now service time, milliseconds. */
  count(environment: Environment, tenantId: string, keyId: string, bucket: string, now: number): void
  /** Adds what has been counted. What could not be added stays counted and is thrown at. */
  flush(): Promise<void>
}

interface Tally {
  readonly line: Omit<UsageLine, 'requests'>
  requests: number
}

/** A batch under the name that makes it count once, however often it is sent. */
interface Batch {
  readonly id: string
  readonly lines: readonly UsageLine[]
}

type Databases = Readonly<Record<Environment | 'control', Database>>

const DAY_MS = 86_400_000

export function createUsageMeter(databases: Databases, clock: Clock): UsageMeter {
  const counters = { sandbox: createCounter(), live: createCounter() }
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
      counters[environment].count(tenantId, bucket, now)
      const use = uses.get(keyId)
      if (use) use.at = now
      else uses.set(keyId, { tenantId, at: now })
    },
    async flush() {
      const added = ENVIRONMENTS.map((environment) =>
        counters[environment].flush((batch) =>
          addUsage(databases[environment], batch.id, batch.lines, clock.machine()),
        ),
      )
      const failed = (await Promise.allSettled([...added, flushUses()])).find(
        (each) => each.status === 'rejected',
      )
      if (failed) throw failed.reason
    },
  }
}

function createCounter() {
  let tallies = new Map<string, Tally>()
  /** Sent, but not known to have arrived: the same lines go again before any other. */
  let unsure: Batch | undefined
  let running: Promise<void> = Promise.resolve()

  const send = async (add: (batch: Batch) => Promise<unknown>) => {
    while (unsure || tallies.size > 0) {
      if (!unsure) {
        const lines = [...tallies.values()].map(({ line, requests }) => ({ ...line, requests }))
        unsure = { id: randomBase62(22), lines }
        tallies = new Map()
      }
      await add(unsure)
      unsure = undefined
    }
  }
  return {
    count(tenantId: string, bucket: string, now: number) {
      const day = Math.floor(now / DAY_MS)
      const index = `${tenantId} ${bucket} ${day}`
      const tally = tallies.get(index)
      if (tally) tally.requests += 1
      else {
        const date = new Date(day * DAY_MS).toISOString().slice(0, 10)
        tallies.set(index, { line: { tenantId, day: date, bucket }, requests: 1 })
      }
    },
    flush(add: (batch: Batch) => Promise<unknown>): Promise<void> {
      running = running.catch(() => {}).then(() => send(add)) // who asked before has heard of it
      return running
    },
  }
}

const FLUSH_MS = 10_000

/** Flushes every ten seconds, and at the stop what is left. */
export function startUsageFlush(meter: UsageMeter, log: Logger): { stop(): Promise<void> } {
  const timer = setInterval(() => {
    meter.flush().catch((err) => log.warn({ err }, 'usage could not be added; it is kept and tried again'))
  }, FLUSH_MS)
  timer.unref()
  return {
    stop: () => {
      clearInterval(timer)
      return meter
        .flush()
        .catch((err) => log.error({ err }, 'the usage of the last seconds could not be added'))
    },
  }
}
