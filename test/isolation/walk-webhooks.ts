/** What ordered endpoints, recoveries and comparisons of endpoints send. */
import { expect } from 'vitest'
import type { Pool } from '../../runtime/database/pool/pool.ts'
import { planOrdered } from '../../runtime/events/delivery/ordered.ts'
import { releaseAttempt } from '../../runtime/events/delivery/queries/completions.ts'
import { advanceKeys, removeHeld } from '../../runtime/events/delivery/queries/fifo-by-key.ts'
import { compareDeliveries } from '../../runtime/events/delivery-attempts/comparison.ts'
import {
  chooseEvents,
  countPage,
  endOfPage,
  queueEvents,
  readSettled,
  SEARCHED_AT_ONCE,
} from '../../runtime/events/webhook-recoveries/pages.ts'
import {
  readNextTime,
  readRecovery,
  updateRecovery,
} from '../../runtime/events/webhook-recoveries/queries.ts'
import { orderedIn } from '../support/planning.ts'
import type { Send } from '../support/service.ts'

const NOBODY = '00000000-0000-4000-8000-000000000000'

/** Two ordered endpoints, a recovery for one of them, and their next events. @param skipped an event that blocks neither. */
export async function deliverInOrder(send: Send, pool: Pool, space: string, skipped: string): Promise<void> {
  const endpoints = []
  for (const fifo_key of ['endpoint', 'object']) {
    const id = await order(send, fifo_key)
    const path = `/v1/webhook-endpoints/${id}`
    await send(`${path}/skip`, { body: { event_id: skipped } })
    const { body: event } = await send(`${path}/test`, { method: 'POST' })
    expect((await planOrdered(orderedIn(pool), space)).queued).toBe(true)
    await send(path, { method: 'PATCH', body: { status: 'disabled' } })
    expect((await send(`${path}/skip`, { body: { event_id: event.id } })).status).toBe(200)
    if (fifo_key === 'endpoint') {
      await send(path, { method: 'PATCH', body: { status: 'enabled' } })
      await recover(send, pool, space, id)
    }
    await pool.transaction(async (tx) => {
      removeHeld(tx, space, id, [{ key: id, event_id: skipped, done: true }])
      await advanceKeys(tx, space, id, [id])
      await releaseAttempt(tx, space, skipped, NOBODY)
    })
    await send(path, { method: 'DELETE' })
    endpoints.push(id)
  }
  await compareDeliveries(pool, space, [endpoints[0]!, endpoints[1]!], Number.MAX_SAFE_INTEGER)
}

async function order(send: Send, fifo_key: string): Promise<string> {
  const body = { url: 'https://example.com/', enabled_events: ['*'], delivery: 'fifo', fifo_key }
  const { body: endpoint } = await send('/v1/webhook-endpoints', { body })
  expect((await send(`/v1/webhook-endpoints/${endpoint.id}`)).body.blocked).toBeNull()
  return endpoint.id
}

/** Every step of a recovery, which is then canceled. */
async function recover(send: Send, pool: Pool, space: string, endpoint: string): Promise<void> {
  const path = `/v1/webhook-endpoints/${endpoint}`
  const period = { since: '2026-01-01T00:00:00Z', scope: 'all' }
  const { body: recovery } = await send(`${path}/recover`, { body: period })
  await pool.transaction(async (tx) => {
    const row = (await readRecovery(tx, space, endpoint, recovery.id))!
    expect(await countPage(tx, space, row)).toBeGreaterThan(0)
    const { reached } = await endOfPage(tx, space, row, SEARCHED_AT_ONCE)
    const chosen = await chooseEvents(tx, space, row, 1)
    expect(chosen).toHaveLength(1)
    await queueEvents(tx, space, endpoint, chosen, row.until)
    const queued = chosen.map(({ attempt_id }) => attempt_id)
    expect(await readSettled(tx, space, queued)).toEqual([])
    const next = await readNextTime(tx, space, recovery.id)
    await updateRecovery(tx, space, { ...row, queued, reached, status: 'running' }, next)
  })
  await send(`${path}/recoveries?status=counting&created[gte]=2026-01-01`)
  await send(`${path}/recoveries/${recovery.id}`)
  await send(`${path}/recoveries/${recovery.id}/cancel`, { method: 'POST' })
}
