/** Links of Google Wallet are kept once, with their passes, and are whole wherever they are shown. */
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { issuePass, makeTemplate } from './fixtures.ts'

const service = useService()
let tenantId: string
let send: Send
let templateId: string

beforeAll(async () => {
  tenantId = await makeTenant(service)
  send = speak(service.urls.sandbox, {
    secret: (await makeKey(service, tenantId, { scope: 'admin' })).secret,
  })
  templateId = await makeTemplate(send)
})

const query = async (text: string, ...values: readonly unknown[]) =>
  (await service.database.control.query<Record<string, string>>({ text }, values)).rows

const answerOf = async (key: string) =>
  (await query('SELECT body FROM sandbox.idempotency_answers WHERE key = $1::uuid', key))[0]!.body!

test('a link to save a pass is part of the pass, and is whole in reads, lists, events and repeats', async () => {
  const key = randomUUID()
  // Names and values that look like a link that was left out.
  const metadata = { google_url: '', download: '{"google_url":""}' }
  const call = { body: { template_id: templateId, metadata }, headers: { 'Idempotency-Key': key } }
  const first = await send('/v1/passes', call)
  const { id, download } = first.body
  expect(download.google_url).toMatch(/^https:\/\/pay\.google\.com\/gp\/v\/save\/[\w-]+\.[\w-]+\.[\w-]{342}$/)
  expect(await answerOf(key)).not.toContain('pay.google.com')
  expect(await query('SELECT google_url FROM sandbox.passes WHERE id = $1', id)).toEqual([
    { google_url: null },
  ])

  const again = await send('/v1/passes', call)
  expect([again.text, again.headers.get('Idempotency-Replayed')]).toEqual([first.text, 'true'])
  expect((await send(`/v1/passes/${id}`)).body).toEqual(first.body)
  expect((await send('/v1/passes?limit=1')).body.data[0]).toEqual(first.body)
  expect((await send('/v1/events?limit=1')).body.data[0].data.pass).toEqual(first.body)
})

test('a link to save a pass is whole in repeats of every batch, also where other items failed', async () => {
  const batches = [
    [
      '/v1/passes/batch',
      { passes: [{ template_id: templateId }, { template_id: 'tpl_x' }, { template_id: templateId }] },
    ],
    [
      '/v1/passes/batch_update',
      { updates: [{ id: (await issuePass(send, templateId)).id, metadata: { a: '1' } }] },
    ],
    ['/v1/passes/batch_revoke', { ids: [(await issuePass(send, templateId)).id] }],
  ] as const
  for (const [path, body] of batches) {
    const key = randomUUID()
    const call = { body, headers: { 'Idempotency-Key': key } }
    const first = await send(path, call)
    expect([path, first.status, first.text.includes('pay.google.com')]).toEqual([path, 200, true])
    expect(await answerOf(key)).not.toContain('pay.google.com')
    expect((await send(path, call)).text).toBe(first.text)
  }
})

test('a link of a pass from before is shown as it is kept, in repeats of before too', async () => {
  const key = randomUUID()
  const call = { body: { template_id: templateId }, headers: { 'Idempotency-Key': key } }
  const first = await send('/v1/passes', call)
  const link = 'https://pay.google.com/gp/v/save/a.b.c'
  const text = first.text.replace(first.body.download.google_url, link)
  await query(
    'UPDATE sandbox.passes SET google_url = $2, google_link = NULL WHERE id = $1',
    first.body.id,
    link,
  )
  expect((await send(`/v1/passes/${first.body.id}`)).text).toBe(text)
  await query('UPDATE sandbox.idempotency_answers SET body = $2 WHERE key = $1::uuid', key, text)
  expect((await send('/v1/passes', call)).text).toBe(text)
})
