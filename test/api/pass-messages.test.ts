/** Messages to holders: who gets them, who does not, and batches that are interrupted. */
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { passMessageBatchWorker } from '../../runtime/passes/pass-messages/batch-job.ts'
import { passMessageWorker } from '../../runtime/passes/pass-messages/job.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'
import { issuePass, makeTemplate, refusal, speakFor } from './fixtures.ts'

const service = useService()
let tenantId: string
let send: Send
let templateId: string
beforeEach(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
  templateId = await makeTemplate(send)
})

const TEXT = { header: 'Doors', body: 'Open at 18:30.' }

const silent = pino({ level: 'silent' }) // a failing row is logged

const parts = () => ({ ...service, log: silent, wakeUpChannel: { publish: () => {} } })
const sendDue = () => passMessageWorker(parts()).runOnce()

async function issueInstalled(): Promise<string> {
  const { id } = await issuePass(send, templateId)
  await send('/v1/test/passes/simulate_install', { body: { pass_id: id, platform: 'apple' } })
  return id
}

const eventsOf = async (type: string) => (await send(`/v1/events?type=${type}`)).body.data

test('a message is sent once, with an event and an audit entry, and three a day are the limit', async () => {
  const pass_id = await issueInstalled()
  const path = `/v1/passes/${pass_id}/messages`
  const made = await send(path, { body: TEXT })
  expect([made.status, made.body]).toEqual([
    201,
    expect.objectContaining({
      ...TEXT,
      pass_id,
      status: 'queued',
      reason: null,
      translations: {},
      sent_at: null,
    }),
  ])
  await Promise.all([sendDue(), sendDue()]) // as two nodes would
  const { body: sent } = await send(`/v1/pass_messages/${made.body.id}`)
  expect(sent).toMatchObject({ status: 'sent', sent_at: new Date(service.clock.now).toISOString() })
  expect(await eventsOf('pass_message.sent')).toMatchObject([{ data: { pass_message: sent } }])
  const audit = {
    text: 'SELECT action FROM audit_log WHERE tenant_id = $1 AND action LIKE $2 ORDER BY sequence',
  }
  expect((await service.database.sandbox.query(audit, [tenantId, 'pass_message.%'])).rows).toEqual(
    ['pass_message.created', 'pass_message.sent'].map((action) => ({ action })),
  )

  const later = new Date(service.clock.now + 3_600_000).toISOString()
  expect((await send(path, { body: { ...TEXT, starts_at: later } })).status).toBe(201)
  expect((await send(path, { body: TEXT })).status).toBe(201)
  expect((await send(path, { body: TEXT })).status).toBe(201)
  const refused = await send(path, { body: TEXT })
  expect(refusal(refused)).toEqual([429, 'rate_limited', 'tenant_limit'])
  expect(refused.body.error.retry_after_ms).toBe(86_400_000)
  await sendDue()
  service.clock.now += 3_600_000
  await sendDue()
  const list = await send(`/v1/pass_messages?pass_id=${pass_id}&order=asc`)
  expect(list.body.data.map(({ status, reason }: Record<string, unknown>) => [status, reason])).toEqual([
    ['sent', null],
    ['skipped', 'daily_limit'],
    ['sent', null],
    ['sent', null],
  ])
})

test('a message that cannot be shown is refused', async () => {
  const path = `/v1/passes/${await issueInstalled()}/messages`
  const past = new Date(service.clock.now - 1).toISOString()
  const refused = await send(path, { body: { ...TEXT, ends_at: past } })
  expect(refused.body.error.details).toEqual([{ field: 'ends_at', issue: 'must be in the future' }])
  const hour = new Date(service.clock.now + 3_600_000).toISOString()
  const empty = await send(path, { body: { ...TEXT, starts_at: hour, ends_at: hour } })
  expect(empty.body.error.details).toEqual([{ field: 'ends_at', issue: 'must be after starts_at' }])
  const missing = await send('/v1/passes/pass_00000000000000000000000000/messages', { body: TEXT })
  expect(refusal(missing)).toEqual([404, 'not_found', 'not_found'])
})

test('a holder turns messages off and on at the page of the pass, without scripts', async () => {
  const id = await issueInstalled()
  const { body: pass } = await send(`/v1/passes/${id}`)
  const { page_url } = pass.download
  const turn = (messages: string) =>
    fetch(`${page_url}/messages`, {
      method: 'POST',
      body: new URLSearchParams({ messages }),
      redirect: 'manual',
    })
  const before = await (await fetch(page_url)).text()
  expect(before).toContain('Turn messages off')
  expect((await turn('maybe')).status).toBe(400)
  const answer = await turn('off')
  expect([answer.status, answer.headers.get('Location')]).toEqual([303, page_url])
  expect(await (await fetch(page_url)).text()).toContain('Turn messages on')
  const off = (await send(`/v1/passes/${id}`)).body
  expect(off.messages_opted_out_at).toBe(new Date(service.clock.now).toISOString())
  const [event] = await eventsOf('pass.updated')
  expect(event).toMatchObject({ data: { pass: off }, previous_attributes: { messages_opted_out_at: null } })
  await send(`/v1/passes/${id}/messages`, { body: TEXT })
  await sendDue()
  expect(await eventsOf('pass_message.skipped')).toMatchObject([
    { data: { pass_message: { status: 'skipped', reason: 'opted_out' } } },
  ])
  expect((await turn('on')).status).toBe(303)
  expect((await send(`/v1/passes/${id}`)).body.messages_opted_out_at).toBeNull()
  expect((await fetch(`${page_url.slice(0, -3)}/messages`, { method: 'POST' })).status).toBe(404)
})

/** Queues and sends until the batch has ended. */
async function complete(id: string): Promise<Record<string, unknown>> {
  for (;;) {
    const { body } = await send(`/v1/pass_message_batches/${id}`)
    if (body.status !== 'queuing' && body.status !== 'sending') return body
    await passMessageBatchWorker(parts()).runOnce()
    await sendDue()
  }
}

test('a batch reaches the passes of its filter, each once, and one bad pass does not stop the others', async () => {
  const passes = [await issueInstalled(), await issueInstalled(), await issueInstalled()]
  const revoked = passes.pop()!
  const { id: fresh } = await issuePass(send, templateId)
  await issuePass(send, await makeTemplate(send))
  await send(`/v1/passes/${revoked}/revoke`, { method: 'POST' })
  const made = await send('/v1/pass_message_batches', {
    body: { ...TEXT, filter: { template_id: templateId } },
  })
  expect([made.status, made.body.status, made.body.total]).toEqual([201, 'queuing', 0])
  service.clock.now += 1
  await issueInstalled() // after the batch, so it gets no message
  await passMessageBatchWorker(parts()).runOnce()
  // A pass that cannot be read: its fields are not an object.
  const [good, bad] = passes
  const spoil = { text: `UPDATE passes SET changed = 'infinity' WHERE id = $1` }
  await service.database.sandbox.query(spoil, [bad])
  expect(await complete(made.body.id)).toMatchObject({ status: 'completed', total: 4, sent: 1, skipped: 3 })
  const { data } = (await send(`/v1/pass_messages?pass_message_batch_id=${made.body.id}`)).body
  const results = data.map(({ pass_id, status, reason }: Record<string, unknown>) => [
    pass_id,
    [status, reason],
  ])
  expect(Object.fromEntries(results)).toEqual({
    [good!]: ['sent', null],
    [bad!]: ['skipped', 'failed'],
    [revoked]: ['skipped', 'pass_ended'],
    [fresh]: ['skipped', 'not_installed'],
  })
  const { body: batch } = await send(`/v1/pass_message_batches/${made.body.id}`)
  expect(await eventsOf('pass_message_batch.completed')).toMatchObject([
    { data: { pass_message_batch: batch } },
  ])
})

test('a canceled batch sends nothing more, and five open batches are the limit', async () => {
  await issueInstalled()
  const starts_at = new Date(service.clock.now + 3_600_000).toISOString()
  const make = () => send('/v1/pass_message_batches', { body: { ...TEXT, filter: {}, starts_at } })
  const { body: batch } = await make()
  for (let count = 1; count < 5; count += 1) expect((await make()).status).toBe(201)
  expect(refusal(await make())).toEqual([409, 'conflict', 'invalid_state'])
  await passMessageBatchWorker(parts()).runOnce()
  const cancel = () => send(`/v1/pass_message_batches/${batch.id}/cancel`, { method: 'POST' })
  expect((await cancel()).body.status).toBe('canceled')
  expect(refusal(await cancel())).toEqual([409, 'conflict', 'invalid_state'])
  service.clock.now += 3_600_000
  await sendDue()
  const { data } = (await send(`/v1/pass_messages?pass_message_batch_id=${batch.id}`)).body
  expect(data).toMatchObject([{ status: 'skipped', reason: 'canceled' }])
  expect((await send('/v1/pass_message_batches?status=canceled')).body.data).toMatchObject([{ id: batch.id }])
})
