/** The pages on which members confirm requests: one for each challenge, reached by its token alone. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import express, { type Request, type Response, type Router } from 'express'
import type { Logger } from 'pino'
import { clientAddress, type ProxyTrust, plainAddress } from '../platform/client-address.ts'
import { isUnavailable } from '../platform/database/errors.ts'
import type { Challenge, Factors } from '../platform/factors/factors.ts'
import { randomBase62 } from '../platform/keys/keys.ts'
import { STYLE_HASH, writeFactor, writeForm, writeNotice } from './challenge-pages.ts'

export interface ChallengeParts {
  readonly factors: Factors
  /** Key of the forms' MAC. */
  readonly csrfKey: string
  /** Origin of the console. */
  readonly consoleUrl: string
  readonly proxies: ProxyTrust
  readonly log: Logger
}

/** Holds the nonce that a form's hidden field belongs to: nobody else's page can fill in the form. */
const COOKIE = 'svc_challenge'
const NONCE = /(?:^|;\s*)svc_challenge=([0-9A-Za-z]{32})(?:;|$)/
const NONCE_LENGTH = 32

const COOKIE_SECONDS = 600

/** Not framed, not cached, not told to others: the page's address is a secret. */
const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; ` +
    `base-uri 'none'; frame-ancestors 'none'`,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

type Asked = Request<{ token: string }>

/** @returns the routes below `/challenges`, to be mounted at the console's root before what answers everything. */
export function createChallenges(parts: ChallengeParts): Router {
  const router = express.Router({ caseSensitive: true, strict: true })
  const form = express.urlencoded({ extended: false, limit: '4kb', parameterLimit: 10 })
  router
    .route('/challenges/:token')
    .get(async (request: Asked, response: Response) => {
      const challenge = await openOrRefuse(parts, request, response)
      if (challenge) sendForm(parts, request, response, challenge, 200)
    })
    .post(form, (request: Asked, response: Response) => complete(parts, request, response))
    .all((_request, response) => {
      response.set('Allow', 'GET, HEAD, POST')
      sendPage(response, 405, writeNotice('Not possible', 'This page is read and filled in, nothing else.'))
    })
  router.use(
    '/challenges',
    (error: unknown, _request: Request, response: Response, _next: (error: unknown) => void) =>
      sendFailure(parts, error, response),
  )
  return router
}

/** What was wrong stands in the log alone. */
function sendFailure({ log }: ChallengeParts, error: unknown, response: Response): void {
  if (isRefusedBody(error)) {
    sendPage(response, error.status, writeNotice('Not readable', 'The form did not arrive as it was sent.'))
  } else if (isUnavailable(error)) {
    log.warn({ err: error }, 'the database is unavailable')
    response.set('Retry-After', '1')
    sendPage(
      response,
      503,
      writeNotice('Not now', 'The service cannot answer at the moment. Please try again.'),
    )
  } else {
    log.error({ err: error }, 'a challenge failed')
    sendPage(response, 500, writeNotice('Something went wrong', 'It was on our side. Please try again.'))
  }
}

/** Express could not read the path or the form. */
function isRefusedBody(error: unknown): error is { readonly status: number } {
  if (typeof error !== 'object' || error === null || !('status' in error)) return false
  return typeof error.status === 'number' && error.status >= 400 && error.status < 500
}

async function complete(parts: ChallengeParts, request: Asked, response: Response): Promise<void> {
  const challenge = await openOrRefuse(parts, request, response)
  if (!challenge) return
  if (!isOwnForm(parts, request)) {
    const fault = 'The form had to be made anew. Please fill it in again.'
    sendForm(parts, request, response, challenge, 403, fault)
    return
  }
  const email = field(request, 'email')
  const ip = plainAddress(clientAddress(request, parts.proxies))
  const confirmation = { email, password: field(request, 'password'), code: field(request, 'code'), ip }
  const completion = await parts.factors.complete(request.params.token, confirmation)
  if (completion.outcome === 'completed') sendPage(response, 200, writeFactor(completion.factor))
  else if (completion.outcome === 'over') sendOver(response)
  else {
    const fault =
      'E-mail, password and code do not fit together, or the code was used before. ' +
      'After too many tries none is looked at for a while.'
    sendForm(parts, request, response, challenge, 403, fault, email)
  }
}

async function openOrRefuse(
  { factors }: ChallengeParts,
  request: Asked,
  response: Response,
): Promise<Challenge | undefined> {
  const challenge = await factors.open(request.params.token)
  if (challenge?.state === 'open') return challenge
  if (challenge) sendOver(response)
  else sendPage(response, 404, writeNotice('Not found', 'There is nothing to confirm here.'))
  return undefined
}

function sendOver(response: Response): void {
  const text =
    'This page has been used, has run out or was tried too often. Send the request again for another.'
  sendPage(response, 410, writeNotice('Nothing left to confirm', text))
}

function sendForm(
  parts: ChallengeParts,
  request: Asked,
  response: Response,
  challenge: Challenge,
  status: number,
  fault?: string,
  email?: string,
): void {
  const nonce = randomBase62(NONCE_LENGTH)
  const { token } = request.params
  response.append(
    'Set-Cookie',
    `${COOKIE}=${nonce}; Path=/challenges/${token}; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Strict` +
      (parts.consoleUrl.startsWith('https:') ? '; Secure' : ''),
  )
  sendPage(response, status, writeForm(challenge, sign(parts.csrfKey, nonce, token), fault, email))
}

function sign(key: string, nonce: string, token: string): string {
  return createHmac('sha256', key).update(`${nonce} ${token}`).digest('base64url')
}

function isOwnForm({ csrfKey }: ChallengeParts, request: Asked): boolean {
  const site = request.get('Sec-Fetch-Site')
  if (site !== undefined && site !== 'same-origin') return false
  const nonce = NONCE.exec(request.get('Cookie') ?? '')?.[1]
  if (nonce === undefined) return false
  const wanted = Buffer.from(sign(csrfKey, nonce, request.params.token))
  const sent = Buffer.from(field(request, 'csrf'))
  return sent.length === wanted.length && timingSafeEqual(sent, wanted)
}

/** A field of the form; empty when it is missing or came twice. */
function field(request: Request, name: string): string {
  const body: unknown = request.body
  if (typeof body !== 'object' || body === null) return ''
  const value: unknown = Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' ? value : ''
}

function sendPage(response: Response, status: number, html: string): void {
  response.status(status).set(HEADERS).type('html').send(html)
}
