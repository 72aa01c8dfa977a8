import type { Database } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'

/**
 * Two clocks, both in milliseconds since the epoch. Machine time is for leases, timeouts, limits and signatures.
 * Service time, which an operator can advance, is for business rules: `created`, sunset, expiry, schedules, rotation.
 */
export interface Clock {
  machine(): number
  service(environment: Environment): number
}

/** A clock with the offsets in `control.clock`. */
export interface OffsetClock extends Clock {
  /** Reads the offsets. Called at the start, and whenever the control revision changes. */
  refresh(control: Database): Promise<void>
}

const READ_OFFSETS = {
  name: 'clock_offsets',
  text: 'SELECT environment, offset_ms FROM control.clock',
}

/** @param machine milliseconds since the epoch; replaced in tests. */
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
