import type { Database } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'

/**
 * Two times. Machine time drives leases, timeouts, limits and signatures; service time, which an operator may move,
 * checks business: `created`, sunset, expiry, schedules, rotation. Both in milliseconds since the epoch.
 */
export interface Clock {
  machine(): number
  service(environment: Environment): number
}

/** A clock whose offsets follow `control.clock`. */
export interface OffsetClock extends Clock {
  /** Reads the offsets again; called at start and whenever the control revision moved. */
  refresh(control: Database): Promise<void>
}

const READ_OFFSETS = {
  name: 'clock_offsets',
  text: 'SELECT environment, offset_ms FROM control.clock',
}

/** @param machine for tests; milliseconds since the epoch. */
export function createClock(machine: () => number = Date.now): OffsetClock {
  const offsets = { sandbox: 0, live: 0 }
  return {
    machine,
    service: (environment) => machine() + offsets[environment],
    refresh: async (control) => {
      const { rows } = await control.query<{ environment: Environment; offset_ms: number }>(READ_OFFSETS)
      for (const row of rows) offsets[row.environment] = row.offset_ms
    },
  }
}
