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
  /** Whether each statement has to be for one tenant. */
  readonly distributed: boolean
  /** The version that a tenant is pinned to; null where it has no pin. */
  readonly readPin: (tenantId: string) => Promise<string | null>
}

/** The last attempt of a delivery failed. */
export interface Exhaustion {
  readonly completion: AttemptCompletion
  readonly endpointId: string
  /** Of the endpoint when the attempt was claimed. */
  readonly generation: number
}

/** `stale`: another worker holds the attempt. `disabled`: this failure disabled the endpoint. `noted`: it changed nothing else. */
export type Exhausted = 'stale' | 'noted' | 'disabled'

/**
 * Writes that the last attempt of a delivery failed, and disables the endpoint where it is still enabled: in one transaction,
 * so that of several such failures one disables it and emits the event for the others. The endpoint is locked first, as
 * by those who change it. A failure from before the endpoint was enabled again disables nothing.
 */
export async function exhaust(options: ExhaustionOptions, exhaustion: Exhaustion): Promise<Exhausted> {
  try {
    return await write(options, exhaustion)
  } catch (error) {
    // The endpoint is gone with everything around it.
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
