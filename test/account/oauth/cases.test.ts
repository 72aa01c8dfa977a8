/** What the authorization server refuses, and what a token may do: one row a case. */
import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAuthorizations } from '../../../runtime/account/oauth/authorizations.ts'
import { addressGroup } from '../../../runtime/platform/client-address.ts'
import { createLimiter } from '../../../runtime/tenants/limits/limiter.ts'
import { speak, useService } from '../../support/service.ts'
import {
  Browser,
  type Console,
  REDIRECT,
  registerClient,
  type SignedIn,
  signIn,
  startConsole,
} from './browser.ts'

const service = useService()
let console: Console
let member: SignedIn
let app: string

beforeAll(async () => {
  console = await startConsole(service)
  member = await signIn(service, console)
  app = (await registerClient(service)).id
})

afterAll(async () => {
  console.stop()
})

type Fields = Readonly<Record<string, string>>

const newVerifier = () => randomBytes(32).toString('base64url')
const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

/** Exactly the interface's parameters, and others in their place. An empty value leaves a parameter out. */
function authorizationUrl(verifier: string, fields: Fields = {}): string {
  const sent = {
    client_id: app,
    redirect_uri: REDIRECT,
    scope: 'read pass:write',
    code_challenge: challengeOf(verifier),
    state: 'a state',
    ...fields,
  }
  const parameters = Object.entries(sent).filter(([, value]) => value !== '')
  return `/oauth/authorize?${new URLSearchParams(parameters)}`
}

async function getCode(fields: Fields = {}, as = member): Promise<{ code: string; verifier: string }> {
  const verifier = newVerifier()
  const browser = new Browser(console.url, as)
  const asked = await browser.go(authorizationUrl(verifier, fields))
  const allowed = await browser.submit(asked, { decision: 'allow', code: await as.freshCode() })
  return { code: allowed.url.searchParams.get('code') ?? '', verifier }
}

async function post(path: string, fields: Fields, headers: Fields = {}) {
  const body = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ''))
  const response = await fetch(console.url + path, { method: 'POST', body, headers })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

const redeem = ({ code, verifier }: { code: string; verifier: string }, fields: Fields = {}) =>
  post('/oauth/token', { code, code_verifier: verifier, client_id: app, ...fields })

const refresh = (token: string, fields: Fields = {}) =>
  post('/oauth/token', { refresh_token: token, grant_type: 'refresh_token', ...fields })

const getTokens = async (fields: Fields = {}, as = member) =>
  (await redeem(await getCode(fields, as), fields.client_id ? { client_id: fields.client_id } : {})).body

const statusOf = async (token: string, path = '/v1/me') => {
  service.forget()
  return (await speak(service.urls.sandbox, { secret: token })(path)).status
}

test('an address has so many calls a minute, of all endpoints together', async () => {
  const now = { monotonic: 0 }
  const limiter = createLimiter(() => now.monotonic)
  const crowded = await startConsole(service, console.url, limiter)
  const call = async (path: string, method = 'POST') => {
    const response = await fetch(crowded.url + path, { method, redirect: 'manual' })
    const text = await response.text()
    return { status: response.status, wait: response.headers.get('Retry-After'), text }
  }
  const meter = limiter.meter(addressGroup('127.0.0.1'))
  while (limiter.take(meter, 'unauthenticated').allowed);
  for (const [path, method] of [
    ['/oauth/token', 'POST'],
    ['/oauth/revoke', 'POST'],
    ['/oauth/authorize', 'GET'],
  ] as const) {
    const { status, wait, text } = await call(path, method)
    expect([path, status, wait, JSON.parse(text).error]).toEqual([path, 429, '1', 'temporarily_unavailable'])
  }
  now.monotonic += 60
  expect((await call('/oauth/token')).status).toBe(400)
  expect((await call('/oauth/token')).status).toBe(429)
  crowded.stop()
})

test('the parameters of the interface suffice for an authorization', async () => {
  const redeemed = await redeem(await getCode())
  expect([redeemed.status, redeemed.body.scope]).toEqual([200, 'read pass:write'])
  expect(redeemed.headers.get('Cache-Control')).toBe('no-store')
  expect((await refresh(redeemed.body.refresh_token)).status).toBe(200)
})

describe('an authorization request', () => {
  test.each([
    { why: 'no challenge', fields: { code_challenge: '' }, error: 'invalid_request' },
    { why: 'plain', fields: { code_challenge_method: 'plain' }, error: 'invalid_request' },
    { why: 'a short challenge', fields: { code_challenge: 'short' }, error: 'invalid_request' },
    { why: 'another response', fields: { response_type: 'token' }, error: 'unsupported_response_type' },
    {
      why: 'another response in a fragment',
      fields: { response_type: 'token', response_mode: 'fragment' },
      error: 'unsupported_response_type',
    },
    { why: 'a fragment', fields: { response_mode: 'fragment' }, error: 'unsupported_response_mode' },
    { why: 'a form', fields: { response_mode: 'form_post' }, error: 'unsupported_response_mode' },
    { why: 'no scope', fields: { scope: '' }, error: 'invalid_scope' },
    { why: 'a scope that there is not', fields: { scope: 'read everything' }, error: 'invalid_scope' },
    { why: 'a scope beyond the client’s', fields: { scope: 'admin' }, error: 'invalid_scope' },
  ])('an authorization request with $why goes back with $error, state and iss', async ({ fields, error }) => {
    const { url, text } = await new Browser(console.url, member).go(authorizationUrl(newVerifier(), fields))
    expect(url.origin + url.pathname, text).toBe(REDIRECT)
    expect(url.hash).toBe('')
    const answer = url.searchParams
    expect([answer.get('error'), answer.get('state'), answer.get('iss')]).toEqual([
      error,
      'a state',
      console.url,
    ])
  })

  test.each([
    { uri: `${REDIRECT}/more` },
    { uri: `${REDIRECT}?more` },
    { uri: `${REDIRECT}#fragment` },
    { uri: 'https://app.example:8443/callback' },
    { uri: 'https://app.example@evil.example/callback' },
    { uri: 'http://app.example/callback' },
  ])('an authorization request with the redirect $uri goes nowhere', async ({ uri }) => {
    const page = await new Browser(console.url, member).go(
      authorizationUrl(newVerifier(), { redirect_uri: uri }),
    )
    expect([page.status, page.url.pathname]).toEqual([400, '/oauth/authorize'])
    expect(page.headers.get('X-Frame-Options')).toBe('DENY')
  })

  test('an authorization request of a native application may name any port of its machine', async () => {
    const { code, verifier } = await getCode({
      client_id: 'svc-cli',
      redirect_uri: 'http://127.0.0.1:49152/callback',
    })
    expect((await redeem({ code, verifier }, { client_id: 'svc-cli' })).status).toBe(200)
  })
})

describe('a code', () => {
  test.each([
    { why: 'another client', fields: { client_id: 'svc-cli' } },
    { why: 'another redirect', fields: { redirect_uri: `${REDIRECT}/more` } },
    { why: 'another verifier', fields: { code_verifier: newVerifier() } },
    { why: 'no verifier', fields: { code_verifier: '' } },
  ])('the token endpoint refuses an authorization code with $why', async ({ fields }) => {
    const refused = await redeem(await getCode(), fields as Fields)
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_grant'])
  })

  test('an authorization code that is used again ends what it was used for', async () => {
    const code = await getCode()
    const first = await redeem(code)
    expect((await redeem(code)).body.error).toBe('invalid_grant')
    expect(await statusOf(first.body.access_token)).toBe(401)
  })

  test('an authorization code is over after a minute', async () => {
    const code = await getCode()
    await expireAll()
    expect((await redeem(code)).body.error).toBe('invalid_grant')
  })
})

async function expireAll(): Promise<void> {
  await service.database.control.query({
    text: "UPDATE control.oauth_artefacts SET expires_at = now() - interval '1 second'",
  })
}

describe('a refresh token', () => {
  test('a refresh token that is used again ends its family, for good', async () => {
    const { refresh_token, access_token } = await getTokens()
    const { body } = await refresh(refresh_token)
    expect(body.refresh_token).not.toBe(refresh_token)
    expect((await refresh(refresh_token)).body.error).toBe('invalid_grant')
    expect((await refresh(body.refresh_token)).body.error).toBe('invalid_grant')
    expect([await statusOf(access_token), await statusOf(body.access_token)]).toEqual([401, 401])
  })

  test('a refresh token that is sent twenty times at once is good for one answer', async () => {
    const { refresh_token } = await getTokens()
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refresh_token)))
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
  })

  test('a refresh token gives no more than was allowed, and may give less', async () => {
    const { refresh_token } = await getTokens()
    expect((await refresh(refresh_token, { scope: 'write' })).body.error).toBe('invalid_scope')
    expect((await refresh(refresh_token, { scope: 'read' })).body.scope).toBe('read')
  })

  test.each([
    { held: 'pass:write', asked: 'pass:read', given: 'pass:read' },
    { held: 'write', asked: 'read', given: 'read' },
    { held: 'write', asked: 'pass:write', given: 'pass:write' },
    { held: 'read pass:write', asked: 'pass:read', given: 'pass:read' },
    { held: 'pass:write', asked: 'card:read', given: undefined },
    { held: 'pass:write', asked: 'read', given: undefined },
    { held: 'pass:read', asked: 'pass:write', given: undefined },
  ])('a refresh token for $held that asks for $asked gets $given', async ({ held, asked, given }) => {
    const { refresh_token } = await getTokens({ scope: held })
    const { status, body } = await refresh(refresh_token, { scope: asked })
    expect([status, body.scope, body.error]).toEqual(
      given === undefined ? [400, asked, 'invalid_scope'] : [200, given, undefined],
    )
    if (given === undefined) return
    expect((await refresh(body.refresh_token)).body.scope).toBe(held)
  })

  test('a refresh token for writing passes may be exchanged for reading them', async () => {
    const { id } = await registerClient(service, { scopes: ['pass:write'] })
    expect((await getTokens({ client_id: id, scope: 'pass:read' })).scope).toBe('pass:read')
  })

  test('a refresh token of another client is refused', async () => {
    const { refresh_token } = await getTokens()
    expect((await refresh(refresh_token, { client_id: 'svc-cli' })).body.error).toBe('invalid_grant')
    expect((await refresh(refresh_token)).status).toBe(200)
  })
})

describe('a revocation', () => {
  test.each([{ token: 'unknown' }, { token: `svc_at_sandbox_${'0'.repeat(49)}` }])(
    'a revocation of $token is answered 200',
    async ({ token }) => {
      expect((await post('/oauth/revoke', { token, client_id: app })).status).toBe(200)
    },
  )

  test('a revocation by another client ends nothing', async () => {
    const { access_token } = await getTokens()
    expect((await post('/oauth/revoke', { token: access_token, client_id: 'svc-cli' })).status).toBe(200)
    expect(await statusOf(access_token)).toBe(200)
  })
})

describe('a confidential client', () => {
  test('a confidential client shows its secret, in the body or as Basic, and a right one', async () => {
    const { id, secret } = await registerClient(service, { confidential: true })
    const code = () => getCode({ client_id: id })
    expect((await redeem(await code(), { client_id: id })).body.error).toBe('invalid_client')
    expect((await redeem(await code(), { client_id: id, client_secret: 'wrong' })).body.error).toBe(
      'invalid_client',
    )
    expect((await redeem(await code(), { client_id: id, client_secret: secret! })).status).toBe(200)
    const { code: sent, verifier } = await code()
    const basic = { Authorization: `Basic ${btoa(`${id}:${secret}`)}` }
    expect((await post('/oauth/token', { code: sent, code_verifier: verifier }, basic)).status).toBe(200)
  })
})

describe('a 401 names Basic, which clients may use', () => {
  test.each(['/oauth/token', '/oauth/revoke'])(
    '%s answers 401 and names Basic to a client that gave a wrong secret',
    async (path) => {
      const { id } = await registerClient(service, { confidential: true })
      const sent = { grant_type: 'refresh_token', refresh_token: 'x', token: 'x' }
      const challenge = `Basic realm="${console.url}"`
      const basic = { Authorization: `Basic ${btoa(`${id}:wrong`)}` }
      const byHeader = await post(path, sent, basic)
      expect([byHeader.status, byHeader.headers.get('WWW-Authenticate')]).toEqual([401, challenge])
      const byBody = await post(path, { ...sent, client_id: id, client_secret: 'wrong' })
      expect([byBody.status, byBody.headers.get('WWW-Authenticate')]).toEqual([401, challenge])
    },
  )
})

describe('a member who becomes a viewer', () => {
  test.each([
    { scope: 'write', left: 'read' },
    { scope: 'pass:write', left: 'pass:read' },
    { scope: 'read pass:write', left: 'read' },
  ])(
    'a member who becomes a viewer leaves of $scope no more than $left, until the role is back',
    async ({ scope, left }) => {
      const someone = await signIn(service, console, 'developer')
      const { access_token, refresh_token } = await getTokens({ scope }, someone)
      const setRole = (role: string) =>
        service.database.control.query(
          {
            text: 'UPDATE control.members SET role = $3 WHERE tenant_id = $1 AND id = $2',
          },
          [someone.tenantId, someone.memberId, role],
        )
      const write = async (token: string) => {
        service.forget()
        const body = { template_id: 'tpl_00000000000000000000000000' }
        return (await speak(service.urls.sandbox, { secret: token })('/v1/passes', { body })).body.error.code
      }
      await setRole('viewer')
      expect([await statusOf(access_token, '/v1/passes'), await write(access_token)]).toEqual([
        200,
        'insufficient_scope',
      ])
      const lowered = (await refresh(refresh_token)).body
      expect(lowered.scope).toBe(left)
      expect(await statusOf(lowered.access_token, '/v1/passes')).toBe(200)
      await setRole('developer')
      const back = (await refresh(lowered.refresh_token)).body
      expect(back.scope).toBe(scope)
      expect(await write(back.access_token)).not.toBe('insufficient_scope')
    },
  )
})

describe('the page of consent', () => {
  test('the consent page sends a member who is not signed in to sign in and back', async () => {
    const { url } = await new Browser(console.url).go(authorizationUrl(newVerifier()))
    expect([url.pathname, url.searchParams.get('return_to')]).toEqual([
      '/sign-in',
      expect.stringMatching(/^\/oauth\/consent\//),
    ])
  })

  test('the consent page is not framed, and says who asks for what', async () => {
    const page = await new Browser(console.url, member).go(authorizationUrl(newVerifier()))
    expect(page.headers.get('X-Frame-Options')).toBe('DENY')
    expect(page.headers.get('Content-Security-Policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('Cache-Control')).toBe('no-store')
    for (const words of [
      'Loyalty Ltd',
      'Harbour Coffee, sandbox',
      member.email,
      'create, and change passes',
    ]) {
      expect(page.text).toContain(words)
    }
  })

  test('the consent page takes no form but its own, from its own site', async () => {
    const browser = new Browser(console.url, member)
    const page = await browser.go(authorizationUrl(newVerifier()))
    const forged = await browser.go(page.url, {
      method: 'POST',
      body: new URLSearchParams({ decision: 'allow' }),
    })
    expect(forged.status).toBe(403)
    const elsewhere = { headers: { 'Sec-Fetch-Site': 'cross-site' } }
    expect((await browser.submit(page, { decision: 'allow' }, elsewhere)).status).toBe(403)
  })

  test('the consent page takes a fresh code of the member: a session alone lets no one in, and a no takes none', async () => {
    const browser = new Browser(console.url, member)
    const page = await browser.go(authorizationUrl(newVerifier()))
    const used = await member.freshCode()
    for (const code of ['', '000000']) {
      const refused = await browser.submit(page, { decision: 'allow', code })
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('The code is incorrect')])
    }
    const { url } = await browser.submit(page, { decision: 'allow', code: used })
    expect(url.searchParams.get('code')).toMatch(/^svc_ac_/)
    const other = new Browser(console.url, member)
    const again = await other.go(authorizationUrl(newVerifier()))
    expect((await other.submit(again, { decision: 'allow', code: used })).status).toBe(403)
  })

  test('a no goes back as access_denied, with iss', async () => {
    const browser = new Browser(console.url, member)
    const { url } = await browser.submit(await browser.go(authorizationUrl(newVerifier())), {
      decision: 'deny',
    })
    expect([url.searchParams.get('error'), url.searchParams.get('iss')]).toEqual([
      'access_denied',
      console.url,
    ])
  })

  test('the consent page lets a viewer grant only reading', async () => {
    const viewer = await signIn(service, console, 'viewer')
    const tokens = await getTokens({}, viewer)
    expect(tokens.scope).toBe('read')
    expect(await statusOf(tokens.access_token, '/v1/passes')).toBe(200)
    const browser = new Browser(console.url, viewer)
    const page = await browser.go(authorizationUrl(newVerifier(), { scope: 'pass:write' }))
    expect(page.text).not.toContain('value="allow"')
    const { url } = await browser.submit(page, { decision: 'allow' })
    expect(url.searchParams.get('error')).toBe('access_denied')
  })
})

describe('a NUL where a client is named', () => {
  test.each([
    ['/oauth/authorize?client_id=%00', {}],
    [
      '/oauth/token',
      {
        method: 'POST',
        body: new URLSearchParams({ client_id: '\0', grant_type: 'refresh_token', refresh_token: 'x' }),
      },
    ],
    [
      '/oauth/token',
      { method: 'POST', body: new URLSearchParams({ client_id: '\0', code: '\0', code_verifier: '\0' }) },
    ],
    ['/oauth/revoke', { method: 'POST', body: new URLSearchParams({ client_id: '\0', token: 'x' }) }],
    [
      '/oauth/revoke',
      {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa('%00:%00')}` },
        body: new URLSearchParams({ token: 'x' }),
      },
    ],
    [
      '/oauth/revoke',
      {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa('\0:\0')}` },
        body: new URLSearchParams({ token: 'x' }),
      },
    ],
  ] as const)('%s is refused, and not a failure of ours', async (path, init) => {
    const { status } = await fetch(console.url + path, { ...init, redirect: 'manual' })
    expect([400, 401]).toContain(status)
  })
})

describe('an access token', () => {
  const send = (token: string, url = service.urls.sandbox) => speak(url, { secret: token })

  test('an access token may do what its scopes say, and is told which one it needs', async () => {
    const { access_token } = await getTokens({ scope: 'pass:read' })
    expect((await send(access_token)('/v1/passes')).status).toBe(200)
    const body = { template_id: 'tpl_00000000000000000000000000' }
    const write = await send(access_token)('/v1/passes', { body })
    expect([write.status, write.body.error.code, write.body.error.required_scope]).toEqual([
      403,
      'insufficient_scope',
      'pass:write',
    ])
    expect(write.headers.get('WWW-Authenticate')).toBe(
      'Bearer error="insufficient_scope", scope="pass:write"',
    )
    const other = await send(access_token)('/v1/events')
    expect(other.body.error.required_scope).toBe('read')
  })

  test('an access token is good in its own environment', async () => {
    const { access_token } = await getTokens()
    const { status, body } = await send(access_token, service.urls.live)('/v1/me')
    expect([status, body.error.code]).toEqual([401, 'environment_mismatch'])
  })

  test('unknown, or out of time, is told so', async () => {
    expect((await send(`svc_at_sandbox_${'0'.repeat(49)}`)('/v1/me')).body.error.code).toBe('invalid_token')
    const { access_token } = await getTokens()
    await expireAll()
    service.forget()
    const { status, body } = await send(access_token)('/v1/me')
    expect([status, body.error.code]).toEqual([401, 'expired_token'])
  })

  test('costs no query once the node knows it, and is dead on a node that heard of its end', async () => {
    const { access_token } = await getTokens()
    expect((await send(access_token)('/v1/me')).status).toBe(200)
    const authorizations = createAuthorizations(service.database.control, service.clock)
    const me = await send(access_token)('/v1/me')
    // The cache answers still: nothing was asked.
    expect(
      await authorizations.revoke(me.body.key.id, { actorType: 'operator', actorId: null, ip: null }),
    ).toBe(true)
    expect((await send(access_token)('/v1/me')).status).toBe(200)
    service.forget()
    expect((await send(access_token)('/v1/me')).body.error.code).toBe('invalid_token')
  })

  test('an access token stands nowhere in the database, and its consent and end are in the audit log', async () => {
    const { access_token, refresh_token } = await getTokens()
    const { rows } = await service.database.control.query<{ text: string }>({
      text: 'SELECT a::text AS text FROM control.oauth_artefacts a',
    })
    const all = rows.map(({ text }) => text).join('\n')
    for (const token of [access_token, refresh_token]) expect(all).not.toContain(token)
    await post('/oauth/revoke', { token: refresh_token, client_id: app })
    const log = await service.database.control.query<{ action: string }>({
      text: `SELECT action FROM sandbox.audit_log WHERE tenant_id = '${member.tenantId}' ORDER BY sequence DESC LIMIT 2`,
    })
    expect(log.rows.map(({ action }) => action)).toEqual(['connected_app.revoked', 'connected_app.allowed'])
  })
})
