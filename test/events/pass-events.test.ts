/** Every event of templates, passes and scans is what a real call makes, in each version that has its type. */
import { describe, expect, test } from 'vitest'
import { events as views } from '../../generated/events.ts'
import { passExpiryWorker } from '../../runtime/passes/passes/expiry-job.ts'
import { openPassTokens } from '../../runtime/passes/wallets/render/pass-tokens.ts'
import { issuePass, makeTemplate, speakFor, VERSIONS } from '../api/fixtures.ts'
import { checkEvent } from '../support/contract.ts'
import { type Answer, makeTenant, type Send, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'

const service = useService({ keepsTime: true })

/** Makes the event happen and gives its object as it is read afterwards, by the name that it has in `data`. */
type Story = (send: Send) => Promise<Readonly<Record<string, unknown>>>

const template = async (send: Send, id: string) => ({
  pass_template: (await send(`/v1/pass_templates/${id}`)).body,
})
const pass = async (send: Send, id: string, more: object = {}) => ({
  pass: { ...(await send(`/v1/passes/${id}`)).body, ...more },
})

async function newPass(send: Send, content: object = {}, kind = 'loyalty'): Promise<string> {
  return (await issuePass(send, await makeTemplate(send, { kind }), content)).id
}

async function succeed(send: Send, path: string, body: object, method = 'POST'): Promise<Answer> {
  const answer = await send(path, { method, body })
  expect([path, answer.status < 300]).toEqual([path, true])
  return answer
}

const onPhone = (send: Send, verb: 'install' | 'uninstall', id: string, platform: string) =>
  succeed(send, `/v1/test/passes/simulate_${verb}`, { pass_id: id, platform })

async function revoked(send: Send): Promise<string> {
  const id = await newPass(send)
  await succeed(send, `/v1/passes/${id}/revoke`, {})
  return id
}

const STORIES: Readonly<Record<string, Story>> = {
  'pass_template.created': async (send) => template(send, await makeTemplate(send)),
  'pass_template.updated': async (send) => {
    const id = await makeTemplate(send)
    await succeed(send, `/v1/pass_templates/${id}`, { name: 'Tea' }, 'PATCH')
    return template(send, id)
  },
  'pass_template.archived': async (send) => {
    const id = await makeTemplate(send)
    await succeed(send, `/v1/pass_templates/${id}/archive`, {})
    return template(send, id)
  },
  'pass.created': async (send) => pass(send, await newPass(send, { fields: { points: '120' } })),
  'pass.updated': async (send) => {
    const id = await newPass(send)
    await succeed(send, `/v1/passes/${id}`, { fields: { points: '125' } }, 'PATCH')
    return pass(send, id)
  },
  'pass.installed': async (send) => {
    const id = await newPass(send)
    await onPhone(send, 'install', id, 'google')
    return pass(send, id, { platform: 'google' })
  },
  'pass.uninstalled': async (send) => {
    const id = await newPass(send)
    await onPhone(send, 'install', id, 'apple')
    await onPhone(send, 'uninstall', id, 'apple')
    return pass(send, id, { platform: 'apple' })
  },
  'pass.scanned': async (send) => {
    const body = { pass_id: await newPass(send), mode: 'verify', location: { latitude: 0, longitude: 0 } }
    const { id } = (await succeed(send, '/v1/scans', body)).body
    return { scan: (await send(`/v1/scans/${id}`)).body }
  },
  'pass.redeemed': async (send) => {
    const id = await newPass(send, {}, 'event_ticket')
    await succeed(send, '/v1/scans', { pass_id: id, mode: 'redeem' })
    return pass(send, id)
  },
  'pass.revoked': async (send) => pass(send, await revoked(send)),
  'pass.expired': async (send) => {
    const expires_at = new Date(service.clock.now + 1000).toISOString()
    const id = await newPass(send, { expires_at })
    service.clock.now += 1000
    await passExpiryWorker({
      database: service.database,
      clock: service.clock,
      baseUrls: { ...service.urls, console: '' },
      passTokens: openPassTokens(service.database.pepper),
      log: strictLog,
      wakeUpChannel: { publish: () => {} },
    }).runOnce()
    return pass(send, id)
  },
  'pass.archived': async (send) => {
    const id = await revoked(send)
    await succeed(send, `/v1/passes/${id}/archive`, {})
    return pass(send, id)
  },
}

describe.each(VERSIONS)('%s', (version) => {
  test.each(Object.entries(STORIES))('a real call makes the event %s', async (type, tell) => {
    const send = await speakFor(service, await makeTenant(service, 'enterprise', version))
    const data = await tell(send)
    const { data: told } = (await send(`/v1/events?type=${type}`)).body
    expect(told).toHaveLength(1)
    const [event] = told
    expect(checkEvent(event)).toEqual([])
    expect(event).toMatchObject({ object: 'event', type, version, created: event.emitted_at })
    expect(event.data).toEqual(data)
    expect((await send(`/v1/events/${event.id}`)).body).toEqual(event)
  })

  test('there is no other type of theirs', () => {
    const types = Object.keys(views[version]!).filter((type) => /^pass(_template)?\./.test(type))
    expect(types.toSorted()).toEqual(Object.keys(STORIES).toSorted())
  })
})
