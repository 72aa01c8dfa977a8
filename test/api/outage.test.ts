/** The database goes away and comes back; faults of ours stay ours. */
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { openRelayedDatabase } from '../support/database.ts'
import type { Relay } from '../support/relay.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { makeTemplate } from './fixtures.ts'

let relay: Relay
let secret: string
let send: Send
let templateId: string

const service = useService(async () => {
  const opened = await openRelayedDatabase()
  relay = opened.relay
  return { database: opened.database }
})
beforeAll(async () => {
  secret = (await makeKey(service, await makeTenant(service))).secret
  send = speak(service.urls.sandbox, { secret })
  templateId = await makeTemplate(send)
})

test('503 while the database is away, and on as before when it is back', async () => {
  const key = randomUUID()
  const order = { body: { template_id: templateId }, headers: { 'Idempotency-Key': key } }
  expect((await send('/readyz')).status).toBe(200)
  await relay.down()
  for (const [path, call] of [
    ['/v1/passes', {}],
    ['/v1/passes', order],
    ['/v1/passes/batch', { body: { passes: [{ template_id: templateId }] } }],
  ] as const) {
    const { status, body, headers } = await send(path, call)
    expect([status, body.error]).toMatchObject([503, { type: 'unavailable', code: 'unavailable' }])
    expect(headers.get('Retry-After')).toBe('1')
  }
  // A key that this node has not seen cannot be checked.
  const unknown = speak(service.urls.sandbox, { secret: secret.replace(/.$/, '') })
  expect((await unknown('/v1/me')).status).toBe(401)
  service.forget()
  expect((await send('/v1/me')).status).toBe(503)
  expect((await send('/readyz')).status).toBe(503)
  expect((await send('/livez')).status).toBe(200)

  await relay.up()
  expect((await send('/readyz')).status).toBe(200)
  expect((await send('/v1/passes', order)).status).toBe(201)
  expect((await send('/v1/passes/count')).body.count).toBe(1)
})

test('connections cut in the middle of requests: each is answered, and one effect stays', async () => {
  const calls = Array.from({ length: 20 }, () => ({
    body: { template_id: templateId },
    headers: { 'Idempotency-Key': randomUUID() },
  }))
  const before = (await send('/v1/passes/count')).body.count
  const running = calls.map((call) => send('/v1/passes', call))
  await Promise.race(running)
  await relay.down()
  const first = await Promise.all(running)
  expect(first.every(({ status }) => status === 201 || status === 503)).toBe(true)
  expect(first.some(({ status }) => status === 503)).toBe(true)
  await relay.up()
  const again = await Promise.all(calls.map((call) => send('/v1/passes', call)))
  expect(again.map(({ status }) => status)).toEqual(Array(20).fill(201))
  expect((await send('/v1/passes/count')).body.count).toBe(before + 20)
})

test('a fault of ours shows nothing of itself', async () => {
  await service.database.control.query({ text: 'ALTER TABLE sandbox.passes RENAME TO passes_gone' })
  try {
    for (const call of [{}, { body: { template_id: templateId } }]) {
      const { status, body, text } = await send('/v1/passes', call)
      expect([status, body.error]).toMatchObject([500, { type: 'api_error', code: 'internal_error' }])
      expect(text).not.toMatch(/passes_gone|relation|SELECT|INSERT|\.ts|node_modules| at /)
    }
  } finally {
    await service.database.control.query({ text: 'ALTER TABLE sandbox.passes_gone RENAME TO passes' })
  }
  expect((await send('/v1/passes')).status).toBe(200)
})
