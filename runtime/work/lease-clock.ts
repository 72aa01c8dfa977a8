import type { Database, Statement } from '../database/database.ts'

/** The time by which leases and buckets are checked: one for all workers, the database's. Milliseconds since the epoch. */
export interface LeaseClock {
  now(): number
  /** Compares with the database's clock again. */
  refresh(): Promise<void>
}

const READ: Statement = {
  name: 'lease_clock',
  text: 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now',
}

/** Machine time of this process, corrected by what the database's differs. Until the first `refresh` by nothing. */
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
