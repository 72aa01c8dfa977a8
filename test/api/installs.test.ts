/** A pass is added to wallets and removed from them: by simulated phones, and by those who ask without a request of ours. */
import { beforeAll, describe, expect, test } from 'vitest'
import { markOutsideRequest } from '../../runtime/passes/passes/installs.ts'
import { openPassTokens } from '../../runtime/passes/wallets/render/pass-tokens.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { type Answer, makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { eventsOf } from './events-of.ts'
import { firstFault, issuePass, makeTemplate, NO_PASS, refusal, speakFor, VERSIONS } from './fixtures.ts'

const service = useService()

type Event = Answer['body']

const install = (send: Send, pass_id: string, platform = 'apple') =>
  send('/v1/test/passes/simulate_install', { body: { pass_id, platform } })
const uninstall = (send: Send, pass_id: string, platform = 'apple') =>
  send('/v1/test/passes/simulate_uninstall', { body: { pass_id, platform } })

const told = (send: Send, type: string) => eventsOf(send, `type=${type}`)

describe.each(VERSIONS)('%s', (version) => {
  test('a pass is installed on the first device of each platform, and uninstalled off the last', async () => {
    const tenant = await makeTenant(service, 'enterprise', version)
    const send = await speakFor(service, tenant)
    const issued = await issuePass(send, await makeTemplate(send))
    service.clock.now += 1000
    const installed = await install(send, issued.id)
    const now = new Date(service.clock.now).toISOString()
    expect([installed.status, installed.body]).toEqual([
      200,
      { ...issued, status: 'installed', platforms: ['apple'], installed_at: now, updated: now },
    ])
    expect((await send(`/v1/passes/${issued.id}`)).body).toEqual(installed.body)
    service.clock.now += 1000
    const both = await install(send, issued.id, 'google')
    expect(both.body).toMatchObject({ platforms: ['apple', 'google'], installed_at: now })
    const first = await uninstall(send, issued.id)
    expect([first.status, first.body.platforms, first.body.status]).toEqual([200, ['google'], 'installed'])
    const none = await uninstall(send, issued.id, 'google')
    expect(none.body).toMatchObject({ platforms: [], status: 'installed', installed_at: now })
    const added = await told(send, 'pass.installed')
    expect(added.map(({ data }) => data.pass)).toEqual([
      { ...installed.body, platform: 'apple' },
      { ...both.body, platform: 'google' },
    ])
    const removed = await told(send, 'pass.uninstalled')
    expect(removed.map(({ data }) => data.pass)).toEqual([
      { ...first.body, platform: 'apple' },
      { ...none.body, platform: 'google' },
    ])
    expect([...added, ...removed].map((event) => event.version)).toEqual(Array(4).fill(version))
  })
})

describe('with a pass', () => {
  let tenantId: string
  let send: Send
  let templateId: string
  beforeAll(async () => {
    tenantId = await makeTenant(service)
    send = await speakFor(service, tenantId)
    templateId = await makeTemplate(send)
  })

  const count = async (type: string, id: string) =>
    (await told(send, type)).filter(({ data }) => data.pass.id === id).length

  test('an install that is known already changes nothing and is not told', async () => {
    const { id } = await issuePass(send, templateId)
    expect((await uninstall(send, id)).body).toMatchObject({ status: 'issued', platforms: [] })
    const first = await install(send, id)
    service.clock.now += 1000
    expect((await install(send, id)).body).toEqual(first.body)
    expect([await count('pass.installed', id), await count('pass.uninstalled', id)]).toEqual([1, 0])
  })

  test('20 concurrent first installs are told once', async () => {
    const { id } = await issuePass(send, templateId)
    const answers = await Promise.all(Array.from({ length: 20 }, () => install(send, id)))
    expect(answers.map(({ status, body }) => [status, body.status])).toEqual(
      Array(20).fill([200, 'installed']),
    )
    expect(await count('pass.installed', id)).toBe(1)
  })

  test('final statuses stay, whoever has the pass', async () => {
    const revoked = await issuePass(send, templateId)
    await send(`/v1/passes/${revoked.id}/revoke`, { body: {} })
    const expires_at = new Date(service.clock.now + 1000).toISOString()
    const expired = await issuePass(send, templateId, { expires_at })
    service.clock.now += 1000
    for (const [{ id }, status] of [[revoked, 'revoked'] as const, [expired, 'expired'] as const]) {
      expect((await install(send, id)).body).toMatchObject({ status, platforms: ['apple'] })
      expect((await uninstall(send, id)).body).toMatchObject({ status, platforms: [] })
    }
  })

  test('a pass that was removed and added again was first added when it was', async () => {
    const { id } = await issuePass(send, templateId)
    const { installed_at } = (await install(send, id)).body
    await uninstall(send, id)
    service.clock.now += 1000
    expect((await install(send, id)).body).toMatchObject({ installed_at, status: 'installed' })
    expect(await count('pass.installed', id)).toBe(2)
  })

  test('an install without a request has the service as its actor, and is no event when it is known already', async () => {
    const { id } = await issuePass(send, templateId)
    const mark = (type: 'pass.installed' | 'pass.uninstalled', passId: string) =>
      service.database.sandbox.forTenant(tenantId).transaction((db) =>
        markOutsideRequest(
          {
            db,
            environment: 'sandbox',
            pin: '2025-06-01',
            space: tenantId,
            baseUrl: service.urls.sandbox,
            passTokens: openPassTokens(service.database.pepper).sandbox,
            now: service.clock.now,
          },
          type,
          passId,
          'apple',
        ),
      )
    expect(await mark('pass.installed', NO_PASS)).toBe(undefined)
    expect(await mark('pass.installed', id)).toMatchObject({ changed: true, pass: { status: 'installed' } })
    expect(await mark('pass.installed', id)).toMatchObject({ changed: false, due: false })
    expect(await mark('pass.uninstalled', id)).toMatchObject({ changed: true, pass: { platforms: [] } })
    const [event] = (await told(send, 'pass.installed')).filter(({ data }) => data.pass.id === id)
    expect([event.version, event.data.pass.platform]).toEqual(['2025-06-01', 'apple'])
    const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
    const log = await speak(service.urls.sandbox, { secret })(`/v1/audit_log?target_id=${id}&order=asc`)
    expect(log.body.data.map(({ action, actor }: Event) => [action, actor.type])).toEqual([
      ['pass.created', 'key'],
      ['pass.installed', 'system'],
      ['pass.uninstalled', 'system'],
    ])
    await verifyAudit(service.operator, tenantId, 'sandbox')
  })

  test('a simulation is in the audit log under its own name', async () => {
    const { id } = await issuePass(send, templateId)
    await install(send, id)
    await uninstall(send, id)
    const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
    const log = await speak(service.urls.sandbox, { secret })(`/v1/audit_log?target_id=${id}&order=asc`)
    expect(log.body.data.map(({ action }: Event) => action)).toEqual([
      'pass.created',
      'install.simulated',
      'uninstall.simulated',
    ])
  })

  test('an unknown pass, another tenant’s and another platform are refused by field; live has no simulators', async () => {
    const other = await speakFor(service, await makeTenant(service))
    const theirs = await issuePass(other, await makeTemplate(other))
    for (const act of [install, uninstall]) {
      for (const id of [NO_PASS, theirs.id]) {
        expect(firstFault(await act(send, id))).toEqual([
          422,
          'validation_failed',
          { field: 'pass_id', issue: 'is not the ID of a pass' },
        ])
      }
      const { id } = await issuePass(send, templateId)
      expect(firstFault(await act(send, id, 'palm'))).toMatchObject([
        422,
        'validation_failed',
        { field: 'platform' },
      ])
      const live = await speakFor(service, tenantId, 'live')
      expect(refusal(await act(live, id))).toEqual([404, 'not_found', 'not_found'])
    }
    expect((await other(`/v1/passes/${theirs.id}`)).body).toEqual(theirs)
  })
})
