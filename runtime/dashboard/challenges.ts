/** The pages on which members confirm API requests. The URL of each page contains the token of its challenge. */
import express, { type Request, type Response, type Router } from 'express'
import type { Logger } from 'pino'
import { clientAddress, type ProxyTrust, plainAddress } from '../platform/client-address.ts'
import type { Challenge, Factors } from '../tenants/factors/factors.ts'
import { writeFactor, writeForm } from './challenge-pages.ts'
import { answerFailures } from './html/failures.ts'
import { createFormGuard, FORM_EXPIRED, type FormGuard, formField } from './html/forms.ts'
import { refuseMethod, sendPage, writeNotice } from './html/layout.ts'
import { WRONG_CREDENTIALS } from './sign-in/own-credentials.ts'

export interface ChallengeParts {
  readonly factors: Factors
  readonly csrfKey: string
  /** Origin of the console. */
  readonly consoleUrl: string
  readonly proxies: ProxyTrust
  readonly log: Logger
}

const COOKIE_SECONDS = 600

type ChallengeRequest = Request<{ token: string }>

interface Parts extends ChallengeParts {
  readonly forms: FormGuard
}

/** Returns the routes below `/challenges`. Mount them at the console root, before the catch-all handler. */
export function createChallenges(given: ChallengeParts): Router {
  const forms = createFormGuard({
    key: given.csrfKey,
    cookie: 'svc_challenge',
    cookieSeconds: COOKIE_SECONDS,
    secure: given.consoleUrl.startsWith('https:'),
  })
  const parts: Parts = { ...given, forms }
  const router = express.Router({ caseSensitive: true, strict: true })
  const form = express.urlencoded({ extended: false, limit: '4kb', parameterLimit: 10 })
  router
    .route('/challenges/:token')
    .get(async (request: ChallengeRequest, response: Response) => {
      const challenge = await openOrRefuse(parts, request, response)
      if (challenge) sendForm(parts, request, response, challenge, 200)
    })
    .post(form, (request: ChallengeRequest, response: Response) => complete(parts, request, response))
    .all(refuseMethod)
  router.use('/challenges', answerFailures(given, 'a challenge request failed'))
  return router
}

async function complete(parts: Parts, request: ChallengeRequest, response: Response): Promise<void> {
  const challenge = await openOrRefuse(parts, request, response)
  if (!challenge) return
  if (!parts.forms.isOwn(request, request.params.token)) {
    sendForm(parts, request, response, challenge, 403, FORM_EXPIRED)
    return
  }
  const email = formField(request, 'email')
  const ip = plainAddress(clientAddress(request, parts.proxies))
  const confirmation = {
    email,
    password: formField(request, 'password'),
    code: formField(request, 'code'),
    ip,
  }
  const completion = await parts.factors.complete(request.params.token, confirmation)
  if (completion.outcome === 'completed') sendPage(response, 200, writeFactor(completion.factor))
  else if (completion.outcome === 'over') sendOver(response)
  else {
    sendForm(parts, request, response, challenge, 403, WRONG_CREDENTIALS, email)
  }
}

async function openOrRefuse(
  { factors }: ChallengeParts,
  request: ChallengeRequest,
  response: Response,
): Promise<Challenge | undefined> {
  const challenge = await factors.open(request.params.token)
  if (challenge?.state === 'open') return challenge
  if (challenge) sendOver(response)
  else
    sendPage(
      response,
      404,
      writeNotice(
        'Not found',
        'This confirmation link is not valid. Check the link, or send the API request again.',
      ),
    )
  return undefined
}

function sendOver(response: Response): void {
  const text =
    'This link has been used, has expired, or had too many failed attempts. Send the API request again to get a new link.'
  sendPage(response, 410, writeNotice('Link no longer valid', text))
}

function sendForm(
  { forms }: Parts,
  request: ChallengeRequest,
  response: Response,
  challenge: Challenge,
  status: number,
  fault?: string,
  email?: string,
): void {
  const { token } = request.params
  const guard = forms.issue(response, token, `/challenges/${token}`)
  sendPage(response, status, writeForm({ challenge, guard, fault, email }))
}
