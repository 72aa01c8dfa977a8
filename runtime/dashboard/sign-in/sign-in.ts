/** The sign-in and sign-out routes. */
import express, { type Request, type Response, type Router } from 'express'
import { clientAddress, type ProxyTrust, plainAddress } from '../../platform/client-address.ts'
import { answerFailures, type FailureParts } from '../html/failures.ts'
import { FORM_EXPIRED, type FormGuard, formField } from '../html/forms.ts'
import { refuseMethod, sendPage } from '../html/layout.ts'
import { type CredentialParts, recognize } from './credentials.ts'
import { WRONG_CREDENTIALS } from './own-credentials.ts'
import { SEND_AGAIN_PATH, TYPED_FIELD, writeSignedOut, writeSignOut } from './pages.ts'
import { recognizePasskey } from './passkeys.ts'
import type { Sessions, SignedInMember } from './sessions.ts'
import { createSignInPage, PASSKEY_PATH, type SignInPage } from './sign-in-page.ts'
import { failed, succeeded, writeMemberEntries } from './telling.ts'

export interface SignInParts extends CredentialParts, FailureParts {
  readonly sessions: Sessions
  readonly csrfKey: string
  /** Origin of the console. */
  readonly consoleUrl: string
  readonly proxies: ProxyTrust
}

const WRONG_PASSKEY = 'The passkey is not registered here, or the page expired. Try again.'

/** Returns the routes `/sign-in` and `/sign-out`. Mount them at the console root. */
export function createSignIn(parts: SignInParts): Router {
  const { sessions, consoleUrl } = parts
  const page = createSignInPage(parts)
  const { forms } = page
  const router = express.Router({ caseSensitive: true, strict: true })
  const form = express.urlencoded({ extended: false, limit: '64kb', parameterLimit: 10 })
  router
    .route('/sign-in')
    .get((request, response) => {
      page.show(response, 200, { returnTo: ownPath(consoleUrl, request.query.return_to) })
    })
    .post(form, (request, response) => signIn(parts, page, request, response))
    .all(refuseMethod)
  router
    .route(PASSKEY_PATH)
    .post(form, (request, response) => signInByPasskey(parts, page, request, response))
    .all(refuseMethod)
  router
    .route('/sign-out')
    .get(async (request, response) => {
      const member = await requireMember(sessions, request, response)
      if (member) sendPage(response, 200, writeSignOut(member, issue(forms, response, '/sign-out')))
    })
    .post(form, (request, response) => signOut(parts, forms, request, response))
    .all(refuseMethod)
  router.use(['/sign-in', '/sign-out'], answerFailures(parts, 'a sign-in or sign-out request failed'))
  return router
}

/**
 * Returns the member of the request's session. Without a session it sends the response: a GET or HEAD redirects to the sign-in page,
 * and other methods get a 401 page.
 */
export async function requireMember(
  sessions: Pick<Sessions, 'find'>,
  request: Request,
  response: Response,
): Promise<SignedInMember | undefined> {
  const member = await sessions.find(request)
  if (member) return member
  if (request.method === 'GET' || request.method === 'HEAD') {
    const query = new URLSearchParams({ return_to: request.originalUrl })
    response.set('Cache-Control', 'no-store').redirect(303, `/sign-in?${query}`)
  } else sendPage(response, 401, writeSignedOut('Your session has ended. No changes were made.'))
  return undefined
}

const issue = (forms: FormGuard, response: Response, path: string) => forms.issue(response, path, path)

/** Returns the encrypted fields of another form, which are carried through sign-in. */
const typedOf = (request: Request): string | undefined => formField(request, TYPED_FIELD) || undefined

/** Redirects to the requested page. With carried fields, a 307 repeats the POST to the review page (RFC 9110, 15.4.8). */
function goOn(request: Request, response: Response, returnTo: string): void {
  response.set('Cache-Control', 'no-store')
  if (typedOf(request) === undefined) response.redirect(303, returnTo)
  else response.redirect(307, SEND_AGAIN_PATH)
}

async function signIn(parts: SignInParts, page: SignInPage, request: Request, response: Response) {
  const { sessions, consoleUrl, proxies } = parts
  const email = formField(request, 'email')
  const returnTo = ownPath(consoleUrl, formField(request, 'return_to'))
  const typed = typedOf(request)
  const again = (fault: string) => page.show(response, 403, { returnTo, fault, email, typed })
  if (!page.forms.isOwn(request, '/sign-in')) {
    return again(FORM_EXPIRED)
  }
  const ip = plainAddress(clientAddress(request, proxies))
  const credentials = {
    email,
    password: formField(request, 'password'),
    code: formField(request, 'code'),
    ip,
  }
  const recognition = await recognize(parts, credentials)
  if (!recognition.right) {
    for (const { tenant_id, id } of recognition.named) {
      await writeMemberEntries(parts, parts.control, tenant_id, {
        ...failed(id, ip),
        action: 'member.signed_in',
      })
    }
    return again(WRONG_CREDENTIALS)
  }
  const { tenant_id: tenantId, id: memberId } = recognition.member
  await sessions.begin(request, response, { tenantId, memberId, ip }, async (tx) => {
    for (const action of [
      'member.signed_in',
      ...(recognition.recovered ? ['member.recovery_code_used'] : []),
    ])
      await writeMemberEntries(parts, tx, tenantId, { ...succeeded(memberId, ip), action })
  })
  goOn(request, response, returnTo)
}

async function signInByPasskey(parts: SignInParts, page: SignInPage, request: Request, response: Response) {
  const { sessions, consoleUrl, proxies } = parts
  const returnTo = ownPath(consoleUrl, formField(request, 'return_to'))
  const given = { challenge: formField(request, 'challenge'), credential: formField(request, 'credential') }
  const ip = plainAddress(clientAddress(request, proxies))
  const recognition = page.forms.isOwn(request, `${PASSKEY_PATH} ${given.challenge}`)
    ? await recognizePasskey(parts, PASSKEY_PATH, given)
    : ({ right: false } as const)
  if (!recognition.right) {
    // The signature is valid, but the response was replayed or the passkey may be cloned.
    if (recognition.named) {
      const { tenantId, memberId } = recognition.named
      await writeMemberEntries(parts, parts.control, tenantId, {
        ...failed(memberId, ip),
        action: 'member.signed_in',
      })
    }
    return page.show(response, 403, { returnTo, fault: WRONG_PASSKEY, typed: typedOf(request) })
  }
  const { tenantId, memberId } = recognition
  await sessions.begin(request, response, { tenantId, memberId, ip }, async (tx) => {
    for (const action of ['member.signed_in', 'member.passkey_used'])
      await writeMemberEntries(parts, tx, tenantId, { ...succeeded(memberId, ip), action })
  })
  goOn(request, response, returnTo)
}

async function signOut(parts: SignInParts, forms: FormGuard, request: Request, response: Response) {
  const { sessions, proxies } = parts
  const member = await requireMember(sessions, request, response)
  if (!member) return
  if (!forms.isOwn(request, '/sign-out')) {
    return sendPage(response, 403, writeSignOut(member, issue(forms, response, '/sign-out')))
  }
  const isEverywhere = formField(request, 'where') === 'everywhere'
  const action = isEverywhere ? 'member.signed_out_everywhere' : 'member.signed_out'
  const ip = plainAddress(clientAddress(request, proxies))
  await sessions.end(request, response, async (tx) => {
    if (isEverywhere) await sessions.endAll(tx, member)
    await writeMemberEntries(parts, tx, member.tenantId, { ...succeeded(member.memberId, ip), action })
  })
  sendPage(
    response,
    200,
    writeSignedOut(isEverywhere ? 'You are signed out of all sessions.' : 'You are signed out.'),
  )
}

/** Returns the requested path if it belongs to the console, or `/` otherwise, to prevent open redirects. */
export function ownPath(consoleUrl: string, asked: unknown): string {
  if (typeof asked !== 'string' || !asked.startsWith('/')) return '/'
  const own = new URL(consoleUrl).origin
  const url = URL.canParse(asked, own) ? new URL(asked, own) : undefined
  // `/.//other.example` is resolved to a console path that browsers would treat as another host.
  return url?.origin === own && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : '/'
}
