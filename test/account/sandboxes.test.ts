/** Named sandboxes: each has its own data and its own keys, and nothing of one reaches another. */
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { wipeWorker } from '../../runtime/account/account/wipe-job.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { issuePass, makeTemplate, refusal } from '../api/fixtures.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { holdMachineClock, makeConfirmer } from './confirmers.ts'

const service = useService()
let tenantId: string
let send: Send

beforeEach(async () => {
  tenantId = await makeTenant(service, 'standard')
  const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
  send = speak(service.urls.sandbox, { secret, version: current })
})

/** Creates a sandbox; gives its ID and speaks with its key. */
async function open(name = 'Checkout tests') {
  const { status, body } = await send('/v1/sandboxes', { body: { name } })
  expect([status, body.object, body.name]).toEqual([201, 'sandbox', name])
  return {
    id: body.id as string,
    send: speak(service.urls.sandbox, { secret: body.secret_key, version: current }),
  }
}

const rowsOf = async (table: string, space: string): Promise<number> => {
  const text = `SELECT count(*)::int AS count FROM sandbox.${table} WHERE tenant_id = $1`
  return (await service.database.control.query<{ count: number }>({ text }, [space])).rows[0]!.count
}

/** What a caller sees of a pass, the events of it, and the failures that are simulated. */
async function seen(by: Send, passId: string) {
  const [pass, passes, events, faults] = [
    await by(`/v1/passes/${passId}`),
    await by('/v1/passes'),
    await by('/v1/events'),
    await by('/v1/test/faults'),
  ]
  return [pass.status, passes.body.data.length, events.body.data.length, faults.status]
}

test('a pass of a sandbox is seen with its keys alone, and what is set there holds there alone', async () => {
  const [one, other] = [await open('One'), await open('Other')]
  const key = randomUUID()
  const headers = { 'Idempotency-Key': key }
  const templateId = await makeTemplate(one.send)
  const body = { template_id: templateId }
  const pass = (await one.send('/v1/passes', { body, headers })).body
  expect((await one.send('/v1/test/faults', { method: 'PUT', body: { seed: 3 } })).status).toBe(200)
  expect(await seen(one.send, pass.id)).toEqual([200, 1, 2, 200])
  for (const by of [send, other.send]) expect(await seen(by, pass.id)).toEqual([404, 0, 0, 404])
  // The key is claimed in one sandbox only, and a repetition there answers with the same pass.
  expect((await one.send('/v1/passes', { body, headers })).body.id).toBe(pass.id)
  expect((await other.send('/v1/passes', { body, headers })).status).toBe(422)
  // The page of the pass works from anywhere.
  expect((await fetch(pass.page_url)).status).toBe(200)
})

test('sandboxes are listed, renamed and limited, and only keys of the default sandbox manage them', async () => {
  const { id, send: within } = await open()
  expect((await send(`/v1/sandboxes/${id}`, { method: 'PATCH', body: { name: 'New' } })).body.name).toBe(
    'New',
  )
  const { body: found } = await send(`/v1/sandboxes/${id}`)
  expect([found.name, found.secret_key]).toEqual(['New', undefined])
  for (let number = 2; number <= 10; number += 1) await open()
  expect(refusal(await send('/v1/sandboxes', { body: { name: 'More' } }))).toEqual([
    409,
    'conflict',
    'invalid_state',
  ])
  expect((await send('/v1/sandboxes?limit=100')).body.data).toHaveLength(10)
  expect(refusal(await within('/v1/sandboxes'))[0]).toBe(404)
  expect(refusal(await within(`/v1/sandboxes/${id}`, { method: 'DELETE' }))[0]).toBe(404)
})

describe('what ends', () => {
  const empty = () =>
    wipeWorker({ database: service.database, clock: service.clock, log: strictLog, graceMs: 0 }).runOnce()

  test('a deleted sandbox: its key is refused, and its rows are deleted; the others keep theirs', async () => {
    const [one, other] = [await open(), await open()]
    for (const each of [one.send, other.send, send]) await issuePass(each, await makeTemplate(each))
    expect((await send(`/v1/sandboxes/${one.id}`, { method: 'DELETE' })).body.deleted).toBe(true)
    expect(refusal(await one.send('/v1/passes'))).toEqual([401, 'authentication_error', 'revoked_api_key'])
    expect((await send(`/v1/sandboxes/${one.id}`)).status).toBe(404)
    expect((await send(`/v1/sandboxes/${one.id}`, { method: 'DELETE' })).status).toBe(404)
    await empty()
    const spaces = [`${tenantId}.s1`, `${tenantId}.s2`, tenantId]
    expect(await Promise.all(spaces.map((space) => rowsOf('passes', space)))).toEqual([0, 1, 1])
    expect((await other.send('/v1/passes')).body.data).toHaveLength(1)
    // A number is never used twice.
    await issuePass((await open()).send, await makeTemplate((await open()).send)).catch(() => {})
    expect(await rowsOf('passes', `${tenantId}.s1`)).toBe(0)
    await verifyAudit({ control: service.database.control }, tenantId, 'sandbox')
  })

  test('a wipe with the key of a sandbox empties it alone', async () => {
    const machine = holdMachineClock(service)
    machine.toNewCodes()
    const owner = await makeConfirmer(service, machine, tenantId)
    const [one, other] = [await open(), await open()]
    for (const each of [one.send, other.send, send]) await issuePass(each, await makeTemplate(each))
    const headers = { 'Service-Factor': owner.code(0) }
    const wiped = await one.send('/v1/account/wipe_sandbox', { body: { confirm: 'wipe' }, headers })
    expect([wiped.status, wiped.body.deleted?.pass]).toEqual([200, 1])
    const counts = async () =>
      Promise.all([one.send, other.send, send].map(async (by) => (await by('/v1/passes')).body.data.length))
    expect(await counts()).toEqual([0, 1, 1])
    await issuePass(one.send, await makeTemplate(one.send))
    await empty()
    expect(await counts()).toEqual([1, 1, 1])
    expect(await rowsOf('passes', `${tenantId}.s1.1`)).toBe(1)
  })
})
