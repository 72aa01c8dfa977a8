import type { Database, Statement } from '../database/database.ts'

/** The clock for leases and buckets: all workers use the time of the database. Milliseconds since the epoch. */
export interface LeaseClock {
  now(): number
  /** Reads the difference to the database clock, unless it was read within the last minute. Workers call it with each poll. */
  refresh(): Promise<void>
}

const READ: Statement = {
  name: 'lease_clock',
  text: 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now',
}

/** Machine and database drift apart by far less than the length of a lease in this time. */
const KEPT_MS = 60_000

/**
 * Creates a clock from machine time and the offset of the database clock. The offset is 0 until the first `refresh`.
 */
export function createLeaseClock(db: Database, machine: () => number): LeaseClock {
  let offset = 0
  let readAt = Number.NEGATIVE_INFINITY
  return {
    now: () => Math.round(machine() + offset),
    refresh: async () => {
      if (performance.now() - readAt < KEPT_MS) return
      const asked = machine()
      const { rows } = await db.query<{ now: number }>(READ)
      const heard = machine()
      offset = rows[0]!.now - (asked + heard) / 2
      readAt = performance.now()
    },
  }
}
