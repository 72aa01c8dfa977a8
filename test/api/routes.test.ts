/** What is called: versions, routes, and what stands outside /v1. */
import { beforeAll, describe, expect, test } from 'vitest'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { refusal, TEMPLATE, VERSIONS } from './fixtures.ts'

const CURRENT = '2026-05-19'

const service = useService({ trustedProxies: 1 })
let tenantId: string
let secret: string

beforeAll(async () => {
  tenantId = await makeTenant(service)
  secret = (await makeKey(service, tenantId, { scope: 'admin' })).secret
})

const sandbox = (key?: string, version: string | undefined = CURRENT): Send =>
  speak(service.urls.sandbox, { secret: key, version })

describe('versions', () => {
  test('the pin stands where no header does', async () => {
    const pinned = await makeTenant(service, 'standard', '2025-11-01')
    const key = await makeKey(service, pinned)
    const own = await speak(service.urls.sandbox, { secret: key.secret })('/v1/me')
    expect([own.body.version, own.headers.get('Service-Version')]).toEqual(['2025-11-01', '2025-11-01'])
    const other = await speak(service.urls.sandbox, { secret: key.secret, version: CURRENT })('/v1/me')
    expect(other.body.version).toBe(CURRENT)
  })

  test.each(['2024-01-01', 'latest', '', '2026-05-19 ', '2026-05-19, 2026-02-01'])(
    'a request of the unknown version "%s" is refused',
    async (version) => {
      const answer = await sandbox(secret, undefined)('/v1/me', { headers: { 'Service-Version': version } })
      if (version.trim() === CURRENT) expect(answer.status).toBe(200)
      else {
        expect(refusal(answer)).toEqual([400, 'invalid_parameter', 'unknown_version'])
        expect(answer.body.error.param).toBe('Service-Version')
        expect(answer.headers.get('X-RateLimit-Resource')).toBe('read')
      }
    },
  )

  test.each(VERSIONS)('version %s is answered until its sunset, and not after', async (version) => {
    const send = sandbox(secret, version)
    service.clock.now = Date.parse('2027-02-01T23:59:59.999Z')
    expect((await send('/v1/me')).status).toBe(200)
    service.clock.now = Date.parse('2027-02-02T00:00:00.000Z')
    const answer = await send('/v1/me')
    if (version >= '2026-02-01') expect(answer.status).toBe(200)
    else {
      expect(refusal(answer)).toEqual([410, 'version_sunset', 'version_gone'])
      expect(answer.body.error.successor_version).toBe('2026-02-01')
      const guide = `http://127.0.0.1:4000/docs/upgrading/${version}/${CURRENT}`
      expect(answer.body.error.guide_url).toBe(guide)
    }
  })

  test('a pin past its sunset is gone too, and another version still answers', async () => {
    const pinned = await makeTenant(service, 'standard', '2025-06-01')
    const key = await makeKey(service, pinned)
    service.clock.now = Date.parse('2027-02-02T00:00:00Z')
    const gone = await speak(service.urls.sandbox, { secret: key.secret })('/v1/me')
    expect(refusal(gone)).toEqual([410, 'version_sunset', 'version_gone'])
    expect((await sandbox(key.secret)('/v1/me')).status).toBe(200)
  })

  test('the role is checked before the version, the version before the route', async () => {
    const answer = await sandbox(secret, 'x')('/v1/nothing')
    expect(answer.body.error.code).toBe('unknown_version')
  })
})

describe('routes', () => {
  test.each([
    ['GET', '/v1', 404],
    ['GET', '/v1/', 404],
    ['GET', '/v1/nothing', 404],
    ['GET', '/v1/passes/', 404],
    ['GET', '/v1//passes', 404],
    ['GET', '/V1/passes', 404],
    ['GET', '/v1/Passes', 404],
    ['GET', '/v1/passes/x', 404],
    ['GET', '/v1/passes/%E4', 404],
    ['GET', '/v1/passes/pass_00000000000000000000000000', 404],
    ['GET', '/v1/passes/pass_00000000000000000000000000%00', 404],
    ['GET', '/v1/passes/pass_00000000000000000000000000/revoke/x', 404],
    ['GET', '/v1/pas%73es', 200],
    ['DELETE', '/v1/passes', 405],
    ['PUT', '/v1/passes/pass_00000000000000000000000000', 405],
    ['GET', '/v1/passes/pass_00000000000000000000000000/revoke', 405],
    ['POST', '/v1/me', 405],
    ['POST', '/v1/passes/count', 405],
    ['HEAD', '/v1/me', 405],
  ])('%s %s is answered with %i', async (method, path, status) => {
    const answer = await sandbox(secret)(path, { method })
    expect(answer.status).toBe(status)
    if (status === 405) expect(answer.headers.get('Allow')).toMatch(/^(GET|POST|PATCH)(, (GET|POST|PATCH))*$/)
    if (path.startsWith('/v1/')) expect(answer.headers.get('X-RateLimit-Resource')).toBe('read')
  })

  test('Allow names what the version has', async () => {
    const { headers } = await sandbox(secret)('/v1/passes', { method: 'DELETE' })
    expect(headers.get('Allow')).toBe('POST, GET')
  })

  test('an operation of another version is not found: 404, not 405', async () => {
    const answer = await sandbox(secret, '2025-11-01')('/v1/passes/batch', { body: {} })
    expect(refusal(answer)).toEqual([404, 'not_found', 'not_found'])
  })
})

describe('outside /v1', () => {
  const get = (path: string, method = 'GET') => sandbox()(path, { method })

  test('the listener answers that it is alive and ready', async () => {
    expect((await get('/livez')).status).toBe(200)
    expect((await get('/readyz')).status).toBe(200)
  })

  test('the sandbox serves the documents of all versions, with its own origins', async () => {
    expect((await get('/openapi.json')).body.info.version).toBe(CURRENT)
    const { sandbox, live } = service.urls
    for (const version of VERSIONS) {
      const { info, servers } = (await get(`/openapi/${version}.json`)).body
      expect([info.version, ...servers.map(({ url }: { url: string }) => url)]).toEqual([
        version,
        sandbox,
        live,
      ])
    }
    expect((await get('/openapi/2024-01-01.json')).status).toBe(404)
    expect((await get('/openapi/..%2f..%2fpackage.json')).status).toBe(404)
  })

  test('the listener tells programs where the documentation is, and crawlers to stay away', async () => {
    const index = await fetch(`${service.urls.sandbox}/llms.txt`, { redirect: 'manual' })
    expect([index.status, index.headers.get('Location')]).toEqual([
      302,
      'http://127.0.0.1:4000/docs/llms.txt',
    ])
    const robots = await fetch(`${service.urls.live}/robots.txt`)
    expect(robots.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect(await robots.text()).toBe('User-agent: *\nDisallow: /\n')
  })

  test('the listener answers 404 for the file of a pass that does not exist', async () => {
    expect(refusal(await get('/p/abc.pkpass'))).toEqual([404, 'not_found', 'not_found'])
  })

  test.each(['/', '/nothing', '/v2/passes', '/p', '/%'])('GET %s is not found', async (path) => {
    expect(refusal(await get(path))).toEqual([404, 'not_found', 'not_found'])
  })
})

test('templates of one version are templates of all', async () => {
  const made = await sandbox(secret, '2025-06-01')('/v1/pass_templates', { body: TEMPLATE })
  expect((await sandbox(secret)(`/v1/pass_templates/${made.body.id}`)).body.relevant_locations).toEqual([])
})
