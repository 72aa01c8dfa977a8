/** The worker that takes recoveries forward. Each step is one transaction, so a lost process or a second node repeats none. */

import type { Environment } from '../../platform/environment.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import { type Done, type DueParts, type DuePlace, type DueStep, dueWorker } from '../due-work.ts'
import { emit } from '../emit/emit.ts'
import { readEndpoint } from '../webhook-endpoints/queries.ts'
import { showRecovery } from './handlers.ts'
import {
  COUNTED_AT_ONCE,
  chooseEvents,
  countPage,
  type DueRecovery,
  endOfPage,
  findDueRecoveries,
  queueEvents,
  readSettled,
  SEARCHED_AT_ONCE,
} from './pages.ts'
import { lockRecovery, type RecoveryRow, readNextTime, updateRecovery } from './queries.ts'

export interface RecoveryWorker extends DeclaredWorker {
  /** Called when a manual attempt of an endpoint has ended in this process. */
  ended(environment: Environment, endpointId: string): void
}

/**
 * Declares the worker. It queues one batch of an endpoint at a time, and the next one when the first has ended, so new events of the
 * endpoint, other endpoints and other tenants keep their shares of the queue. It is woken when a batch may have ended, and when the next
 * one is due.
 */
export function recoveryWorker(parts: DueParts): RecoveryWorker {
  /** Attempts of the last batch that have not ended, by endpoint, as far as this process knows. A poll finds what others do. */
  const open = new Map<string, number>()
  const worker = dueWorker<DueRecovery>(parts, {
    name: 'webhook_recovery',
    finds: [(db, _now, limit) => findDueRecoveries(db, limit)],
    isSingle: true,
    act: (place, rows) =>
      advance(place, rows[0]!, (count, at) => {
        open.set(rows[0]!.endpoint_id, count)
        const timer = setTimeout(
          () => worker.wake(place.environment),
          Math.max(0, at - parts.clock.machine()),
        )
        timer.unref() // a poll finds the batch if the process ends before
      }),
  })
  return {
    ...worker,
    ended(environment, endpointId) {
      const left = (open.get(endpointId) ?? 0) - 1
      if (left > 0) open.set(endpointId, left)
      else if (open.delete(endpointId)) worker.wake(environment)
    },
  }
}

/** Takes one step of a recovery. Returns its end, if the step is the last one. @param queued called with the size of a batch and the time of the next one. */
async function advance(
  place: DuePlace,
  { id, endpoint_id }: DueRecovery,
  queued: (count: number, nextAt: number) => void,
): Promise<readonly Done[] | DueStep> {
  const { db, space, now, events } = place
  const row = await lockRecovery(db, space, endpoint_id, id)
  if (row?.status !== 'counting' && row?.status !== 'running') return []
  const endpoint = await readEndpoint(db, space, endpoint_id)
  if (endpoint?.status !== 'enabled') {
    await updateRecovery(db, space, { ...row, status: 'canceled', updated: now })
    return [{ id, action: 'webhook_recovery.canceled' }]
  }
  if (row.status === 'counting') {
    await updateRecovery(db, space, { ...(await count(place, row)), updated: now })
    return 'more'
  }
  const settled = await settle(place, row)
  if (settled.queued.length > 0) {
    await updateRecovery(db, space, settled)
    return []
  }
  const next = await queueNext(place, settled)
  if (next.queued.length === 0 && next.reached >= next.last) {
    const completed: RecoveryRow = { ...next, status: 'completed', updated: now }
    await updateRecovery(db, space, completed)
    emit(events, { type: 'webhook_recovery.completed', data: { webhook_recovery: showRecovery(completed) } })
    return [{ id, action: 'webhook_recovery.completed' }]
  }
  if (next.queued.length === 0) {
    await updateRecovery(db, space, next)
    return 'more'
  }
  const at = await readNextTime(db, space, id)
  await updateRecovery(db, space, next, at)
  queued(next.queued.length, at)
  return 'queued'
}

async function count({ db, space }: DuePlace, row: RecoveryRow): Promise<RecoveryRow> {
  const total = row.total + (await countPage(db, space, row))
  const { reached, ends } = await endOfPage(db, space, row, COUNTED_AT_ONCE)
  return ends ? { ...row, total, reached: row.before, status: 'running' } : { ...row, total, reached }
}

/** Counts the attempts that have ended. */
async function settle({ db, space, now }: DuePlace, row: RecoveryRow): Promise<RecoveryRow> {
  const settled = await readSettled(db, space, row.queued)
  if (settled.length === 0) return row
  const sent = settled.filter(({ succeeded }) => succeeded).length
  const ended = new Set(settled.map(({ id }) => id))
  return {
    ...row,
    sent: row.sent + sent,
    failed: row.failed + settled.length - sent,
    queued: row.queued.filter((id) => !ended.has(id)),
    updated: now,
  }
}

/** Queues the next batch: the events of one second at the recovery's rate. */
async function queueNext({ db, space, now }: DuePlace, row: RecoveryRow): Promise<RecoveryRow> {
  const chosen = await chooseEvents(db, space, row, row.rate)
  if (chosen.length > 0) await queueEvents(db, space, row.endpoint_id, chosen, now)
  const queued = chosen.map(({ attempt_id }) => attempt_id)
  if (chosen.length === row.rate) return { ...row, queued, reached: chosen.at(-1)!.sequence, updated: now }
  const { reached, ends } = await endOfPage(db, space, row, SEARCHED_AT_ONCE)
  return { ...row, queued, reached: ends ? row.last : reached, updated: now }
}
