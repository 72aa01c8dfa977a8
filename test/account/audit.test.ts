/** The audit log: what it tells, and that nobody can change it unseen. */

import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { createUser } from '../../runtime/account/members/users.ts'
import { canonicalJson } from '../../runtime/api/json/canonical-json.ts'
import type { Environment } from '../../runtime/platform/environment.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { retireKey, revokeKey, rotateKey } from '../../runtime/tenants/admin/keys.ts'
import { liftLimit } from '../../runtime/tenants/admin/limits.ts'
import { issuePass, makeTemplate, VERSIONS } from '../api/fixtures.ts'
import { makeKey, makeTenant, type Send, START, speak, useService } from '../support/service.ts'

const service = useService()
let tenantId: string
let key: { readonly id: string; readonly secret: string }
let send: Send

beforeEach(async () => {
  tenantId = await makeTenant(service)
  key = await makeKey(service, tenantId, { scope: 'admin' })
  send = speak(service.urls.sandbox, { secret: key.secret })
})

const list = async (query = '', by = send) => (await by(`/v1/audit_log?limit=100${query}`)).body.data

const verify = (environment: Environment = 'sandbox', contains?: string, newest?: number) =>
  verifyAudit(service.operator, tenantId, environment, { contains, ...(newest !== undefined && { newest }) })

/** As the owner, who may do everything. */
const owner = (text: string, ...values: readonly unknown[]) =>
  service.database.control.query({ text }, values)

const liveOf = async (by = tenantId) =>
  speak(service.urls.live, {
    secret: (await makeKey(service, by, { scope: 'admin', environment: 'live' })).secret,
  })

describe('an entry', () => {
  test.each(VERSIONS)('a write in %s makes an audit entry', async (version) => {
    const by = speak(service.urls.sandbox, { secret: key.secret, version })
    const made = await by('/v1/pass_templates', {
      body: {
        name: 'T',
        kind: 'coupon',
        brand: { background_color: '#000000', foreground_color: '#FFFFFF' },
        fields: [],
      },
    })
    const [entry] = await list('', by)
    expect(entry).toEqual({
      id: expect.stringMatching(/^aud_[0-9a-hjkmnp-tv-z]{26}$/),
      object: 'audit_entry',
      environment: 'sandbox',
      actor: { type: 'key', id: key.id },
      action: 'pass_template.created',
      target_id: made.body.id,
      outcome: 'succeeded',
      request_id: made.headers.get('Request-Id'),
      ip: '127.0.0.1',
      version,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      previous_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      created: '2026-06-01T12:00:00.000Z',
    })
  })

  test('an audit entry of a refused write says so, and replays and reads make none', async () => {
    await send('/v1/passes/pass_00000000000000000000000000/revoke', { method: 'POST' })
    const [entry, ...rest] = await list()
    expect(entry).toMatchObject({
      action: 'pass.revoked',
      target_id: 'pass_00000000000000000000000000',
      outcome: 'failed',
    })
    const headers = { 'Idempotency-Key': '0197905f-2f6c-7d3e-8a41-5b6c7d8e9fa0' }
    const body = {
      name: 'T',
      kind: 'coupon',
      brand: { background_color: '#000000', foreground_color: '#FFFFFF' },
      fields: [],
    }
    for (const _ of [1, 2]) expect((await send('/v1/pass_templates', { body, headers })).status).toBe(201)
    expect(await list()).toHaveLength(rest.length + 2)
  })

  test('an audit entry about keys is in the logs of both environments', async () => {
    const [retired, revoked] = [await makeKey(service, tenantId), await makeKey(service, tenantId)]
    const rotated = await makeKey(service, tenantId, { environment: 'live' })
    await retireKey(service.operator, retired.id)
    await retireKey(service.operator, retired.id)
    await revokeKey(service.operator, revoked.id)
    await revokeKey(service.operator, revoked.id)
    await rotateKey(service.operator, rotated.id)
    const { id } = await createUser(service.operator, { tenantId, email: 'ada@example.com' })
    const live = await liveOf()
    for (const by of [send, live]) {
      const entries = await list('&order=asc', by)
      expect(entries[0]).toMatchObject({
        environment: null,
        actor: { type: 'operator', id: null },
        action: 'tenant.created',
        request_id: null,
        ip: null,
        version: null,
        previous_hash: null,
      })
      const told = entries.map((each: { action: string; target_id: string }) => [each.action, each.target_id])
      expect(told).toContainEqual(['key.created', key.id])
      expect(told.filter(([action]: string[]) => /retired|revoked|rotated/.test(action!)).toSorted()).toEqual(
        [
          ['key.retired', retired.id],
          ['key.revoked', revoked.id],
          ['key.rotated', rotated.id],
        ],
      )
      expect(told).toContainEqual(['member.created', id])
    }
    await Promise.all([verify('sandbox'), verify('live')])
  })

  test('an audit entry about one environment is in the log of that environment only', async () => {
    const lift = { tenantId, environment: 'live', bucket: 'read', factor: 2, hours: 1 } as const
    await liftLimit(service.operator, lift)
    expect(await list('&action=limit.lifted')).toEqual([])
    expect(await list('&action=limit.lifted', await liveOf())).toMatchObject([{ environment: 'live' }])
  })

  test('an audit entry has the time of the moved clock of its environment', async () => {
    const { clock } = service.operator
    const moved = {
      ...service.operator,
      clock: { ...clock, service: (of: Environment) => (of === 'sandbox' ? START + 86_400_000 : START) },
    }
    await revokeKey(moved, (await makeKey(service, tenantId)).id)
    const at = async (by: Send) => (await list('&action=key.revoked', by))[0].created
    expect(await at(send)).toBe('2026-06-02T12:00:00.000Z')
    expect(await at(await liveOf())).toBe('2026-06-01T12:00:00.000Z')
  })
})

describe('the list', () => {
  test('the audit log list is filtered by actor, action and target, any of several', async () => {
    const templateId = await makeTemplate(send)
    const pass = await issuePass(send, templateId)
    await send(`/v1/passes/${pass.id}/revoke`, { method: 'POST' })
    const actions = async (query: string) =>
      (await list(query)).map(({ action }: { action: string }) => action).toSorted()
    expect(await actions(`&target_id=${pass.id}`)).toEqual(['pass.created', 'pass.revoked'])
    expect(await actions('&action=pass.revoked')).toEqual(['pass.revoked'])
    expect(await actions(`&actor_id=${key.id}`)).toEqual([
      'pass.created',
      'pass.revoked',
      'pass_template.created',
    ])
    expect(await actions(`&actor_id=${key.id}&target_id=${templateId}`)).toEqual(['pass_template.created'])
    expect(await actions('&action=nothing.done')).toEqual([])
    expect(await actions('&created[gt]=2026-06-01T12:00:00Z')).toEqual([])
  })

  test('the audit log list is walked page by page', async () => {
    for (let made = 0; made < 4; made += 1) {
      service.clock.now += 1000
      await makeTemplate(send)
    }
    const whole = await list()
    const seen: unknown[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: { data: unknown[]; next_cursor: string | null } = (
        await send(`/v1/audit_log?limit=2${cursor && `&starting_after=${cursor}`}`)
      ).body
      seen.push(...page.data)
      cursor = page.next_cursor
    }
    expect(seen).toEqual(whole)
  })

  test('the audit log list takes scope admin and shows nothing of others', async () => {
    const writer = speak(service.urls.sandbox, { secret: (await makeKey(service, tenantId)).secret })
    const { status, body } = await writer('/v1/audit_log')
    expect([status, body.error.code, body.error.required_scope]).toEqual([403, 'insufficient_scope', 'admin'])
    const templateId = await makeTemplate(send)
    const other = await makeKey(service, await makeTenant(service), { scope: 'admin' })
    expect(
      await list(`&target_id=${templateId}`, speak(service.urls.sandbox, { secret: other.secret })),
    ).toEqual([])
    expect(await list(`&target_id=${templateId}`, await liveOf())).toEqual([])
  })
})

interface Entry {
  readonly id: string
  readonly hash: string
  readonly previous_hash: string | null
}

describe('the chain', () => {
  test('the audit chain can be checked by whoever reads the log', async () => {
    await issuePass(send, await makeTemplate(send))
    const entries: Entry[] = await list()
    for (const { hash, ...rest } of entries) {
      expect(createHash('sha256').update(canonicalJson(rest)).digest('hex')).toBe(hash)
    }
    const hashes = new Map(entries.map((entry) => [entry.hash, entry]))
    const followed = entries.filter(
      ({ previous_hash }) => previous_hash !== null && hashes.has(previous_hash),
    )
    expect(followed).toHaveLength(entries.length - 1)
    expect(new Set(entries.map(({ previous_hash }) => previous_hash)).size).toBe(entries.length)
  })

  test('the audit chain has no gap and no fork under concurrent writes, refused ones among them', async () => {
    const templateId = await makeTemplate(send)
    const before = (await verify()).entries
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        send('/v1/passes', {
          body: { template_id: index % 4 ? templateId : 'tpl_00000000000000000000000000' },
        }),
      ),
    )
    const { entries, head } = await verify()
    expect(entries).toBe(before + 40)
    expect(head).toMatch(/^[0-9a-f]{64}$/)
    expect((await verify('sandbox', head!)).head).toBe(head)
  })

  test('each environment has an audit chain of its own', async () => {
    await makeTemplate(await liveOf())
    await makeTemplate(send)
    const [sandbox, live] = await Promise.all([verify('sandbox'), verify('live')])
    expect(sandbox.head).not.toBe(live.head)
  })

  test('an audit chain without entries is whole', async () => {
    const unknown = verifyAudit(service.operator, 'ten_00000000000000000000000000', 'live')
    await expect(unknown).rejects.toMatchObject({ kind: 'not_found' })
    await owner('DELETE FROM live.audit_log WHERE tenant_id = $1', tenantId)
    await owner('DELETE FROM live.audit_heads WHERE tenant_id = $1', tenantId)
    expect(await verify('live')).toMatchObject({ entries: 0, head: null })
  })

  test('a check of the audit chain can start at its end', async () => {
    for (let count = 0; count < 4; count += 1) await makeTemplate(send)
    const { entries, head } = await verify()
    expect(await verify('sandbox', undefined, 2)).toMatchObject({ entries, checked: 2, head })
    expect(await verify('sandbox', undefined, entries + 1)).toMatchObject({ checked: entries })
    const change = `UPDATE sandbox.audit_log SET ip = '1.2.3.4' WHERE tenant_id = $1 AND sequence = $2`
    await owner(change, tenantId, entries - 2)
    expect(await verify('sandbox', undefined, 2)).toMatchObject({ checked: 2 })
    await expect(verify('sandbox', undefined, 3)).rejects.toMatchObject({ kind: 'broken' })
  })

  const second = `tenant_id = $1 AND sequence = 2`
  test.each([
    [
      'an action that was changed',
      `UPDATE sandbox.audit_log SET action = 'key.revoked' WHERE ${second}`,
      /entry 2 .*was changed/,
    ],
    [
      'an outcome that was changed',
      `UPDATE sandbox.audit_log SET outcome = 'failed' WHERE ${second}`,
      /entry 2 .*was changed/,
    ],
    [
      'a time that was changed',
      `UPDATE sandbox.audit_log SET created = '2026-06-01T12:00:00.001Z' WHERE ${second}`,
      /entry 2 .*was changed/,
    ],
    [
      'an actor that was changed',
      `UPDATE sandbox.audit_log SET actor_id = 'key_x' WHERE ${second}`,
      /entry 2 .*was changed/,
    ],
    [
      'an address that was added',
      `UPDATE sandbox.audit_log SET ip = '::1' WHERE ${second}`,
      /entry 2 .*was changed/,
    ],
    [
      'an entry that was taken away',
      `DELETE FROM sandbox.audit_log WHERE ${second}`,
      /entry 3 .*follows a gap: entry 2 is missing/,
    ],
    [
      'an entry that was taken away, the next in its place',
      `UPDATE sandbox.audit_log a SET action = b.action, target_id = b.target_id, id = b.id, hash = b.hash,
              previous_hash = b.previous_hash FROM sandbox.audit_log b
        WHERE a.tenant_id = $1 AND a.sequence = 2 AND b.tenant_id = $1 AND b.sequence = 3`,
      /entry 2 .*does not link/,
    ],
    [
      'a last entry that was taken away',
      `DELETE FROM sandbox.audit_log a USING sandbox.audit_heads h
        WHERE a.tenant_id = $1 AND h.tenant_id = $1 AND a.sequence = h.sequence`,
      /the last entry is 3, but the recorded head is 4/,
    ],
    [
      'an end that was moved',
      `UPDATE sandbox.audit_heads SET hash = sha256('x') WHERE tenant_id = $1`,
      /the hash of the last entry differs/,
    ],
  ])('verification of the audit log finds %s', async (_, text, message) => {
    await makeTemplate(send)
    await makeTemplate(send)
    expect((await verify()).entries).toBe(4)
    await owner(text, tenantId)
    await expect(verify()).rejects.toMatchObject({ kind: 'broken', message: expect.stringMatching(message) })
  })

  test('an audit chain that was rewritten from an entry on differs from the one that was told', async () => {
    await makeTemplate(send)
    const { head } = await verify()
    await owner('DELETE FROM sandbox.audit_log WHERE tenant_id = $1', tenantId)
    await owner('DELETE FROM sandbox.audit_heads WHERE tenant_id = $1', tenantId)
    await makeTemplate(send)
    expect((await verify()).entries).toBe(1)
    await expect(verify('sandbox', head!)).rejects.toThrow(/no entry has the hash/)
  })

  test.each([
    'UPDATE audit_log SET hash = hash',
    'DELETE FROM audit_log',
    'TRUNCATE audit_log',
    'DELETE FROM audit_heads',
    'TRUNCATE audit_heads',
  ])('the application cannot change the audit chain: %s', async (text) => {
    for (const environment of ['sandbox', 'live'] as const) {
      await expect(service.database[environment].query({ text })).rejects.toMatchObject({ code: '42501' })
    }
  })
})
