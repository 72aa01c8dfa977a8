/** Applications that are written with the usual libraries, from the question for consent to the end of access. */
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { speak, useService } from '../../support/service.ts'
import { Browser, type Console, REDIRECT, registerClient, signIn, startConsole } from './browser.ts'

const service = useService()
let console: Console

beforeAll(async () => {
  console = await startConsole(service)
})

afterAll(async () => {
  console.stop()
})

const insecure = { [oauth.allowInsecureRequests]: true }

test('oauth4webapi gets a code, tokens, an answer of the API, further tokens, and ends them', async () => {
  const member = await signIn(service, console)
  const { id } = await registerClient(service)
  const issuer = new URL(console.url)
  const metadata = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
  const server = await oauth.processDiscoveryResponse(issuer, metadata)
  const application = { client_id: id }
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()

  const address = new URL(server.authorization_endpoint!)
  address.search = new URLSearchParams({
    client_id: id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'read pass:write',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  }).toString()
  const browser = new Browser(console.url, member)
  const asked = await browser.go(address)
  expect(asked.text).toContain('Loyalty Ltd')
  const allowed = await browser.submit(asked, { decision: 'allow', code: await member.freshCode() })
  expect(allowed.url.href.split('?')[0]).toBe(REDIRECT)

  const answer = oauth.validateAuthResponse(server, application, allowed.url, state)
  const redeemed = await oauth.authorizationCodeGrantRequest(
    server,
    application,
    oauth.None(),
    answer,
    REDIRECT,
    verifier,
    insecure,
  )
  expect(redeemed.headers.get('Cache-Control')).toBe('no-store')
  const tokens = await oauth.processAuthorizationCodeResponse(server, application, redeemed)
  expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'read pass:write' })
  expect(tokens.access_token).toMatch(/^svc_at_sandbox_/)

  const me = await speak(service.urls.sandbox, { secret: tokens.access_token })('/v1/me')
  expect([me.status, me.body.tenant.id]).toEqual([200, member.tenantId])

  const refreshed = await oauth.processRefreshTokenResponse(
    server,
    application,
    await oauth.refreshTokenGrantRequest(server, application, oauth.None(), tokens.refresh_token!, insecure),
  )
  expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)
  const again = speak(service.urls.sandbox, { secret: refreshed.access_token })
  expect((await again('/v1/me')).status).toBe(200)

  const revoked = await oauth.revocationRequest(
    server,
    application,
    oauth.None(),
    refreshed.refresh_token!,
    insecure,
  )
  expect(await oauth.processRevocationResponse(revoked)).toBeUndefined()
  service.forget()
  const refused = await again('/v1/me')
  expect([refused.status, refused.body.error.code]).toEqual([401, 'invalid_token'])
  expect(refused.headers.get('WWW-Authenticate')).toContain('error="invalid_token"')
})

test('openid-client does the same as a confidential client', async () => {
  const member = await signIn(service, console)
  const { id, secret } = await registerClient(service, { confidential: true })
  const config = await client.discovery(new URL(console.url), id, secret, client.ClientSecretBasic(secret!), {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests],
  })
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const address = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    scope: 'write',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
  })
  const browser = new Browser(console.url, member)
  const allowed = await browser.submit(await browser.go(address), {
    decision: 'allow',
    code: await member.freshCode(),
  })
  const tokens = await client.authorizationCodeGrant(config, allowed.url, { pkceCodeVerifier, expectedState })
  const send = speak(service.urls.sandbox, { secret: tokens.access_token })
  expect((await send('/v1/passes')).status).toBe(200)
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token!)
  await client.tokenRevocation(config, refreshed.access_token)
  service.forget()
  expect((await send('/v1/passes')).body.error.code).toBe('invalid_token')
})
