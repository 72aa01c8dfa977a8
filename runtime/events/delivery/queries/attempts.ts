/** Delivery attempts under a lease, and the request that leases them. */

import type { RetiredSecret } from '../../outbound/signing.ts'

/** An attempt under a lease, with everything needed to send it. Instants are in milliseconds since the epoch. */
export interface LeasedAttempt {
  readonly tenant_id: string
  readonly attempt_id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly attempt: number
  readonly trigger: 'schedule' | 'manual'
  /**
   * Whether to send it. If not, it is canceled: its endpoint was disabled, deleted, or disabled and enabled again.
   */
  readonly wanted: boolean
  readonly due_at: number
  /** Current generation of the endpoint. */
  readonly generation: number
  readonly timeouts: number
  readonly url: string
  readonly secret: Buffer
  readonly retired_secrets: readonly RetiredSecret[]
  readonly signature: 'service' | 'standard_webhooks'
  readonly delivery: 'unordered' | 'fifo'
  /** Whether it must be sent after the attempts of its endpoint that were leased before it. Null without an endpoint. */
  readonly in_turn: boolean | null
  readonly retry_schedule: 'standard' | 'extended'
  readonly event_type: string
  readonly event_version: string
  readonly body: string
  readonly emitted_at: number
  /** The trace in which the event was emitted. */
  readonly trace: string | null
}

/** The parameters of one statement that plans or claims. */
export interface VisitRequest {
  /**
   * - `many`: several tenants of one database, in one statement.
   * - `one`: a single tenant. Every table is filtered by a constant tenant, so a distributed database sends the
   *   statement to one shard.
   */
  readonly of: 'many' | 'one'
  readonly tenants: readonly string[]
  /** Machine time. */
  readonly now: number
  readonly leaseUntil: number
  /** UUID that identifies this visit. */
  readonly token: string
  /** Maximum number of attempts. */
  readonly limit: number
  /** Maximum number of attempts of one tenant. `allowances` has the tenants with a lower maximum. */
  readonly allowance: number
  readonly allowances: Readonly<Record<string, number>>
  /** Attempts per second of tenants with a lift. Default: OUTBOUND_PER_SECOND. */
  readonly rates?: Readonly<Record<string, number>>
}
