/** What happens is told, once, in the tenant's version, and only when it is committed. */
import { beforeAll, describe, expect, test } from 'vitest'
import { codeOf, DEADLOCK_DETECTED } from '../../runtime/database/errors.ts'
import {
  issuePass,
  makeTemplate,
  NO_PASS,
  someoneWaits,
  speakFor,
  TEMPLATE,
  VERSIONS,
  whileHeld,
} from '../api/fixtures.ts'
import { checkEvent } from '../support/contract.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'

const service = useService({ env: { SVC_WEBHOOK_ALLOW: '127.0.0.0/8' }, keepsTime: true })

/** Everything that happened to a tenant, oldest first, as it is stored. */
async function storedEvents(tenantId: string) {
  const { rows } = await service.database.control.query<{ sequence: number; body: string }>(
    { text: 'SELECT sequence, body FROM sandbox.events WHERE tenant_id = $1 ORDER BY sequence' },
    [tenantId],
  )
  return rows.map(({ sequence, body }) => ({ sequence, ...JSON.parse(body) }))
}

describe.each(VERSIONS)('a tenant pinned to %s', (version) => {
  test('a tenant gets what happens to templates and passes in the version of its pin', async () => {
    const tenantId = await makeTenant(service, 'enterprise', version)
    const send = await speakFor(service, tenantId)
    const templateId = await makeTemplate(send)
    await send(`/v1/pass_templates/${templateId}`, { method: 'PATCH', body: { name: 'Tea' } })
    const pass = await issuePass(send, templateId, { fields: { points: '120' } })
    await send(`/v1/passes/${pass.id}`, { method: 'PATCH', body: { fields: { points: '125' } } })
    await send(`/v1/passes/${pass.id}/revoke`, { body: {} })
    const revoked = await send(`/v1/passes/${pass.id}`)
    await send(`/v1/passes/${pass.id}/archive`, { body: {} })
    await send(`/v1/pass_templates/${templateId}/archive`, { body: {} })
    const events = await storedEvents(tenantId)
    expect(events.map(({ type }) => type)).toEqual([
      'pass_template.created',
      'pass_template.updated',
      'pass.created',
      'pass.updated',
      'pass.revoked',
      'pass.archived',
      'pass_template.archived',
    ])
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(events.flatMap(checkEvent)).toEqual([])
    expect(events.map((event) => event.version)).toEqual(Array(7).fill(version))
    expect(events[4]!.data.pass).toEqual(revoked.body)
    expect(events[2]!.created).toBe('2026-06-01T12:00:00.000Z')
    expect(events[3]!.previous_attributes).toEqual(
      version === '2026-05-19' ? { fields: { points: '120' } } : undefined,
    )
  })
})

describe('is told', () => {
  let tenantId: string
  let send: Send
  beforeAll(async () => {
    tenantId = await makeTenant(service)
    send = await speakFor(service, tenantId)
  })
  const types = async () => (await storedEvents(tenantId)).map(({ type }) => type)

  test('an event is told for each pass of a batch that succeeded', async () => {
    const templateId = await makeTemplate(send)
    const passes = await send('/v1/passes/batch', {
      body: { passes: [{ template_id: templateId }, { template_id: 'no' }, { template_id: templateId }] },
    })
    const [first, second] = passes.body.results.flatMap((each: { pass?: { id: string } }) =>
      each.pass ? [each.pass.id] : [],
    )
    await send('/v1/passes/batch_update', {
      body: {
        updates: [
          { id: first, metadata: { a: '1' } },
          { id: first, metadata: { a: '2' } },
          { id: NO_PASS, metadata: {} },
        ],
      },
    })
    await send('/v1/passes/batch_revoke', { body: { ids: [second, NO_PASS] } })
    const events = (await storedEvents(tenantId)).slice(1)
    expect(
      events.map(({ type, data, previous_attributes }) => [type, data.pass.id, previous_attributes]),
    ).toEqual([
      ['pass.created', first, undefined],
      ['pass.created', second, undefined],
      ['pass.updated', first, { metadata: { a: null } }],
      ['pass.updated', first, { metadata: { a: '1' } }],
      ['pass.revoked', second, undefined],
    ])
  })

  test('an event is not told when nothing changed', async () => {
    const templateId = await makeTemplate(send)
    const before = (await types()).length
    await send(`/v1/pass_templates/${templateId}`, { method: 'PATCH', body: { name: TEMPLATE.name } })
    await send(`/v1/pass_templates/${templateId}`, { method: 'PATCH', body: {} })
    expect((await types()).length).toBe(before)
  })

  test('an event is not told when it was refused, and once when it was repeated', async () => {
    const templateId = await makeTemplate(send)
    const before = (await types()).length
    expect(
      (await send('/v1/passes', { body: { template_id: 'tpl_00000000000000000000000000' } })).status,
    ).toBe(422)
    const call = { body: { template_id: templateId }, headers: { 'Idempotency-Key': crypto.randomUUID() } }
    await Promise.all([send('/v1/passes', call), send('/v1/passes', call), send('/v1/passes', call)])
    await send('/v1/passes', call)
    expect((await types()).slice(before)).toEqual(['pass.created'])
  })

  test('once when the database ended the transaction in favour of another, and it was done again', async () => {
    let before = 0
    let answer: { status: number } | undefined
    while (answer === undefined) {
      const templateId = await makeTemplate(send)
      before = (await types()).length
      answer = await updateEndedByDatabase(templateId)
    }
    expect(answer.status).toBe(200)
    expect((await types()).slice(before)).toEqual(['pass_template.updated'])
  })

  /**
   * Updates a template while another transaction holds the end of the sequence, and then wants the template, which
   * the update holds. PostgreSQL looks once, a second after a wait began, for a deadlock, and ends the transaction
   * that looked. `undefined` if the update looked too early, so that PostgreSQL ended the other transaction.
   */
  async function updateEndedByDatabase(templateId: string) {
    let patched: ReturnType<Send> | undefined
    try {
      await service.database.control.transaction(async (tx) => {
        const heads = 'SELECT 1 FROM sandbox.event_heads WHERE tenant_id = $1 FOR UPDATE'
        await tx.query({ text: heads }, [tenantId])
        patched = send(`/v1/pass_templates/${templateId}`, { method: 'PATCH', body: { name: 'Tea' } })
        await someoneWaits(service)
        const template = 'SELECT 1 FROM sandbox.pass_templates WHERE tenant_id = $2 AND id = $1 FOR UPDATE'
        await tx.query({ text: template }, [templateId, tenantId])
      })
    } catch (error) {
      if (codeOf(error) !== DEADLOCK_DETECTED) throw error
      await patched
      return undefined
    }
    return patched
  }

  test('events are told without gaps and in the order of the commits, however many write at once', async () => {
    const templateId = await makeTemplate(send)
    await Promise.all(Array.from({ length: 30 }, () => issuePass(send, templateId)))
    const refused = whileHeld(service, templateId, async () => {
      const gone = new AbortController()
      const lost = send('/v1/passes', { body: { template_id: templateId }, signal: gone.signal }).catch(
        () => {},
      )
      gone.abort()
      return lost
    })
    await refused
    await issuePass(send, templateId)
    const sequences = (await storedEvents(tenantId)).map(({ sequence }) => sequence)
    expect(sequences).toEqual(sequences.map((_, index) => index + 1))
  })

  test('an event tells that a pass expired before it was archived', async () => {
    const templateId = await makeTemplate(send)
    const pass = await issuePass(send, templateId, {
      expires_at: new Date(service.clock.now + 60_000).toISOString(),
    })
    const before = (await types()).length
    service.clock.now += 61_000
    await send(`/v1/passes/${pass.id}/archive`, { body: {} })
    service.clock.now -= 61_000
    const events = (await storedEvents(tenantId)).slice(before)
    expect(events.map(({ type, data }) => [type, data.pass.status])).toEqual([
      ['pass.expired', 'expired'],
      ['pass.archived', 'expired'],
    ])
  })
})

test('tenants and environments count for themselves', async () => {
  const tenantId = await makeTenant(service)
  const [sandbox, live] = [await speakFor(service, tenantId), await speakFor(service, tenantId, 'live')]
  await makeTemplate(sandbox)
  await makeTemplate(live)
  expect((await storedEvents(tenantId)).map(({ sequence }) => sequence)).toEqual([1])
  expect((await live('/v1/events')).body.data).toHaveLength(1)
})

describe('reading events', () => {
  let tenantId: string
  let send: Send
  beforeAll(async () => {
    tenantId = await makeTenant(service)
    send = await speakFor(service, tenantId)
    const templateId = await makeTemplate(send)
    for (let count = 0; count < 30; count += 1) await issuePass(send, templateId)
  })

  test('GET /v1/events gives events as they were rendered, newest first, page by page', async () => {
    const stored = (await storedEvents(tenantId)).map(({ sequence: _, ...event }) => event)
    const first = await send('/v1/events')
    const second = await send(`/v1/events?starting_after=${first.body.next_cursor}`)
    expect([...first.body.data, ...second.body.data]).toEqual(stored.toReversed())
    expect(second.body).toMatchObject({ has_more: false, next_cursor: null })
    expect((await send(`/v1/events/${stored[3]!.id}`)).body).toEqual(stored[3])
  })

  test('GET /v1/events filters events by type', async () => {
    const { body } = await send('/v1/events?type=pass_template.created')
    expect(body.data.map(({ type }: { type: string }) => type)).toEqual(['pass_template.created'])
    expect((await send('/v1/events?type=pass.born')).status).toBe(400)
  })

  test('GET /v1/events in another version shows the rendering of then, without what that version does not have', async () => {
    const { secret } = await makeKey(service, tenantId)
    const old = speak(service.urls.sandbox, { secret, version: '2025-06-01' })
    const [event] = (await old('/v1/events?limit=1')).body.data
    expect(event).toMatchObject({ type: 'pass.created', version: '2026-05-19' })
    const text = `INSERT INTO sandbox.events (tenant_id, id, sequence, type, version, body, created)
                  SELECT tenant_id, 'evt_7zzzzzzzzzzzzzzzzzzzzzzzzz', sequence + 100, 'card.created', version,
                         replace(body, 'pass.created', 'card.created'), created
                    FROM sandbox.events WHERE tenant_id = $1 AND id = $2`
    await service.database.control.query({ text }, [tenantId, event.id])
    const page = (await old('/v1/events?limit=3')).body
    expect(page.data.map(({ type }: { type: string }) => type)).toEqual(Array(3).fill('pass.created'))
    expect((await old('/v1/events/evt_7zzzzzzzzzzzzzzzzzzzzzzzzz')).status).toBe(404)
    expect((await send('/v1/events/evt_7zzzzzzzzzzzzzzzzzzzzzzzzz')).status).toBe(200)
  })
})
