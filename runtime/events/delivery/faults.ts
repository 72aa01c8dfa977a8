/** Lets webhook deliveries of a sandbox be late or duplicate on purpose, as its tenant has set. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../database/database.ts'
import { sandboxOf } from '../../database/space.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { type FaultKind, type Faults, isAffected } from '../../tenants/faults/faults.ts'
import { listFaults } from '../../tenants/faults/queries.ts'
import type { LeasedAttempt } from './queries/attempts.ts'

/** Longest delay before a new setting takes effect. */
const REFRESH_MS = 5000

export interface DeliveryFaults {
  /** Reads the settings if the last read is more than 5 s ago. Rejects if the database cannot be read. */
  refresh(): Promise<void>
  /** Waits if the delivery is late. Returns whether it waited. Rejects if the signal aborts. */
  delay(claimed: LeasedAttempt, signal: AbortSignal): Promise<boolean>
  /** Returns whether a successful delivery is made a second time. */
  isDuplicate(claimed: LeasedAttempt): boolean
}

interface DeliveryFaultsParts {
  readonly environment: Environment
  readonly control: Database
  readonly clock: Pick<Clock, 'service'>
}

/** Creates the failures of an environment. There are none in live, and none before the first `refresh`. */
export function createDeliveryFaults({ environment, control, clock }: DeliveryFaultsParts): DeliveryFaults {
  let known: ReadonlyMap<string, Faults> = new Map()
  let readAt = Number.NEGATIVE_INFINITY
  const faultsFor = (kind: FaultKind, claimed: LeasedAttempt): Faults | undefined => {
    if (known.size === 0) return undefined
    const faults = known.get(sandboxOf(claimed.tenant_id))
    if (!faults || faults.expires_at <= clock.service(environment)) return undefined
    const { url, event_id, attempt } = claimed
    const target = { method: 'POST', target: url, idempotencyKey: `${event_id} ${attempt}` }
    return isAffected(faults, kind, target) ? faults : undefined
  }
  return {
    refresh: async () => {
      const began = performance.now()
      if (environment === 'live' || began - readAt < REFRESH_MS) return
      known = await listFaults(control, clock.service(environment))
      readAt = began
    },
    delay: async (claimed, signal) => {
      const faults = faultsFor('late', claimed)
      if (faults) await wait(faults.webhook_delay_ms, undefined, { signal })
      return faults !== undefined
    },
    isDuplicate: (claimed) => faultsFor('duplicate', claimed) !== undefined,
  }
}
