import { pino } from 'pino'
import { expect } from 'vitest'
import { createDevices } from '../../runtime/passes/passes/registrations.ts'
import { openPassTokens } from '../../runtime/passes/wallets/render/pass-tokens.ts'
import type { Pushed } from '../../runtime/passes/wallets/sync/apple/apns.ts'
import { fanOutToApple } from '../../runtime/passes/wallets/sync/apple/fan-out.ts'
import { createAppleSender } from '../../runtime/passes/wallets/sync/apple/sender.ts'
import { createUpdateWorker } from '../../runtime/passes/wallets/sync/apple/worker.ts'
import type { Environment } from '../../runtime/platform/environment.ts'
import { createLeaseClock } from '../../runtime/work/lease-clock.ts'
import { createSetAside } from '../../runtime/work/set-aside.ts'
import { issuePass, makeTemplate } from '../api/fixtures.ts'
import { until } from '../support/programs.ts'
import type { Send, TestService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'

const TOPIC = 'pass.development.invalid'

/** Two devices with a pass that changes: one is told at the second attempt, the other is gone. */
export async function walkDevices(
  service: TestService,
  send: Send,
  space: string,
  environment: Environment,
): Promise<void> {
  const templateId = await makeTemplate(send)
  const passId = (await issuePass(send, templateId)).id
  const tokens = openPassTokens(service.database.pepper)
  const authorization = `ApplePass ${tokens[environment].write('apple', { space, passId })}`
  const base = `${service.urls[environment]}/apple/v1/devices`
  const register = async (device: string, method: string, pushToken: string) =>
    (
      await fetch(`${base}/${device}/registrations/${TOPIC}/${passId}`, {
        method,
        headers: { Authorization: authorization },
        ...(method === 'POST' && { body: JSON.stringify({ pushToken }) }),
      })
    ).status
  // Devices of two tenants may be one.
  const [here, gone] = [`here-${space}`, `gone-${space}`]
  expect(await register(here, 'POST', 'aa'.repeat(32))).toBe(201)
  expect(await register(gone, 'POST', 'bb'.repeat(32))).toBe(201)
  for (const path of [`/v1/passes/${passId}`, `/v1/pass_templates/${templateId}`]) {
    expect((await send(path, { method: 'PATCH', body: { metadata: { b: '2' } } })).status).toBe(200)
  }
  await push(service, environment, tokens)
  const news = await fetch(`${base}/${here}/registrations/${TOPIC}`)
  expect(await news.json()).toMatchObject({ serialNumbers: [passId] })
  expect(await register(here, 'POST', 'cc'.repeat(32))).toBe(200)
  expect(await register(here, 'DELETE', '')).toBe(200)
}

async function push(
  { database, clock, urls }: TestService,
  environment: Environment,
  passTokens: ReturnType<typeof openPassTokens>,
): Promise<void> {
  const pool = database[environment]
  const answers: Pushed[] = [{ kind: 'failed', reason: 'busy' }]
  const log = pino({ level: 'silent' })
  const worker = createUpdateWorker({
    environment,
    platform: 'apple',
    pool,
    leaseClock: createLeaseClock(pool, clock.machine),
    setAside: createSetAside(
      { control: database.control, clock, log: strictLog },
      'apple_pushes',
      environment,
    ),
    sender: createAppleSender({
      db: pool,
      apns: {
        push: async (token) =>
          token.startsWith('bb') ? { kind: 'gone' } : (answers.pop() ?? { kind: 'sent' }),
        close: () => {},
      },
      devices: createDevices({
        environment,
        pool,
        control: database.control,
        clock,
        baseUrls: { ...urls, console: '' },
        wakeUpChannel: { publish: () => {} },
        passTokens,
      }),
      now: clock.machine,
      log,
    }),
    fanOut: (space, lease) => fanOutToApple(pool, space, lease, { passes: 1, devices: 1 }),
    log,
    pollMs: 10,
    retryMs: 10,
  })
  await until('a push', () => worker.stats().outcomes.failed > 0 && worker.stats().outcomes.done > 1)
  await worker.stop()
}
