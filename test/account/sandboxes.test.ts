/** Named sandboxes: each has its own data and its own keys, and nothing of one reaches another. */
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { wipeWorker } from '../../runtime/account/account/wipe-job.ts'
import { snapshotWorker } from '../../runtime/account/snapshots/job.ts'
import { addToTotals } from '../../runtime/account/totals/adding.ts'
import { createCardKeys } from '../../runtime/cards/card-keys/card-keys.ts'
import { createCardDirectory } from '../../runtime/cards/card-keys/directory.ts'
import { listingWorker } from '../../runtime/cards/card-keys/listing.ts'
import { createEndpointSecrets } from '../../runtime/events/webhook-endpoints/secrets.ts'
import { createPassTokens } from '../../runtime/passes/wallets/render/pass-tokens.ts'
import { createSeals } from '../../runtime/platform/secrets.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { issuePass, makeTemplate, refusal } from '../api/fixtures.ts'
import { bothCounts } from '../passes/counted.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { holdMachineClock, makeConfirmer } from './confirmers.ts'
import { fill, openSandbox, readSpace } from './sandbox-contents.ts'

const service = useService()
let tenantId: string
let send: Send

beforeEach(async () => {
  tenantId = await makeTenant(service, 'standard')
  const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
  send = speak(service.urls.sandbox, { secret, version: current })
})

const emptyWiped = () =>
  wipeWorker({ database: service.database, clock: service.clock, log: strictLog, graceMs: 0 }).runOnce()

const open = (name?: string) => openSandbox(send, service.urls.sandbox, name)

const rowsIn = (space: string) => readSpace(service.database.control, space)

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
  // The default sandbox has the events about the two sandboxes.
  expect(await seen(send, pass.id)).toEqual([404, 0, 2, 404])
  expect(await seen(other.send, pass.id)).toEqual([404, 0, 0, 404])
  // The key is claimed in one sandbox only, and a repetition there answers with the same pass.
  expect((await one.send('/v1/passes', { body, headers })).body.id).toBe(pass.id)
  expect((await other.send('/v1/passes', { body, headers })).status).toBe(422)
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

/** Takes and restores what is asked for. The process hears of it as if it was another one. */
async function worker(): Promise<void> {
  const { database, clock } = service
  const endpointSecrets = createEndpointSecrets(createSeals(database.pepper), 'sandbox')
  const wakeUpChannel = { publish: () => {} }
  await snapshotWorker({ database, clock, log: strictLog, endpointSecrets, wakeUpChannel }).runOnce()
  service.forget()
}

const addToCounts = (space: string) =>
  service.database.sandbox.transaction((tx) => addToTotals(tx, space, 2000, Date.now()))

const countsOf = (space: string) => bothCounts(service.database.sandbox, space)

test('a sandbox is filled, snapshotted, broken and restored', async () => {
  const [one, other] = [await open(), await open()]
  const { pass, card, use, key, make, token } = await fill(one.send)
  await addToCounts(`${tenantId}.s1`)
  await issuePass(one.send, pass.template_id)
  await issuePass(other.send, await makeTemplate(other.send))
  const [space, kept] = [await rowsIn(`${tenantId}.s1`), await rowsIn(`${tenantId}.s2`)]
  expect(Object.keys(space).length).toBeGreaterThan(15)

  const path = `/v1/sandboxes/${one.id}/snapshots`
  const taken = await send(path, { body: { name: 'Filled' } })
  expect([taken.status, taken.body.status]).toEqual([201, 'pending'])
  const restore = `${path}/${taken.body.id}/restore`
  expect(refusal(await send(restore, { body: {} }))[0]).toBe(409)
  await worker()
  expect((await send(`${path}/${taken.body.id}`)).body.status).toBe('done')

  await one.send(`/v1/passes/${pass.id}/revoke`, { body: {} })
  await one.send(`/v1/cards/${card.id}/cancel`, { body: {} })
  await make('/v1/test/funding', { amount: 1 })
  const late = await makeTemplate(one.send)

  expect((await send(restore, { body: {} })).body.status).toBe('restoring')
  await worker()
  expect((await send(`/v1/sandboxes/${one.id}`)).body.status).toBe('ready')
  expect(await rowsIn(`${tenantId}.s1.1`)).toEqual(space)
  expect((await countsOf(`${tenantId}.s1.1`)).kept).toEqual({ issued: 2 })
  expect(await rowsIn(`${tenantId}.s2`)).toEqual(kept)

  // Its key, its identifiers, its secrets and its claimed keys work as before.
  expect((await one.send(`/v1/passes/${pass.id}`)).body.status).toBe('issued')
  expect((await one.send(`/v1/pass_templates/${late}`)).status).toBe(404)
  const headers = { 'Idempotency-Key': key }
  const repeated = await one.send('/v1/passes', { body: { template_id: pass.template_id }, headers })
  expect(repeated.body.id).toBe(pass.id)
  expect((await one.send('/v1/test/cards/simulate_authorization', { body: use })).body.status).toBe(
    'authorized',
  )
  await one.send(`/v1/passes/${pass.id}/revoke`, { body: {} })
  await addToCounts(`${tenantId}.s1.1`)
  expect((await countsOf(`${tenantId}.s1.1`)).kept).toEqual({ issued: 1, revoked: 1 })
  // The details of a token are sealed for the sandbox.
  await make('/v1/cardholders', { token_id: token.id })
  await verifyAudit({ control: service.database.control }, tenantId, 'sandbox')
  await emptyWiped()
  expect(await rowsIn(`${tenantId}.s1`)).toEqual({})
  expect((await one.send(`/v1/cards/${card.id}`)).body.status).toBe('active')
})

test('a copy of a sandbox has everything in it, and does not need the original', async () => {
  const one = await open('Filled')
  const { pass, card, token } = await fill(one.send)
  const number = async (by: Send) => (await by(`/v1/cards/${card.id}/details`)).body.number as string
  const found = await number(one.send)
  const code = createPassTokens(service.database.pepper, 'sandbox').scanCode({
    ...{ space: `${tenantId}.s1`, passId: pass.id },
  })
  const filled = await rowsIn(`${tenantId}.s1`)

  const copied = await send('/v1/sandboxes', { body: { name: 'Copy', from: one.id } })
  expect([copied.status, copied.body.status]).toEqual([201, 'restoring'])
  const by = speak(service.urls.sandbox, { secret: copied.body.secret_key, version: current })
  const gone = () => send(`/v1/sandboxes/${one.id}`, { method: 'DELETE' })
  const again = { name: 'Copy', from: copied.body.id }
  // A sandbox that is being filled is no original, and one that is being copied stays.
  for (const refused of [await gone(), await send('/v1/sandboxes', { body: again })])
    expect(refusal(refused)[2]).toBe('invalid_state')
  await worker()
  await worker()
  expect((await send(`/v1/sandboxes/${copied.body.id}`)).body.status).toBe('ready')
  const space = await rowsIn(`${tenantId}.s2.1`)
  // The card network finds a number in one sandbox at a time.
  const { card_numbers, ...others } = filled
  expect(space).toMatchObject(others)
  expect(space.card_numbers).toHaveLength(card_numbers!.length)

  // A snapshot of the copy came with it, and fills a third sandbox.
  const [first] = (await send(`/v1/sandboxes/${copied.body.id}/snapshots`)).body.data
  expect([first.name, first.status]).toEqual(['Filled', 'done'])
  const third = await send('/v1/sandboxes', { body: { name: 'Third', from: first.id } })
  const path = `/v1/sandboxes/${copied.body.id}/snapshots/${first.id}`
  expect(refusal(await send(path, { method: 'DELETE' }))[2]).toBe('invalid_state')
  await worker()
  expect((await send(`/v1/sandboxes/${third.body.id}`)).body.status).toBe('ready')

  await one.send(`/v1/passes/${pass.id}/revoke`, { body: {} })
  expect((await gone()).body.deleted).toBe(true)
  await emptyWiped()
  const keys = createCardKeys(service.database.cards!, service.clock)
  const room = service.database.cards!
  await listingWorker({
    ...{ control: service.database.control, clock: service.clock, room, keys },
    log: pino({ level: 'silent' }),
  }).runOnce()
  const listed = await createCardDirectory(room.pool, keys).find('sandbox', found)
  expect([listed?.cardId, listed?.space]).toEqual([card.id, expect.stringMatching(/\.s[23]\.1$/)])

  for (const each of [by, speak(service.urls.sandbox, { secret: third.body.secret_key, version: current })]) {
    expect(await number(each)).toBe(found)
    const scan = await each('/v1/scans', { body: { barcode_message: code, mode: 'verify' } })
    expect([scan.status, scan.body.result, scan.body.pass_id]).toEqual([201, 'accepted', pass.id])
    const holder = await each('/v1/cardholders', { body: { token_id: token.id } })
    expect([holder.text, holder.status]).toEqual([holder.text, 201])
  }
  await verifyAudit({ control: service.database.control }, tenantId, 'sandbox')
  for (const from of [one.id, `snap_${one.id.slice('sbx_'.length)}`])
    expect(refusal(await send('/v1/sandboxes', { body: { name: 'None', from } }))[0]).toBe(422)
})

/** Creates a sandbox as a copy, and waits until it is filled. Returns its ID, and speaks with its key. */
async function openCopy(body: object, headers = {}) {
  const copied = await send('/v1/sandboxes', { body: { name: 'Copy', ...body }, headers })
  expect([copied.text, copied.status, copied.body.status]).toEqual([copied.text, 201, 'restoring'])
  await worker()
  await worker()
  expect((await send(`/v1/sandboxes/${copied.body.id}`)).body.status).toBe('ready')
  return {
    id: copied.body.id as string,
    secret: copied.body.secret_key as string,
    send: speak(service.urls.sandbox, { secret: copied.body.secret_key, version: current }),
  }
}

test('a copy of the default sandbox has everything in it, and its secrets and codes work in copies of the copy', async () => {
  await send('/v1/webhook-endpoints', { body: { url: 'https://93.184.215.14/hooks', enabled_events: ['*'] } })
  const { pass, card, token } = await fill(send)
  const number = async (by: Send) => (await by(`/v1/cards/${card.id}/details`)).body.number as string
  const code = createPassTokens(service.database.pepper, 'sandbox').scanCode({
    ...{ space: tenantId, passId: pass.id },
  })
  const found = await number(send)
  const first = await openCopy({ from: 'default' })
  const second = await openCopy({ from: first.id })
  expect(Object.keys(await rowsIn(`${tenantId}.s2.1.d0`))).toContain('ledger_entries')
  for (const { send: by } of [first, second]) {
    expect(await number(by)).toBe(found)
    const scan = await by('/v1/scans', { body: { barcode_message: code, mode: 'verify' } })
    expect([scan.text, scan.body.result]).toEqual([scan.text, 'accepted'])
    expect((await by('/v1/cardholders', { body: { token_id: token.id } })).status).toBe(201)
    const { data } = (await by('/v1/webhook-endpoints')).body
    expect((await by(`/v1/webhook-endpoints/${data[0].id}/rotate_secret`, { body: {} })).status).toBe(200)
    const page = new URL((await by(`/v1/passes/${pass.id}`)).body.download.page_url)
    expect((await fetch(page)).status).toBe(200)
  }
  // The scans redeemed or activated it in the copies alone, and what changes in one of them stays there.
  await first.send(`/v1/passes/${pass.id}/revoke`, { body: {} })
  const statuses = [send, second.send].map(async (by) => (await by(`/v1/passes/${pass.id}`)).body.status)
  expect(await Promise.all(statuses)).toEqual(['issued', 'active'])
  await verifyAudit({ control: service.database.control }, tenantId, 'sandbox')
})

test('a copy of live has its configuration alone, without secrets and with no way to production', async () => {
  await service.database.control.query(
    { text: `UPDATE control.tenants SET verified_at = now(), plan = 'enterprise' WHERE id = $1` },
    [tenantId],
  )
  const { secret } = await makeKey(service, tenantId, { environment: 'live', scope: 'admin' })
  const live = speak(service.urls.live, { secret, version: current })
  const make = async (path: string, body: object, method = 'POST') => {
    const answer = await live(path, { method, body })
    expect([path, answer.text, answer.status < 300]).toEqual([path, answer.text, true])
    return answer.body
  }
  const templateId = await makeTemplate(live)
  await make('/v1/passes', { template_id: templateId })
  const spending_controls = { spending_limits: [{ amount: 5000, interval: 'daily' }] }
  const program = await make('/v1/card_programs', { name: 'Travel', kind: 'virtual', spending_controls })
  const draft = await make('/v1/spending_control_drafts', {
    ...{ name: 'Stricter', card_program_id: program.id },
    spending_controls: { spending_limits: [{ amount: 100, interval: 'daily' }] },
  })
  const holder = await make('/v1/cardholders', { name: 'Ada Moreau' })
  const url = 'https://93.184.215.14/hooks'
  const hook = await make('/v1/webhook-endpoints', {
    url,
    enabled_events: ['*'],
    signature: 'standard_webhooks',
  })
  const setting = { url, timeout_ms: 900, default_action: 'approve', default_max_amount: 700 }
  await make('/v1/authorization_endpoint', setting, 'PUT')
  await make('/v1/balance_alert', { threshold: 12_345 }, 'PUT')

  // Only a key of live opens live.
  const refused = await Promise.all([
    send('/v1/sandboxes', { body: { name: 'Copy', from: 'live' } }),
    send('/v1/sandboxes', {
      ...{ body: { name: 'Copy', from: 'live' } },
      headers: { 'Service-Live-Authorization': `Bearer ${secret.slice(0, -1)}` },
    }),
  ])
  expect(refused.map((answer) => [answer.status, answer.body.error.param])).toEqual([
    [422, undefined],
    [401, 'Service-Live-Authorization'],
  ])
  const starts_at = '2026-02-03T04:05:06.000Z'
  const headers = { 'Service-Live-Authorization': `Bearer ${secret}` }
  const copy = await openCopy({ from: 'live', starts_at }, headers)
  const { id, send: by } = copy
  const space = `${tenantId}.s1.1`
  expect(Object.keys(await rowsIn(space)).toSorted()).toEqual([
    ...['authorization_endpoints', 'balance_alerts', 'card_programs', 'pass_templates', 'settlement_clocks'],
    ...['spending_control_drafts', 'spending_control_versions', 'webhook_endpoints'],
  ])
  for (const path of [`/v1/pass_templates/${templateId}`, `/v1/card_programs/${program.id}`]) {
    expect((await by(path)).body).toEqual((await live(path)).body)
  }
  const copied = (await by(`/v1/spending_control_drafts/${draft.id}`)).body
  expect([copied.status, copied.spending_controls]).toEqual(['draft', draft.spending_controls])
  expect((await by(`/v1/cardholders/${holder.id}`)).status).toBe(404)
  expect((await by('/v1/balance_alert')).body.threshold).toBe(12_345)
  const endpoint = (await by(`/v1/webhook-endpoints/${hook.id}`)).body
  expect([endpoint.status, endpoint.url, endpoint.signature]).toEqual(['disabled', url, 'standard_webhooks'])
  // It has a secret of its own, which can be opened: enabled again, it can be told a new one.
  expect((await by(`/v1/webhook-endpoints/${hook.id}/rotate_secret`, { body: {} })).body.secret).toMatch(
    /^whsec_/,
  )
  expect((await by('/v1/authorization_endpoint')).body).toMatchObject({
    ...{ ...setting, url: 'https://not-copied.invalid/' },
  })
  // Promoting a copy back compares it with its original.
  const authorization = { 'Service-Sandbox-Authorization': `Bearer ${copy.secret}` }
  const order = { resource_type: 'pass_template', sandbox_ids: [templateId], dry_run: true }
  const promoted = await live('/v1/promotions', { body: order, headers: authorization })
  expect(promoted.body.plan).toMatchObject([{ live_id: templateId, action: 'unchanged' }])
  // A pass of a copied template is dated by the clock of the sandbox.
  const pass = (await by('/v1/passes', { body: { template_id: templateId } })).body
  expect(pass.created.slice(0, 16)).toBe(starts_at.slice(0, 16))
  expect((await send(`/v1/sandboxes/${id}/snapshots`)).body.data[0].name).toBe('Configuration of live')
})

test('an existing sandbox gets more keys, which are revoked with it', async () => {
  const { id } = await open()
  const path = `/v1/sandboxes/${id}/keys`
  const made = await send(path, { body: { scope: 'read' } })
  expect([made.status, made.body.object, made.body.scope]).toEqual([201, 'sandbox_key', 'read'])
  const by = speak(service.urls.sandbox, { secret: made.body.secret_key, version: current })
  expect((await by('/v1/passes')).status).toBe(200)
  expect(refusal(await by('/v1/passes', { body: {} }))[2]).toBe('insufficient_scope')
  const actions = (await send('/v1/audit_log?limit=2')).body.data
  expect(actions.map((each: { action: string; target_id: string }) => [each.action, each.target_id])).toEqual(
    [
      ['sandbox_key.created', id],
      ['key.created', made.body.id],
    ],
  )
  expect((await send(`/v1/sandboxes/${id}`, { method: 'DELETE' })).status).toBe(200)
  expect(refusal(await by('/v1/passes'))[2]).toBe('revoked_api_key')
  expect((await send(path)).status).toBe(405)
  expect((await send(path, { body: {} })).status).toBe(404)
})

test('events tell when a sandbox is created, filled and deleted, and when a snapshot is taken', async () => {
  const { id } = await open()
  const path = `/v1/sandboxes/${id}/snapshots`
  const snapshot = (await send(path, { body: { name: 'Empty' } })).body
  await worker()
  await send(`${path}/${snapshot.id}/restore`, { body: {} })
  await worker()
  await send(`/v1/sandboxes/${id}`, { method: 'DELETE' })
  const { data } = (await send('/v1/events?order=asc')).body
  expect(data.map((event: { type: string }) => event.type)).toEqual([
    ...['sandbox.created', 'sandbox_snapshot.completed', 'sandbox.restored', 'sandbox.deleted'],
  ])
  expect(data[0].data.sandbox).toMatchObject({ id, status: 'ready' })
  expect(JSON.stringify(data)).not.toContain('svc_sk_')
  expect(data[1].data.sandbox_snapshot).toMatchObject({ id: snapshot.id, status: 'done' })
  expect(data[2].data.sandbox).toMatchObject({ id, status: 'ready' })
})

test('a sandbox has few snapshots, which go with it; a pending restore keeps its snapshot', async () => {
  const { id } = await open()
  const path = `/v1/sandboxes/${id}/snapshots`
  for (let number = 1; number <= 5; number += 1) await send(path, { body: { name: 'Empty' } })
  expect(refusal(await send(path, { body: { name: 'More' } }))).toEqual([409, 'conflict', 'invalid_state'])
  const list = (await send(path)).body.data
  expect(list).toHaveLength(5)
  await worker()
  await send(`${path}/${list[0].id}/restore`, { body: {} })
  expect(refusal(await send(`${path}/${list[0].id}`, { method: 'DELETE' }))[0]).toBe(409)
  expect((await send(`${path}/${list[1].id}`, { method: 'DELETE' })).body.deleted).toBe(true)
  expect((await send(`/v1/sandboxes/${id}`, { method: 'DELETE' })).status).toBe(200)
  expect((await send(path)).status).toBe(404)
  const { rows } = await service.database.control.query(
    { text: 'SELECT FROM sandbox.sandbox_snapshots WHERE tenant_id = $1' },
    [tenantId],
  )
  expect(rows).toHaveLength(0)
})

describe('what ends', () => {
  test('a deleted sandbox: its key is refused, and its rows are deleted; the others keep theirs', async () => {
    const [one, other] = [await open(), await open()]
    for (const each of [one.send, other.send, send]) await issuePass(each, await makeTemplate(each))
    expect((await send(`/v1/sandboxes/${one.id}`, { method: 'DELETE' })).body.deleted).toBe(true)
    expect(refusal(await one.send('/v1/passes'))).toEqual([401, 'authentication_error', 'revoked_api_key'])
    expect((await send(`/v1/sandboxes/${one.id}`)).status).toBe(404)
    expect((await send(`/v1/sandboxes/${one.id}`, { method: 'DELETE' })).status).toBe(404)
    await emptyWiped()
    const spaces = [`${tenantId}.s1`, `${tenantId}.s2`, tenantId]
    expect(await Promise.all(spaces.map((space) => rowsOf('passes', space)))).toEqual([0, 1, 1])
    expect((await other.send('/v1/passes')).body.data).toHaveLength(1)
    // A number is never used twice.
    const third = await open()
    await issuePass(third.send, await makeTemplate(third.send))
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
    await emptyWiped()
    expect(await counts()).toEqual([1, 1, 1])
    expect(await rowsOf('passes', `${tenantId}.s1.1`)).toBe(1)
  })
})
