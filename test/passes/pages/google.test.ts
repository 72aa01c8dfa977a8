/** What Google Wallet asks of the service: callbacks take effect once, pictures are there for everybody. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiError } from '../../../runtime/api/errors/errors.ts'
import { createOutbound } from '../../../runtime/events/outbound/outbound.ts'
import type { CallbackOrder } from '../../../runtime/passes/wallets/fakes/google-callbacks.ts'
import {
  type GoogleStandIn,
  startGoogleStandIn,
} from '../../../runtime/passes/wallets/fakes/google-wallet.ts'
import { createRootKeys } from '../../../runtime/passes/wallets/pages/google/root-keys.ts'
import { googleRoute } from '../../../runtime/passes/wallets/pages/google/route.ts'
import { createHolders } from '../../../runtime/passes/wallets/pages/holders.ts'
import { classOf } from '../../../runtime/passes/wallets/render/google/class.ts'
import { openPassTokens } from '../../../runtime/passes/wallets/render/pass-tokens.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { readPin } from '../../../runtime/tenants/admin/pins.ts'
import { createLimiter } from '../../../runtime/tenants/limits/limiter.ts'
import { issuePass, makeTemplate, speakFor } from '../../api/fixtures.ts'
import { makeTenant, type Send, useService } from '../../support/service.ts'

const ISSUER_ID = '3388000000000000042'

const service = useService({ guarded: false })
let google: GoogleStandIn
let server: Server
let url: string
const outbound = createOutbound({ allowPlainHttp: true, allow: parseNetworks(['127.0.0.0/8']) })
let asked = 0

beforeAll(async () => {
  google = await startGoogleStandIn({ issuerId: ISSUER_ID, accounts: new Map() })
  const { database, clock, urls } = service
  const counted: typeof outbound.send = (request) => {
    asked += 1
    return outbound.send(request)
  }
  const route = googleRoute({
    environment: 'sandbox',
    database: database.sandbox,
    clock,
    log: pino({ level: 'silent' }),
    issuerId: ISSUER_ID,
    keys: createRootKeys({ url: google.urls.keys, outbound: { send: counted }, now: Date.now }),
    showing: { baseUrl: urls.sandbox, passTokens: openPassTokens(database.pepper).sandbox },
    readPin: (tenantId) => readPin(database.control, tenantId, 'sandbox'),
    deliveriesDue: () => {},
  })
  const limiter = createLimiter(() => 0)
  const holders = createHolders(
    { clock, environment: 'sandbox', limiter, proxies: 0 },
    { '/google/v1/': route },
  )
  server = createServer((request, response) => {
    holders(request, response)?.catch((error: unknown) => {
      response.writeHead(error instanceof ApiError ? error.status : 500).end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  outbound.close()
  await google.close()
})

interface Issued {
  readonly tenantId: string
  readonly send: Send
  readonly templateId: string
  readonly passId: string
}

async function issue(): Promise<Issued> {
  const tenantId = await makeTenant(service)
  const send = await speakFor(service, tenantId)
  const templateId = await makeTemplate(send)
  return { tenantId, send, templateId, passId: (await issuePass(send, templateId)).id }
}

const write = ({ templateId, passId }: Issued, changes: Partial<CallbackOrder> = {}) =>
  google.callbacks.write({
    classId: `${ISSUER_ID}.${templateId}`,
    objectId: `${ISSUER_ID}.${passId}`,
    eventType: 'save',
    nonce: randomUUID(),
    recipientId: ISSUER_ID,
    ...changes,
  })

async function post(space: string, body: unknown): Promise<number> {
  const answer = await fetch(`${url}/google/v1/callback/${space}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  await answer.text()
  return answer.status
}

const stateOf = async ({ send, passId }: Issued) => {
  const { status, platforms } = (await send(`/v1/passes/${passId}`)).body
  return [status, platforms]
}

const eventsOf = async ({ send }: Issued) => {
  const { data } = (await send('/v1/events')).body
  return data.map(({ type }: { type: string }) => type).toReversed()
}

test('save and del mark the pass, and are told to the tenant', async () => {
  const issued = await issue()
  expect(await post(issued.tenantId, write(issued))).toBe(200)
  expect(await stateOf(issued)).toEqual(['installed', ['google']])
  expect(await post(issued.tenantId, write(issued, { eventType: 'del' }))).toBe(200)
  expect(await stateOf(issued)).toEqual(['installed', []])
  expect(await eventsOf(issued)).toEqual([
    'pass_template.created',
    'pass.created',
    'pass.installed',
    'pass.uninstalled',
  ])
})

test('a message that comes again has no effect again, not even at once', async () => {
  const issued = await issue()
  const saved = write(issued)
  const statuses = await Promise.all(Array.from({ length: 5 }, () => post(issued.tenantId, saved)))
  expect(statuses).toEqual([200, 200, 200, 200, 200])
  await post(issued.tenantId, write(issued, { eventType: 'del' }))
  expect(await post(issued.tenantId, saved)).toBe(200)
  expect(await stateOf(issued)).toEqual(['installed', []])
  expect((await eventsOf(issued)).filter((type: string) => type === 'pass.installed')).toHaveLength(1)
})

describe('has no effect', () => {
  test.each<[string, number, (issued: Issued) => unknown]>([
    ['a message for another issuer', 401, (issued) => write(issued, { recipientId: '3388000000000000043' })],
    ['a message that has expired', 401, (issued) => write(issued, { messageExpires: Date.now() - 1 })],
    ['one under an expired key', 401, (issued) => write(issued, { intermediateExpires: Date.now() - 1 })],
    ['a changed message', 401, (issued) => ({ ...write(issued), signature: 'AAAA' })],
    ['no JSON', 401, () => 'nothing'],
    ['too much', 413, () => 'x'.repeat(20_000)],
    ['an object of another issuer', 200, (issued) => write(issued, { objectId: `1.${issued.passId}` })],
    ['an object that is no pass', 200, (issued) => write(issued, { objectId: `${ISSUER_ID}.card_1` })],
  ])('a callback has no effect: %s is answered with %i', async (_, status, make) => {
    const issued = await issue()
    expect(await post(issued.tenantId, make(issued))).toBe(status)
    expect(await stateOf(issued)).toEqual(['issued', []])
  })

  test('a callback about a pass of one tenant at the address of another has no effect', async () => {
    const [one, other] = [await issue(), await issue()]
    expect(await post(other.tenantId, write(one))).toBe(200)
    expect(await stateOf(one)).toEqual(['issued', []])
  })
})

test.each(['ten_1', 'x', `ten_${'0'.repeat(26)}.x`, '%00'])('there is nothing at %s', async (space) => {
  expect(await post(space, '{}')).toBe(404)
})

test('GET of a callback address is answered with 405', async () => {
  const { tenantId } = await issue()
  expect((await fetch(`${url}/google/v1/callback/${tenantId}`)).status).toBe(405)
})

test('root keys are asked for as often as Google says', () => {
  expect(asked).toBe(1)
})

test('pictures are where classes say they are, without a key', async () => {
  const { tenantId, templateId, send } = await issue()
  const { body } = await send(`/v1/pass_templates/${templateId}`)
  const template = { ...body, space: tenantId, templateId, organization: 'O', locations: [], fieldKeys: [] }
  const { programLogo } = classOf(template, { issuerId: ISSUER_ID, baseUrl: url })
  const { uri } = (programLogo as { sourceUri: { uri: string } }).sourceUri
  const answer = await fetch(uri)
  expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'image/png'])
  expect(answer.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect(bytes.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a')
  expect((await fetch(uri, { method: 'HEAD' })).headers.get('Content-Length')).toBe(String(bytes.length))
  expect((await fetch(uri, { method: 'POST' })).status).toBe(405)
  for (const other of [
    uri.replace('/logo-', '/strip-'),
    uri.replace('/logo-', '/icon-'),
    uri.replace(templateId, `tpl_${'0'.repeat(26)}`),
    uri.replace(tenantId, `ten_${'0'.repeat(26)}`),
    `${uri}.png`,
  ]) {
    expect([other, (await fetch(other)).status]).toEqual([other, 404])
  }
})
