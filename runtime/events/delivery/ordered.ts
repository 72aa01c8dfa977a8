/** Plans for ordered endpoints (`delivery: fifo`): queues their next events, and announces what blocks them. */

import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { useIndexes } from '../../database/pool/by-index.ts'
import type { Pool } from '../../database/pool/pool.ts'
import type { Environment } from '../../platform/environment.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { isSpaceWiped } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { collectEvents, emit } from '../emit/emit.ts'
import { readBlocks, showBlock, showBlockEnd } from '../webhook-endpoints/blocked.ts'
import { showEndpoint } from '../webhook-endpoints/handlers.ts'
import { readEndpoint } from '../webhook-endpoints/queries.ts'
import { noteBlockEnds, noteBlocks } from './queries/blocks.ts'
import {
  findNextEvent,
  lockOrdered,
  type OrderedEndpoint,
  queueFirst,
  SEARCHED_AT_ONCE,
  SEARCHED_FIRST,
  settleUpTo,
} from './queries/fifo.ts'
import { advanceKeys, findEnded, holdPage, readRoom, removeHeld } from './queries/fifo-by-key.ts'

export interface OrderedOptions {
  readonly environment: Environment
  readonly pool: Pool
  readonly clock: Pick<Clock, 'service'>
  /** Reads the version that a tenant is pinned to; null if there is no pin. */
  readonly readPin: (tenantId: string) => Promise<string | null>
}

export interface OrderedPlan {
  /** Whether attempts were queued. */
  readonly queued: boolean
  /** Whether an event was emitted for which there may be attempts to plan. */
  readonly emitted: boolean
}

/** Queues the next events of the tenant's ordered endpoints, and emits an event for each block that began or ended. */
export async function planOrdered(options: OrderedOptions, tenantId: string): Promise<OrderedPlan> {
  try {
    return await options.pool.forTenant(tenantId).transaction(async (tx) => {
      useIndexes(tx)
      let queued = false
      const announcements: Announcement[] = []
      for (const endpoint of await lockOrdered(tx, tenantId)) {
        const plan = endpoint.fifo_key === 'object' ? planByKey : planNext
        queued = (await plan(tx, tenantId, endpoint)) || queued
        announcements.push(...(await findChanges(tx, tenantId, endpoint.id)))
      }
      const emitted = announcements.length > 0 && (await announce(options, tx, tenantId, announcements))
      return { queued, emitted }
    })
  } catch (error) {
    // The wipe deletes the endpoints.
    if (isSpaceWiped(error)) return { queued: false, emitted: false }
    throw error
  }
}

/** Queues the next event of an endpoint that has no attempt. Returns whether it queued one. */
async function planNext(tx: Database, tenantId: string, { id, settled }: OrderedEndpoint): Promise<boolean> {
  for (let [after, limit] = [settled, SEARCHED_FIRST]; ; limit = SEARCHED_AT_ONCE) {
    const page = await findNextEvent(tx, tenantId, id, after, limit)
    if (!page) return false
    const { next, reached, more } = page
    after = next ? next.sequence - 1 : reached
    if (!next && more) continue
    if (after > settled) pipelined(settleUpTo(tx, tenantId, id, after))
    if (next) queueFirst(tx, tenantId, id, [next.id])
    return next !== null
  }
}

/** Queues the next event of each key that has no attempt, as long as there is room. Returns whether it queued any. */
async function planByKey(tx: Database, tenantId: string, { id, settled }: OrderedEndpoint): Promise<boolean> {
  let room = await readRoom(tx, tenantId, id)
  let [after, more, hasQueued] = [settled, true, false]
  while (room > 0 && more) {
    const ended = await findEnded(tx, tenantId, id)
    const done = ended.filter((head) => head.done)
    if (done.length > 0) removeHeld(tx, tenantId, id, done)
    const page = await holdPage(tx, tenantId, id, after)
    const keys = new Set([...done.map(({ key }) => key), ...page.keys])
    const heads = await advanceKeys(tx, tenantId, id, [...keys])
    const events = [...ended.filter((head) => !head.done), ...heads.filter((head) => !head.delivered)]
    if (events.length > 0) {
      const ids = events.map(({ event_id }) => event_id)
      queueFirst(tx, tenantId, id, ids)
    }
    hasQueued ||= events.length > 0
    room -= events.length
    // The next event of a key whose first one was delivered by a recovery follows in the next step.
    more = page.more || done.length > 0 || heads.some((head) => head.delivered)
    after = page.reached
  }
  if (after > settled) pipelined(settleUpTo(tx, tenantId, id, after))
  return hasQueued
}

/** A block that began or ended at an endpoint. */
interface Announcement {
  readonly endpointId: string
  readonly type: 'webhook_endpoint.blocked' | 'webhook_endpoint.unblocked'
  /** What the endpoint shows beside itself. */
  readonly shown: object
}

async function findChanges(
  tx: Database,
  tenantId: string,
  endpointId: string,
): Promise<readonly Announcement[]> {
  const [ended, began] = await Promise.all([
    noteBlockEnds(tx, tenantId, endpointId),
    noteBlocks(tx, tenantId, endpointId),
  ])
  const blocks = began.length === 0 ? [] : await readBlocks(tx, tenantId, endpointId, { events: began })
  return [
    ...ended.map((end) => ({
      endpointId,
      type: 'webhook_endpoint.unblocked' as const,
      shown: { unblocked: showBlockEnd(end) },
    })),
    ...blocks.map((block) => ({
      endpointId,
      type: 'webhook_endpoint.blocked' as const,
      shown: { blocked: showBlock(block) },
    })),
  ]
}

/** Emits events to all other endpoints that are subscribed, and writes audit entries. Must end the transaction. */
async function announce(
  { environment, pool, clock, readPin }: OrderedOptions,
  tx: Database,
  tenantId: string,
  announcements: readonly Announcement[],
): Promise<boolean> {
  const now = clock.service(environment)
  const events = collectEvents({ tenantId, pin: await readPin(tenantId), now })
  for (const { endpointId, type, shown } of announcements) {
    const row = await readEndpoint(tx, tenantId, endpointId)
    if (!row) continue
    const data = { webhook_endpoint: { ...showEndpoint(row), ...shown } }
    emit(events, { type, data, recipients: { subscribersBut: endpointId } })
  }
  const entries = announcements.map(({ endpointId, type }) => systemEntry(environment, type, endpointId, now))
  return events.writeWith(tx, entries, pool.distributed)
}
