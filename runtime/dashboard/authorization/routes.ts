/** The OAuth 2.1 endpoints and the consent page. */
import express, { type NextFunction, type Request, type Response, type Router } from 'express'
import { errors } from 'oidc-provider'
import type { Logger } from 'pino'
import { createAuthorizations } from '../../account/oauth/authorizations.ts'
import { AUTHORIZE, CONSENT, REVOKE, TOKEN } from '../../account/oauth/paths.ts'
import { createProvider } from '../../account/oauth/provider.ts'
import { isUnavailable } from '../../database/errors.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { addressGroup, clientAddress, type ProxyTrust } from '../../platform/client-address.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { createTenantNames } from '../../tenants/keys/tenant-names.ts'
import type { RequestLimiter } from '../../tenants/limits/limiter.ts'
import { answerFailures } from '../html/failures.ts'
import { createFormGuard } from '../html/forms.ts'
import { pageHeaders, writeNotice } from '../html/layout.ts'
import type { OwnParts } from '../sign-in/own-credentials.ts'
import type { Sessions } from '../sign-in/sessions.ts'
import { answerConsent, type ConsentParts, sendOver } from './consent.ts'
import { type AuthorizationFields, completeAuthorization, completeToken, takeBasic } from './parameters.ts'

export interface AuthorizationParts extends OwnParts {
  readonly control: Pool
  readonly pepper: string
  readonly clock: Clock
  /** Origin of the console. */
  readonly consoleUrl: string
  readonly proxies: ProxyTrust
  readonly limiter: Pick<RequestLimiter, 'meter' | 'take'>
  readonly log: Logger
  readonly sessions: Sessions
  readonly csrfKey: string
}

const CONSENT_SECONDS = 1800

/** Returns the routes below `/oauth/`. Their paths include this prefix. */
export function createAuthorizationRoutes(parts: AuthorizationParts): Router {
  const { control, pepper, clock, consoleUrl, proxies, sessions, log } = parts
  const authorizations = createAuthorizations(control, clock)
  const provider = createProvider({
    control,
    pepper,
    authorizations,
    consoleUrl,
    sendError: (ctx, description) => {
      ctx.set(pageHeaders())
      ctx.type = 'html'
      ctx.body = writeNotice(
        'Invalid request',
        `The request of the application is invalid: ${description}.`,
      ).text
    },
  })
  provider.on('server_error', (_ctx, err) => log.error({ err }, 'an OAuth request failed'))
  const forms = createFormGuard({
    key: parts.csrfKey,
    cookie: 'svc_consent',
    cookieSeconds: CONSENT_SECONDS,
    secure: consoleUrl.startsWith('https:'),
  })
  const tenantNames = createTenantNames(control)
  const { operator, wrongCodes } = parts
  const consent: ConsentParts = {
    provider,
    authorizations,
    forms,
    sessions,
    tenantNames,
    proxies,
    operator,
    wrongCodes,
  }
  const answer = provider.callback()
  const router = express.Router({ caseSensitive: true, strict: true })
  const form = express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 50 })

  router.use('/oauth', (request, _response, next) => {
    speakAsConsole(request, consoleUrl)
    next()
  })
  router.use([AUTHORIZE, TOKEN, REVOKE], limitCalls(parts))
  router.get(AUTHORIZE, (request, response) => {
    const question = request.originalUrl.indexOf('?')
    const search = question < 0 ? '' : request.originalUrl.slice(question)
    request.url = request.originalUrl = AUTHORIZE + completeAuthorization(search)
    return answer(request, response)
  })
  router.get(`${AUTHORIZE}/:uid`, (request, response) => answer(request, response))
  router.post(TOKEN, form, async (request, response) => {
    if (!readClient(request, response)) return
    if (request.body) request.body = await completeToken(provider, request.body as AuthorizationFields)
    const { grant_type, refresh_token, client_id } = (request.body ?? {}) as AuthorizationFields
    // Without client_id, only a valid refresh token identifies its client, and this token does not.
    if (grant_type === 'refresh_token' && refresh_token !== undefined && client_id === undefined) {
      return sendJson(
        response,
        400,
        'invalid_grant',
        'The refresh token is unknown, used, or revoked, or client_id is missing.',
      )
    }
    await answer(request, response)
  })
  router.post(REVOKE, form, (request, response) =>
    readClient(request, response) ? answer(request, response) : undefined,
  )
  router
    .route(`${CONSENT}/:uid`)
    .get((request, response) => answerConsent(consent, request, response))
    .post(form, (request, response) => answerConsent(consent, request, response))
  router.use('/oauth', answerFailure(log))
  return router
}

/** Applies the rate limit for unauthenticated requests, per IP address. */
function limitCalls({ limiter, proxies }: AuthorizationParts) {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const meter = limiter.meter(addressGroup(clientAddress(request, proxies)))
    const { allowed, limit, retryAfterMs } = await limiter.take(meter, 'unauthenticated')
    if (allowed) return next()
    response.set('Retry-After', String(Math.ceil(retryAfterMs / 1000)))
    const told = `The limit is ${limit} requests per minute and IP address. Wait for the number of seconds in Retry-After, and try again.`
    sendJson(response, 429, 'temporarily_unavailable', told)
  }
}

/** Sets the host headers, so that oidc-provider creates URLs with the console's origin and ignores the request's Host header. */
function speakAsConsole(request: Request, consoleUrl: string): void {
  const { host, protocol } = new URL(consoleUrl)
  request.headers.host = host
  request.headers['x-forwarded-host'] = host
  request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
}

/** Reads the client credentials. @returns false if they are invalid and a response was sent. */
function readClient(request: Request, response: Response): boolean {
  const fault = takeBasic(request, (request.body ?? {}) as AuthorizationFields)
  if (fault === undefined) return true
  sendJson(response, 400, 'invalid_request', fault)
  return false
}

function sendJson(response: Response, status: number, error: string, error_description: string): void {
  response.status(status).set('Cache-Control', 'no-store').json({ error, error_description })
}

/** Sends JSON for endpoints and a page for the consent form. Details are written only to the log. */
function answerFailure(log: Logger) {
  const answerPeople = answerFailures({ log }, 'a consent request failed')
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    if (error instanceof errors.SessionNotFound) sendOver(response)
    else if (request.originalUrl.startsWith(CONSENT)) answerPeople(error, request, response, next)
    else answerProgram(log, error, response)
  }
}

function answerProgram(log: Logger, error: unknown, response: Response): void {
  if (isUnavailable(error)) {
    log.warn({ err: error }, 'the database is unavailable')
    response.set('Retry-After', '1')
    sendJson(
      response,
      503,
      'temporarily_unavailable',
      'The service is temporarily unavailable. Try again in a moment.',
    )
  } else if (typeof error === 'object' && error !== null && 'status' in error && Number(error.status) < 500) {
    sendJson(response, Number(error.status), 'invalid_request', 'The request body could not be read.')
  } else {
    log.error({ err: error }, 'an OAuth request failed')
    sendJson(response, 500, 'server_error', 'An internal error occurred. Try again in a moment.')
  }
}
