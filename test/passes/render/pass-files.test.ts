/** The file of a pass as a phone fetches it: over a socket, without a key, in both environments. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { developmentFiles } from '../../../runtime/passes/wallets/render/apple/development.ts'
import { openPassTokens } from '../../../runtime/passes/wallets/render/pass-tokens.ts'
import type { Environment } from '../../../runtime/platform/environment.ts'
import { issuePass, makeTemplate, speakFor, TEMPLATE } from '../../api/fixtures.ts'
import { makeTenant, type Send, START, useService } from '../../support/service.ts'
import { unzip, verifies } from './apple-files.ts'

let tenantId: string
let directory: string
let root: string

const service = useService(async () => {
  directory = mkdtempSync(join(tmpdir(), 'svc-wallet-'))
  const { certificate, key, wwdr } = developmentFiles(directory, Date.now())
  root = join(directory, 'wallet', 'root.pem')
  const env = { APPLE_PASS_CERTIFICATE: certificate, APPLE_PASS_KEY: key, APPLE_PASS_WWDR: wwdr }
  return { env, keepsTime: true }
})
beforeAll(async () => {
  tenantId = await makeTenant(service)
})
afterAll(() => rmSync(directory, { recursive: true }))

const second = (ms: number) => new Date(ms).toUTCString()

async function fetchFile(url: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(url, { method, headers })
  const body = Buffer.from(await response.arrayBuffer())
  return { status: response.status, headers: response.headers, body }
}

function passJson(file: Buffer) {
  return JSON.parse(unzip(file).get('pass.json')!.toString())
}

describe.each(['sandbox', 'live'] as const)('in %s', (environment: Environment) => {
  let send: Send
  beforeAll(async () => {
    send = await speakFor(service, tenantId, environment)
  })
  const issue = async (content: object = {}) => {
    const templateId = await makeTemplate(send)
    const pass = await issuePass(send, templateId, content)
    return { templateId, id: pass.id as string, url: pass.download.apple_url as string }
  }

  test('a pass file is signed, and says what it is', async () => {
    const { id, url } = await issue({ fields: { points: '42' } })
    const { status, headers, body } = await fetchFile(url)
    expect(status).toBe(200)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/vnd.apple.pkpass',
      'content-disposition': `attachment; filename="${id}.pkpass"`,
      'content-length': String(body.length),
      'last-modified': second(service.clock.now),
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
    })
    expect(headers.get('etag')).toMatch(/^"[\w-]{43}"$/)
    const files = unzip(body)
    expect(verifies(files.get('manifest.json')!, files.get('signature')!, root)).toBe(true)
    expect(JSON.parse(files.get('pass.json')!.toString())).toMatchObject({
      serialNumber: id,
      passTypeIdentifier: 'pass.development.invalid',
      teamIdentifier: 'DEVELOP000',
      organizationName: 'Harbour Coffee',
      description: TEMPLATE.name,
      webServiceURL: `${service.urls[environment]}/apple`,
      storeCard: { primaryFields: [{ key: 'points', label: 'Points', value: '42' }] },
    })
    expect((await fetchFile(url)).body.equals(body)).toBe(true)
  })

  test('a client that has the pass file gets 304, by its tag and by its date; one with another file gets it', async () => {
    const { id, url } = await issue()
    const { headers, body } = await fetchFile(url)
    const etag = headers.get('etag')!
    const modified = headers.get('last-modified')!
    const earlier = second(Date.parse(modified) - 1000)
    const wanted: [Record<string, string>, number][] = [
      [{ 'If-None-Match': etag }, 304],
      [{ 'If-None-Match': `"other", W/${etag}` }, 304],
      [{ 'If-None-Match': '*' }, 304],
      [{ 'If-Modified-Since': modified }, 304],
      [{ 'If-Modified-Since': second(Date.parse(modified) + 60_000) }, 304],
      [{ 'If-None-Match': '"other"', 'If-Modified-Since': modified }, 200],
      [{ 'If-Modified-Since': earlier }, 200],
      [{ 'If-Modified-Since': 'yesterday' }, 200],
    ]
    for (const [given, status] of wanted) {
      const answer = await fetchFile(url, given)
      expect([given, answer.status]).toEqual([given, status])
      expect(answer.headers.get('etag')).toBe(etag)
      expect(answer.headers.get('last-modified')).toBe(modified)
      expect(answer.body.equals(status === 200 ? body : Buffer.alloc(0))).toBe(true)
    }
    await send(`/v1/passes/${id}`, { method: 'PATCH', body: { fields: { points: '7' } } })
    for (const given of [{ 'If-None-Match': etag }, { 'If-Modified-Since': modified }]) {
      const answer = await fetchFile(url, given)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('etag')).not.toBe(etag)
      expect(passJson(answer.body).storeCard.primaryFields[0].value).toBe('7')
    }
  })

  test('HEAD says the same without the file', async () => {
    const { url } = await issue()
    const { headers } = await fetchFile(url)
    const head = await fetchFile(url, {}, 'HEAD')
    expect(head.status).toBe(200)
    for (const name of ['etag', 'last-modified', 'content-type', 'content-disposition']) {
      expect(head.headers.get(name)).toBe(headers.get(name))
    }
    const given = { 'If-None-Match': headers.get('etag')! }
    expect((await fetchFile(url, given, 'HEAD')).status).toBe(304)
  })

  test('a change of the template reaches it', async () => {
    const { templateId, url } = await issue()
    const before = await fetchFile(url)
    const change = { name: 'Renamed', brand: { ...TEMPLATE.brand, background_color: '#000000' } }
    await send(`/v1/pass_templates/${templateId}`, { method: 'PATCH', body: change })
    const { status, body } = await fetchFile(url, { 'If-None-Match': before.headers.get('etag')! })
    expect(status).toBe(200)
    expect(passJson(body)).toMatchObject({ description: 'Renamed', backgroundColor: 'rgb(0, 0, 0)' })
  })

  test('a pass that is revoked or expired is served as void', async () => {
    const revoked = await issue()
    expect(passJson((await fetchFile(revoked.url)).body).voided).toBeUndefined()
    await send(`/v1/passes/${revoked.id}/revoke`, { method: 'POST' })
    expect(passJson((await fetchFile(revoked.url)).body).voided).toBe(true)

    const expiresAt = service.clock.now + 60_000
    const expiring = await issue({ expires_at: new Date(expiresAt).toISOString() })
    const before = await fetchFile(expiring.url)
    expect(passJson(before.body)).toMatchObject({
      expirationDate: new Date(expiresAt).toISOString().replace('.000', ''),
    })
    service.clock.now = expiresAt
    const after = await fetchFile(expiring.url, { 'If-None-Match': before.headers.get('etag')! })
    service.clock.now = START
    expect(after.status).toBe(200)
    expect(after.headers.get('last-modified')).toBe(second(expiresAt))
    expect(passJson(after.body).voided).toBe(true)
  })

  test('a pass file answers the same whatever is wrong with its address', async () => {
    const { id, url } = await issue()
    const origin = service.urls[environment]
    const tokens = openPassTokens(service.database.pepper)
    const other = environment === 'live' ? 'sandbox' : 'live'
    const place = { space: tenantId, passId: id }
    const unknown = { space: tenantId, passId: `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}` }
    const token = url.slice(`${origin}/p/`.length, -'.pkpass'.length)
    const wrong = [
      'x',
      '',
      '%00',
      token.slice(1),
      `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
      tokens[other].write('page', place),
      tokens[environment].write('apple', place),
      tokens[environment].write('page', unknown),
      tokens[environment].write('page', { ...place, space: `${tenantId}.1` }),
    ]
    for (const method of ['GET', 'HEAD']) {
      const answers = await Promise.all(
        wrong.map((text) => fetchFile(`${origin}/p/${text}.pkpass`, { 'If-None-Match': '*' }, method)),
      )
      const bodies = answers.map(({ status, body }) => {
        const error = method === 'GET' ? JSON.parse(body.toString()).error : {}
        return { status, ...error, request_id: undefined }
      })
      expect(bodies[0]!.status).toBe(404)
      for (const each of bodies) expect(each).toEqual(bodies[0])
    }
  })

  test('a pass file refuses other methods and names those there are', async () => {
    const { url } = await issue()
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const { status, headers } = await fetchFile(url, {}, method)
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    }
  })
})

test('the pass of a wiped sandbox is gone', async () => {
  const other = await makeTenant(service)
  const send = await speakFor(service, other)
  const { download } = await issuePass(send, await makeTemplate(send))
  expect((await fetchFile(download.apple_url)).status).toBe(200)
  await service.database.control.query(
    { text: 'INSERT INTO sandbox.wiped_spaces (tenant_id, wiped_at) VALUES ($1, now())' },
    [other],
  )
  expect((await fetchFile(download.apple_url)).status).toBe(404)
  expect((await fetchFile(download.apple_url, { 'If-None-Match': '*' })).status).toBe(404)
})

test('an address that asks too often waits', async () => {
  const send = await speakFor(service, tenantId)
  const { download } = await issuePass(send, await makeTemplate(send))
  // Twice what a minute allows, a few at a time: whatever is asked for counts.
  for (let round = 0; round < 50; round += 1) {
    const wrong = `${service.urls.sandbox}/p/wrong${round}.pkpass`
    await Promise.all(Array.from({ length: 40 }, () => fetch(wrong, { method: 'HEAD' })))
  }
  const refused = await fetchFile(download.apple_url)
  expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true])
  service.clock.monotonic += 60_000
  expect((await fetchFile(download.apple_url)).status).toBe(200)
})
