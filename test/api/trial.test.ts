/** What the trial covers, exactly. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Answer,
  makeKey,
  makeTenant,
  START,
  speak,
  startTestService,
  type TestService,
  useService,
} from '../support/service.ts'
import { countWaiting, firstFault, makeTemplate, speakFor } from './fixtures.ts'

const DAY = 86_400_000

const service = useService({ poolSize: 10 })
/** Another node on the same database. */
let other: TestService

beforeAll(async () => {
  other = await startTestService({ database: { ...service.database, close: async () => {} } })
})
afterAll(async () => {
  await other.stop()
})

describe('the trial', () => {
  test('the trial covers 500 live passes, exactly, whoever asks at once', async () => {
    const tenant = await makeTenant(service, 'trial')
    const by = await speakFor(service, tenant, 'live')
    const own = await makeTemplate(by)
    const many = (count: number) => ({ passes: Array(count).fill({ template_id: own }) })
    for (let batch = 0; batch < 4; batch += 1) await by('/v1/passes/batch', { body: many(100) })
    const last = await by('/v1/passes/batch', { body: many(90) })
    expect(last.body.results.every((each: Answer['body']) => each.status === 'succeeded')).toBe(true)
    const singles = await Promise.all(
      Array.from({ length: 20 }, () => by('/v1/passes', { body: { template_id: own } })),
    )
    expect(singles.map(({ status }) => status).sort()).toEqual([
      ...Array(10).fill(201),
      ...Array(10).fill(402),
    ])
    const refused = singles.find(({ status }) => status === 402)!
    expect(refused.body.error).toMatchObject({ type: 'payment_required', code: 'trial_limit_reached' })
    const mixed = await by('/v1/passes/batch', { body: many(2) })
    expect(mixed.body.results.map((each: Answer['body']) => each.error.code)).toEqual(
      Array(2).fill('trial_limit_reached'),
    )
    expect((await by('/v1/passes/count')).body.count).toBe(500)
  })

  test('the trial covers 500 where batches and single requests come to two nodes at once', async () => {
    const tenant = await makeTenant(service, 'trial')
    const { secret } = await makeKey(service, tenant, { environment: 'live' })
    const nodes = [service, other].map(({ urls }) => speak(urls.live, { secret }))
    const own = await makeTemplate(nodes[0]!)
    const many = (count: number) => ({ passes: Array(count).fill({ template_id: own }) })
    for (let batch = 0; batch < 4; batch += 1) await nodes[0]!('/v1/passes/batch', { body: many(100) })
    // Whoever counts while somebody holds the count waits: 150 are asked for, and 100 are left.
    const asked = await service.database.control.transaction(async (tx) => {
      await tx.query({ text: 'SELECT FROM live.trial_usage WHERE tenant_id = $1 FOR UPDATE' }, [tenant])
      const asked = Array.from({ length: 30 }, (_, at) => {
        const node = nodes[at % 2]!
        return at % 3 === 0
          ? node('/v1/passes/batch', { body: many(13) })
          : node('/v1/passes', { body: { template_id: own } })
      })
      await expect
        .poll(() => countWaiting(service.database), { interval: 5, timeout: 10_000 })
        .toBeGreaterThan(1)
      return { asked }
    })
    const answers = await Promise.all(asked.asked)
    const made = answers.flatMap(({ body, status }) =>
      (body.results ?? [body]).filter(
        (each: Answer['body']) => each.status === 'succeeded' || status === 201,
      ),
    )
    expect(made).toHaveLength(100)
    expect((await nodes[1]!('/v1/passes/count')).body.count).toBe(500)
    expect((await nodes[1]!('/v1/passes', { body: { template_id: own } })).status).toBe(402)
  })

  test('a batch takes what is left of it', async () => {
    const tenant = await makeTenant(service, 'trial')
    const by = await speakFor(service, tenant, 'live')
    const own = await makeTemplate(by)
    await service.database.live.query(
      { text: 'INSERT INTO trial_usage (tenant_id, passes) VALUES ($1, 498)' },
      [tenant],
    )
    const passes = [{ template_id: own }, { template_id: 'x' }, { template_id: own }, { template_id: own }]
    const { body } = await by('/v1/passes/batch', { body: { passes } })
    expect(body.results.map((each: Answer['body']) => each.error?.code ?? each.status)).toEqual([
      'succeeded',
      'validation_failed',
      'succeeded',
      'trial_limit_reached',
    ])
  })

  test('the trial is not stored: with a plan the same request goes through', async () => {
    const tenant = await makeTenant(service, 'trial')
    const by = await speakFor(service, tenant, 'live')
    const own = await makeTemplate(by)
    await service.database.live.query(
      { text: 'INSERT INTO trial_usage (tenant_id, passes) VALUES ($1, 500)' },
      [tenant],
    )
    const call = {
      body: { template_id: own },
      headers: { 'Idempotency-Key': '0197905f-2f6c-7d3e-8a41-5b6c7d8e9fa0' },
    }
    expect((await by('/v1/passes', call)).status).toBe(402)
    await service.database.control.query(
      { text: `UPDATE control.tenants SET plan = 'standard' WHERE id = $1` },
      [tenant],
    )
    service.forget()
    expect((await by('/v1/passes', call)).status).toBe(201)
  })

  test('the trial ends after 30 days', async () => {
    const tenant = await makeTenant(service, 'trial')
    const by = await speakFor(service, tenant, 'live')
    const own = await makeTemplate(by)
    service.clock.now = START + 30 * DAY - 1
    expect((await by('/v1/passes', { body: { template_id: own } })).status).toBe(201)
    service.clock.now = START + 30 * DAY
    for (const [path, body] of [
      ['/v1/passes', { template_id: own }],
      ['/v1/passes/batch', { passes: [{ template_id: own }] }],
    ] as const) {
      const answer = await by(path, { body })
      expect(firstFault(answer).slice(0, 2)).toEqual([402, 'trial_expired'])
    }
  })

  test('the sandbox is free', async () => {
    const tenant = await makeTenant(service, 'trial')
    const by = await speakFor(service, tenant)
    const own = await makeTemplate(by)
    service.clock.now = START + 60 * DAY
    expect((await by('/v1/passes', { body: { template_id: own } })).status).toBe(201)
  })
})
