/** First attempts of which nothing is written yet, where tables are distributed by tenant: each statement is for one shard. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../../runtime/database/database.ts'
import { useIndexes } from '../../../runtime/database/pool/by-index.ts'
import { completeOfOne } from '../../../runtime/events/delivery/queries/completions.ts'
import {
  type AttemptCompletion,
  showOfOne,
  succeedOfOne,
} from '../../../runtime/events/delivery/queries/successes.ts'
import { planAttempts } from '../../../runtime/events/delivery/queries/visits.ts'
import { cancelAttempts } from '../../../runtime/events/webhook-endpoints/cancel-attempts.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import { type Endpoint, MINUTE, openStage, START, type Stage } from './setup.ts'

let stage: Stage
let tenantId: string
let endpoint: Endpoint
const token = randomUUID()
beforeAll(async () => {
  stage = await openStage(12, true)
  expect(stage.database.sandbox.distributed).toBe(true)
})
afterAll(() => stage.close())
beforeEach(async () => {
  tenantId = newId('ten')
  endpoint = await stage.addEndpoint(tenantId, 'http://127.0.0.1:1')
})

/** Emits and plans: so many are leased under the token. Gives these. */
async function lease(events: number, limit: number) {
  await stage.emit(tenantId, events)
  const now = stage.leaseClock.now()
  const lasts = { now, leaseUntil: now + 20_000 }
  const of = { of: 'one', tenants: [tenantId], allowance: 1000, allowances: {} } as const
  const { rows, flushed } = await planAttempts(stage.database.sandbox, { ...of, ...lasts, token, limit })
  await flushed()
  return rows.map(({ attempt_id }) => ({ tenantId, attemptId: attempt_id, token }))
}

const inTransaction = <T>(write: (tx: Database) => Promise<T>) =>
  stage.database.sandbox.transaction((tx) => {
    useIndexes(tx)
    return write(tx)
  })

const statuses = async () => (await stage.attempts(endpoint)).map(({ status }) => status).toSorted()

const succeed = (sent: Awaited<ReturnType<typeof lease>>) =>
  inTransaction((tx) =>
    succeedOfOne(
      tx,
      sent.map((each) => ({
        ...each,
        status: 'succeeded',
        responseStatus: 200,
        responseBody: 'ok',
        durationMs: 7,
        attemptedAt: START,
      })),
      START + 1,
    ),
  )

const complete = (completions: readonly AttemptCompletion[]) =>
  inTransaction((tx) => completeOfOne(tx, completions, START + 1))

const cancel = (machine: number) =>
  stage.database.sandbox.transaction((tx) =>
    cancelAttempts(tx, tenantId, endpoint.id, START + 1, stage.leaseClock.now() + machine),
  )

test('first attempts are in the queue only, until they are shown or over', async () => {
  const [first, second, third] = await lease(5, 3)
  expect(await statuses()).toEqual(['pending', 'pending'])
  await inTransaction((tx) => showOfOne(tx, [first!, { ...second!, token: randomUUID() }]))
  expect(await statuses()).toEqual(['pending', 'pending', 'pending'])
  const written = await succeed([first!, second!, { ...third!, token: randomUUID() }])
  expect([...written].toSorted()).toEqual([first!.attemptId, second!.attemptId].toSorted())
  const of = (await stage.attempts(endpoint)).filter(({ id }) => written.has(id))
  const answered = { status: 'succeeded', trigger: 'schedule', response_status: 200, response_body: 'ok' }
  const when = {
    duration_ms: 7,
    attempted_at: START,
    scheduled_at: START,
    created: START,
    updated: START + 1,
  }
  expect(of).toMatchObject(Array(2).fill({ ...answered, ...when, attempt: 1, next_attempt_at: null }))
  await inTransaction((tx) => showOfOne(tx, [first!, second!])) // too late: nothing changes
  expect(await statuses()).toEqual(['pending', 'pending', 'succeeded', 'succeeded'])
  expect(await stage.count('webhook_ready', tenantId)).toBe(3)
})

test('an attempt that fails is written, with the next one after it; one that others hold is not', async () => {
  const [failed, stale] = await lease(2, 2)
  const dueAt = START + 5 * MINUTE
  const next = () => ({ id: newId('wdla', START), dueAt, generation: 0 })
  const end = { status: 'failed', error: 'refused', durationMs: 7, attemptedAt: START } as const
  const written = await complete([
    { ...failed!, ...end, next: next() },
    { ...stale!, ...end, token: randomUUID(), next: next() },
  ])
  expect([...written]).toEqual([failed!.attemptId])
  const made = { status: 'pending', attempt: 2, scheduled_at: dueAt, created: START + 1 }
  expect(await stage.attempts(endpoint)).toMatchObject([
    { id: failed!.attemptId, status: 'failed', error: 'refused', duration_ms: 7, next_attempt_at: dueAt },
    made,
  ])
  expect(await stage.count('webhook_waiting', tenantId)).toBe(1)
  expect(await stage.count('webhook_ready', tenantId)).toBe(1)
})

test('those whose sender was lost are seen as cancelled, with what waits; those being sent end as they end', async () => {
  const [failed] = await lease(3, 3)
  const next = { id: newId('wdla', START), dueAt: START + 5 * MINUTE, generation: 0 }
  await complete([{ ...failed!, status: 'failed', error: 'refused', next }])
  await cancel(0)
  expect(await statuses()).toEqual(['canceled', 'failed'])
  expect(await stage.count('webhook_ready', tenantId)).toBe(2)
  await cancel(21_000)
  expect(await statuses()).toEqual(['canceled', 'canceled', 'canceled', 'failed'])
  expect((await stage.attempts(endpoint)).map((each) => each.next_attempt_at)).toEqual(Array(4).fill(null))
  for (const table of ['webhook_ready', 'webhook_waiting']) expect(await stage.count(table, tenantId)).toBe(0)
})

test('concurrent cancelation and late delivery write each attempt once, and neither ends the other', async () => {
  for (let round = 0; round < 10; round += 1) {
    const sent = await lease(8, 8)
    const lates = sent.map((each, at) =>
      at % 2 === 0 ? succeed([each]) : complete([{ ...each, status: 'failed', error: 'refused' }]),
    )
    const [written] = await Promise.all([Promise.all(lates), cancel(21_000)])
    const late = new Set(written.flatMap((each) => [...each]))
    const attempts = (await stage.attempts(endpoint)).slice(-8)
    for (const { id, status } of attempts) expect([id, status !== 'canceled']).toEqual([id, late.has(id)])
  }
  expect((await statuses()).length).toBe(80)
  expect(await stage.count('webhook_ready', tenantId)).toBe(0)
})
