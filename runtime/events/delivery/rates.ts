/**
 * Delivery attempts that a tenant may start per second: OUTBOUND_PER_SECOND, unless a lift of `webhooks_outbound`
 * changes it.
 */
import type { Database, Statement } from '../../database/database.ts'
import { readSpace } from '../../database/space.ts'
import type { Environment } from '../../platform/environment.ts'
import { type Lift, outboundLimit } from '../../tenants/limits/limiter.ts'
import type { LeaseClock } from '../../work/lease-clock.ts'

/** Longest delay before a new lift takes effect. */
const REFRESH_MS = 5000

const LIFTS: Statement = {
  name: 'webhook_rate_lifts',
  text: `SELECT tenant_id, bucket, factor::float8 AS factor, floor(extract(epoch FROM expires_at) * 1000)::float8 AS until
           FROM control.limit_lifts
          WHERE environment = $1 AND bucket = 'webhooks_outbound' AND expires_at > now()`,
}

export interface DeliveryRates {
  /** Reads the lifts if the last read is more than 5 s ago. Rejects if the database cannot be read. */
  refresh(): Promise<void>
  /** @returns attempts per second by space, for spaces whose tenants have a lift in force. */
  of(spaces: readonly string[]): Readonly<Record<string, number>>
}

interface DeliveryRatesParts {
  readonly environment: Environment
  readonly control: Database
  readonly leaseClock: LeaseClock
}

/** Creates the rates of an environment. They contain no lifts before the first `refresh`. */
export function createDeliveryRates({ environment, control, leaseClock }: DeliveryRatesParts): DeliveryRates {
  let lifts: ReadonlyMap<string, readonly Lift[]> = new Map()
  let readAt = Number.NEGATIVE_INFINITY
  return {
    refresh: async () => {
      const began = performance.now()
      if (began - readAt < REFRESH_MS) return
      const { rows } = await control.query<Lift & { tenant_id: string }>(LIFTS, [environment])
      lifts = Map.groupBy(rows, ({ tenant_id }) => tenant_id)
      readAt = began
    },
    of: (spaces) => {
      if (lifts.size === 0) return {}
      const now = leaseClock.now()
      const lifted = spaces.flatMap((space) => {
        const own = lifts.get(readSpace(space).tenantId)
        return own ? [[space, outboundLimit(own, now)] as const] : []
      })
      return Object.fromEntries(lifted)
    },
  }
}
