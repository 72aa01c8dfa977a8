/** An application that acts for merchants: they let it in once, and it renews its own access. */
import { createClient } from '@dateline/passes/2026-05-19'
import express from 'express'
import * as oauth from 'oauth4webapi'

const { BASE_URL = '', ISSUER = '', CLIENT_ID = '', PUBLIC_URL = '' } = process.env
const redirect = `${PUBLIC_URL}/callback`
const insecure = { [oauth.allowInsecureRequests]: ISSUER.startsWith('http://127.0.0.1') }

const issuer = new URL(ISSUER)
const metadata = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
const server = await oauth.processDiscoveryResponse(issuer, metadata)
const application: oauth.Client = { client_id: CLIENT_ID }

interface Access {
  readonly token: string
  readonly refreshToken: string
  readonly expiresAt: number
}

function accessOf({ access_token, refresh_token = '', expires_in = 0 }: oauth.TokenEndpointResponse): Access {
  return { token: access_token, refreshToken: refresh_token, expiresAt: Date.now() + expires_in * 1000 }
}

const EARLY_MS = Number(process.env.RENEW_EARLY_SECONDS ?? 60) * 1000

/** Renewed a little before its end. A refresh token is good once, so what it gave is kept. */
async function renew(access: Access): Promise<Access> {
  if (Date.now() < access.expiresAt - EARLY_MS) return access
  const answer = await oauth.refreshTokenGrantRequest(
    server,
    application,
    oauth.None(),
    access.refreshToken,
    insecure,
  )
  return accessOf(await oauth.processRefreshTokenResponse(server, application, answer))
}

/** By the state that a browser came with; bound to its session in an application with sign-in. */
const verifiers = new Map<string, string>()

const app = express()
app.get('/connect', async (_request, response) => {
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()]
  verifiers.set(state, verifier)
  const address = new URL(server.authorization_endpoint ?? '')
  address.search = new URLSearchParams({
    client_id: CLIENT_ID,
    redirect_uri: redirect,
    response_type: 'code',
    scope: 'pass:read',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString()
  response.redirect(address.href)
})

app.get('/callback', async (request, response) => {
  const arrived = new URL(request.originalUrl, PUBLIC_URL)
  const state = arrived.searchParams.get('state') ?? ''
  const verifier = verifiers.get(state)
  verifiers.delete(state)
  if (verifier === undefined) return void response.status(400).send('This is not what we asked for.')
  const code = oauth.validateAuthResponse(server, application, arrived, state)
  const redeemed = await oauth.authorizationCodeGrantRequest(
    server,
    application,
    oauth.None(),
    code,
    redirect,
    verifier,
    insecure,
  )
  let access = Promise.resolve(
    accessOf(await oauth.processAuthorizationCodeResponse(server, application, redeemed)),
  )
  const client = createClient({
    baseUrl: BASE_URL,
    apiKey: async () => {
      const held = access
      const renewed = held.then(renew) // one after the other: calls run side by side
      access = renewed.catch(() => held)
      return (await renewed).token
    },
  })
  const [{ count }, { data }] = await Promise.all([client.passes.count(), client.passes.list()])
  response.json({ count, passes: data.map(({ id }) => id) })
})

const listening = app.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  const address = listening.address()
  console.log('listening', typeof address === 'object' ? address?.port : address)
})
