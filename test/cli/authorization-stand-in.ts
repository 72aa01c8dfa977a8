/** In place of the console and the API: signs in whoever comes, and refuses what OAuth 2.1 has refused. */
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { serveHttp } from './stream-server.ts'

const CLIENTS = new Set(['svc-cli', 'svc-cli-live'])

interface Code {
  readonly clientId: string
  readonly redirectUri: string
  readonly challenge: string
  readonly scope: string
}

/** Tokens that come of one sign-in. */
interface Family {
  readonly clientId: string
  readonly scope: string
  revoked: boolean
}

export interface AuthorizationStandIn {
  readonly url: string
  /** Seconds that an access token lives; the service's are an hour. */
  lifetime: number
  /** How the person decides. */
  decision: 'approve' | 'deny'
  /** What the answer calls its issuer; its own address when undefined. */
  issuer: string | undefined
  /** Called before a token is refreshed. */
  beforeRefresh: () => Promise<void>
  /** Paths that were asked for, in their order, with the grant where there is one. */
  readonly asked: string[]
  /** Refresh tokens that came a second time. */
  readonly reused: string[]
  /** Has every access token expire now. */
  expire(): void
  /** How many families have not been revoked. */
  alive(): number
}

const random = () => randomBytes(32).toString('base64url')
const digest = (text: string) => createHash('sha256').update(text).digest('base64url')

export async function serveAuthorization(): Promise<AuthorizationStandIn> {
  const codes = new Map<string, Code>()
  const families = new Set<Family>()
  const access = new Map<string, { family: Family; until: number }>()
  const refresh = new Map<string, { family: Family; used: boolean }>()

  const issue = (family: Family) => {
    const [accessToken, refreshToken] = [`svc_at_${random()}`, `svc_rt_${random()}`]
    access.set(accessToken, { family, until: Date.now() + standIn.lifetime * 1000 })
    refresh.set(refreshToken, { family, used: false })
    return {
      access_token: accessToken,
      refresh_token: refreshToken,
      expires_in: standIn.lifetime,
      token_type: 'Bearer',
      scope: family.scope,
    }
  }

  const authorize = (query: URLSearchParams, response: ServerResponse) => {
    const asked = Object.fromEntries(query)
    const redirect = new URL(asked.redirect_uri ?? 'about:blank')
    // RFC 8252 §7.3: any port of the loopback interface, and nothing else that differs.
    if (redirect.href !== `http://127.0.0.1:${redirect.port}/callback` || !CLIENTS.has(asked.client_id ?? ''))
      return answer(response, 400, { error: 'invalid_request' })
    const isFine =
      asked.response_type === 'code' &&
      asked.code_challenge_method === 'S256' &&
      /^[\w-]{43}$/.test(asked.code_challenge ?? '') &&
      (asked.state ?? '').length >= 43 &&
      asked.scope
    if (!isFine) return answer(response, 400, { error: 'invalid_request' })
    const code = random()
    if (standIn.decision === 'approve') {
      codes.set(code, {
        clientId: asked.client_id!,
        redirectUri: asked.redirect_uri!,
        challenge: asked.code_challenge!,
        scope: asked.scope!,
      })
      redirect.searchParams.set('code', code)
    } else redirect.searchParams.set('error', 'access_denied')
    redirect.searchParams.set('state', asked.state!)
    redirect.searchParams.set('iss', standIn.issuer ?? standIn.url)
    response.writeHead(303, { Location: redirect.href }).end()
  }

  const exchangeCode = (form: Record<string, string>, response: ServerResponse) => {
    const code = codes.get(form.code ?? '')
    codes.delete(form.code ?? '')
    const isRight =
      code &&
      code.clientId === form.client_id &&
      code.redirectUri === form.redirect_uri &&
      /^[\w.~-]{43,128}$/.test(form.code_verifier ?? '') &&
      digest(form.code_verifier!) === code.challenge
    if (!isRight) return answer(response, 400, { error: 'invalid_grant' })
    const family: Family = { clientId: code.clientId, scope: code.scope, revoked: false }
    families.add(family)
    answer(response, 200, issue(family))
  }

  const exchangeRefresh = async (form: Record<string, string>, response: ServerResponse) => {
    await standIn.beforeRefresh()
    const known = refresh.get(form.refresh_token ?? '')
    if (known?.used) {
      known.family.revoked = true
      standIn.reused.push(form.refresh_token!)
    }
    if (!known || known.family.revoked || known.family.clientId !== form.client_id)
      return answer(response, 400, { error: 'invalid_grant', error_description: 'grant request is invalid' })
    known.used = true
    answer(response, 200, issue(known.family))
  }

  const me = (request: IncomingMessage, response: ServerResponse) => {
    const token = access.get(request.headers.authorization?.replace('Bearer ', '') ?? '')
    if (!token || token.family.revoked) return answer(response, 401, refusal('invalid_token'))
    if (token.until <= Date.now()) return answer(response, 401, refusal('expired_token'))
    const tenant = { id: 'ten_01jx0000000000000000000001', name: 'Harbour Coffee', plan: 'standard' }
    answer(response, 200, { object: 'me', tenant, environment: 'sandbox' })
  }

  const url = await serveHttp(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const form = Object.fromEntries(new URLSearchParams(await text(request)))
    standIn.asked.push(form.grant_type ? `${pathname} ${form.grant_type}` : pathname)
    if (pathname === '/.well-known/oauth-authorization-server') return answer(response, 200, metadata(url))
    if (pathname === '/oauth/authorize') return authorize(searchParams, response)
    if (pathname === '/oauth/token' && form.grant_type === 'authorization_code')
      return exchangeCode(form, response)
    if (pathname === '/oauth/token' && form.grant_type === 'refresh_token')
      return exchangeRefresh(form, response)
    if (pathname === '/oauth/revoke' && CLIENTS.has(form.client_id ?? '')) {
      const known = refresh.get(form.token ?? '')
      if (known) known.family.revoked = true
      return void response.writeHead(200).end()
    }
    if (pathname === '/v1/me') return me(request, response)
    answer(response, 404, refusal('not_found'))
  })
  const standIn: AuthorizationStandIn = {
    url,
    lifetime: 3600,
    decision: 'approve',
    issuer: undefined,
    beforeRefresh: async () => {},
    asked: [],
    reused: [],
    expire: () => {
      for (const token of access.values()) token.until = 0
    },
    alive: () => [...families].filter(({ revoked }) => !revoked).length,
  }
  return standIn
}

const metadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/oauth/authorize`,
  token_endpoint: `${issuer}/oauth/token`,
  revocation_endpoint: `${issuer}/oauth/revoke`,
  authorization_response_iss_parameter_supported: true,
})

const refusal = (code: string) => ({
  error: { type: 'authentication_error', code, message: `It is ${code}.` },
})

const text = async (request: IncomingMessage) => Buffer.concat(await request.toArray()).toString()

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
  response.end(JSON.stringify(body))
}
