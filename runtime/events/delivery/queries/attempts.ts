/** An attempt to deliver an event, and the request that leases some. */

import type { RetiredSecret } from '../../outbound/signing.ts'

/** An attempt under a lease, with what sending it takes. Instants in milliseconds since the epoch. */
export interface LeasedAttempt {
  readonly tenant_id: string
  readonly attempt_id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly attempt: number
  readonly trigger: 'schedule' | 'manual'
  /** Whether it is to be sent; otherwise it is to be cancelled: its endpoint is disabled, gone or was enabled anew since. */
  readonly wanted: boolean
  readonly due_at: number
  /** Of the endpoint now. */
  readonly generation: number
  readonly timeouts: number
  readonly url: string
  readonly secret: Buffer
  readonly retired_secrets: readonly RetiredSecret[]
  readonly event_type: string
  readonly event_version: string
  readonly body: string
  /** When the event was emitted. */
  readonly emitted_at: number
}

/** For whom a worker plans and claims. */
export interface VisitRequest {
  /**
   * `many`: tenants of one database, in one statement. `one`: a single tenant, which every table is asked for by a value,
   * so that a database that is distributed by tenant sends the statement to one place.
   */
  readonly of: 'many' | 'one'
  readonly tenants: readonly string[]
  /** Machine time. */
  readonly now: number
  readonly leaseUntil: number
  /** UUID, of this visit alone. */
  readonly token: string
  /** Attempts at most. */
  readonly limit: number
  /** Of one tenant at most; `allowances` are those of tenants who may have fewer. */
  readonly allowance: number
  readonly allowances: Readonly<Record<string, number>>
  /** Attempts a second, of tenants with a lift; default: OUTBOUND_PER_SECOND. */
  readonly rates?: Readonly<Record<string, number>>
}
