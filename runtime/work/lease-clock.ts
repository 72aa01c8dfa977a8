import type { Database, Statement } from '../database/database.ts'

/** The clock for leases and buckets: all workers use the time of the database. Milliseconds since the epoch. */
export interface LeaseClock {
  now(): number
  /** Reads the difference to the database clock again. */
  refresh(): Promise<void>
}

const READ: Statement = {
  name: 'lease_clock',
  text: 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now',
}

/**
 * Creates a clock from machine time and the offset of the database clock. The offset is 0 until the first `refresh`.
 */
export function createLeaseClock(db: Database, machine: () => number): LeaseClock {
  let offset = 0
  return {
    now: () => Math.round(machine() + offset),
    refresh: async () => {
      const asked = machine()
      const { rows } = await db.query<{ now: number }>(READ)
      const heard = machine()
      offset = rows[0]!.now - (asked + heard) / 2
    },
  }
}
