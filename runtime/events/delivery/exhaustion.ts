import { useIndexes } from '../../database/pool/by-index.ts'
import type { Pool } from '../../database/pool/pool.ts'
import type { Environment } from '../../platform/environment.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit, isSpaceWiped } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import type { LeaseClock } from '../../work/lease-clock.ts'
import { collectEvents, emit } from '../emit/emit.ts'
import { cancelAttempts } from '../webhook-endpoints/cancel-attempts.ts'
import { showEndpoint } from '../webhook-endpoints/handlers.ts'
import { type EndpointRow, lockEndpoint, updateEndpoint } from '../webhook-endpoints/queries.ts'
import { completeAttempts, completeOfOne } from './queries/completions.ts'
import type { AttemptCompletion } from './queries/successes.ts'

export interface ExhaustionOptions {
  readonly environment: Environment
  readonly pool: Pool
  readonly clock: Clock
  readonly leaseClock: LeaseClock
  /** Whether each statement must be for one tenant. */
  readonly distributed: boolean
  /** Reads the version that a tenant is pinned to; null if there is no pin. */
  readonly readPin: (tenantId: string) => Promise<string | null>
}

export interface Exhaustion {
  readonly completion: AttemptCompletion
  readonly endpointId: string
  /** Generation of the endpoint when the attempt was claimed. */
  readonly generation: number
}

/**
 * - `stale`: a different worker holds the attempt, so nothing was written.
 * - `noted`: the failure was recorded and changed nothing else.
 * - `disabled`: the failure disabled the endpoint.
 */
export type Exhausted = 'stale' | 'noted' | 'disabled'

/**
 * Records that the last attempt of a delivery failed, and disables the endpoint if it is still enabled. Both happen
 * in one transaction, so that of several such failures only one disables the endpoint and emits the event. Locks the
 * endpoint first, as requests that change endpoints do. A failure from before the endpoint was last enabled does not
 * disable it.
 */
export async function exhaust(options: ExhaustionOptions, exhaustion: Exhaustion): Promise<Exhausted> {
  try {
    return await write(options, exhaustion)
  } catch (error) {
    // The wipe deletes the attempt and its endpoint.
    if (isSpaceWiped(error)) return 'stale'
    throw error
  }
}

async function write(
  { environment, pool, clock, leaseClock, distributed, readPin }: ExhaustionOptions,
  { completion, endpointId, generation }: Exhaustion,
): Promise<Exhausted> {
  const { tenantId } = completion
  const pin = await readPin(tenantId)
  return pool.forTenant(tenantId).transaction(async (tx) => {
    useIndexes(tx)
    const now = clock.service(environment)
    const endpoint = await lockEndpoint(tx, tenantId, endpointId)
    const written = await (distributed ? completeOfOne : completeAttempts)(tx, [completion], now)
    if (written.size === 0) return 'stale'
    if (endpoint?.status !== 'enabled' || endpoint.generation !== generation) return 'noted'
    const disabled: EndpointRow = {
      ...endpoint,
      status: 'disabled',
      disabled_reason: 'retry_exhausted',
      updated: now,
    }
    await updateEndpoint(tx, tenantId, disabled)
    await cancelAttempts(tx, tenantId, endpointId, now, leaseClock.now())
    const events = collectEvents({ tenantId, pin, now })
    emit(events, {
      type: 'webhook_endpoint.disabled',
      data: { webhook_endpoint: showEndpoint(disabled) },
      recipients: { everyBut: endpointId },
    })
    await events.write(tx)
    const entry = systemEntry(environment, 'webhook_endpoint.disabled', endpointId, now)
    await appendAudit(tx, tenantId, entry)
    return 'disabled'
  })
}
