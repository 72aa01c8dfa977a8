/** The consent page, on which a member authorizes an application to act for the tenant. */
import type { Request, Response } from 'express'
import type Provider from 'oidc-provider'
import { accountIdOf } from '../../account/oauth/adapter.ts'
import type { Authorizations } from '../../account/oauth/authorizations.ts'
import { CONSENT } from '../../account/oauth/paths.ts'
import { clientAddress, type ProxyTrust, plainAddress } from '../../platform/client-address.ts'
import type { Environment } from '../../platform/environment.ts'
import { scopesOfRole } from '../../tenants/keys/scopes.ts'
import type { TenantNames } from '../../tenants/keys/tenant-names.ts'
import { actionOf, takesCode } from '../actions.ts'
import { isConfirmed } from '../confirmation.ts'
import { type FormGuard, formField } from '../html/forms.ts'
import { sendPage, writeNotice } from '../html/layout.ts'
import { type FormSender, NOT_CONFIRMED, type OwnParts } from '../sign-in/own-credentials.ts'
import type { Sessions, SignedInMember } from '../sign-in/sessions.ts'
import { requireMember } from '../sign-in/sign-in.ts'
import { writeConsent } from './consent-page.ts'

export interface ConsentParts extends OwnParts {
  readonly provider: Provider
  readonly authorizations: Authorizations
  readonly forms: FormGuard
  readonly sessions: Sessions
  readonly tenantNames: TenantNames
  readonly proxies: ProxyTrust
}

interface AskedConsent {
  readonly uid: string
  readonly scopes: readonly string[]
  readonly client: { readonly id: string; readonly name: string; readonly environment: Environment }
  readonly redirectUri: string
}

/** Returns the authorization request. Returns undefined if it has expired, or if it is invalid and was already answered. */
async function readRequest(
  { provider }: ConsentParts,
  request: Request,
  response: Response,
): Promise<AskedConsent | undefined> {
  const details = await provider.interactionDetails(request, response)
  const { uid, params } = details
  // The cookie identifies the interaction; the UID in the path must match it.
  if (uid !== request.params.uid) return undefined
  const scopes = typeof params.scope === 'string' ? params.scope.split(' ') : []
  if (scopes.length === 0) {
    const error_description = 'the scope is missing or contains an unknown value'
    await provider.interactionFinished(request, response, { error: 'invalid_scope', error_description })
    return undefined
  }
  const client = await provider.Client.find(String(params.client_id))
  if (!client) return undefined
  const { clientId, clientName, environment } = client
  return {
    uid,
    scopes,
    client: {
      id: clientId,
      name: clientName ?? clientId,
      environment: environment === 'live' ? 'live' : 'sandbox',
    },
    redirectUri: String(params.redirect_uri),
  }
}

/** Handles GET and POST of the consent page. */
export async function answerConsent(
  parts: ConsentParts,
  request: Request,
  response: Response,
): Promise<void> {
  const asked = await readRequest(parts, request, response)
  if (!asked) {
    if (!response.headersSent) sendOver(response)
    return
  }
  const member = await requireMember(parts.sessions, request, response)
  if (!member) return
  if (request.method !== 'POST') return sendForm(parts, response, asked, member, 200)
  if (!parts.forms.isOwn(request, aboutOf(asked, member))) {
    const fault = 'The form has expired. Decide again.'
    return sendForm(parts, response, asked, member, 403, fault)
  }
  const allowed = scopesOfRole(asked.scopes, member.role)
  if (formField(request, 'decision') !== 'allow' || allowed.length === 0) {
    const refusal = { error: 'access_denied', error_description: 'the member denied access' }
    return parts.provider.interactionFinished(request, response, refusal)
  }
  const ip = plainAddress(clientAddress(request, parts.proxies))
  const action = actionOf(`${CONSENT}/:uid`)
  const sender = { ...member, ip }
  if (takesCode(action, asked.client.environment)) {
    const isRight = await isConfirmed(parts, sender, action, asked.uid, request)
    if (!isRight) return sendForm(parts, response, asked, member, 403, NOT_CONFIRMED)
  }
  await allow(parts, request, response, asked, sender, allowed)
}

/** Binds the form to one authorization request and one member. */
const aboutOf = ({ uid }: AskedConsent, { tenantId, memberId }: SignedInMember) =>
  `consent ${uid} ${tenantId} ${memberId}`

async function allow(
  { provider, authorizations }: ConsentParts,
  request: Request,
  response: Response,
  { client }: AskedConsent,
  { tenantId, memberId, ip }: FormSender,
  scopes: readonly string[],
): Promise<void> {
  const grantId = await authorizations.allow({
    tenantId,
    memberId,
    clientId: client.id,
    environment: client.environment,
    scopes,
    ip,
  })
  const login = { accountId: accountIdOf(tenantId, memberId), remember: false }
  await provider.interactionFinished(request, response, { login, consent: { grantId } })
}

async function sendForm(
  { forms, tenantNames }: ConsentParts,
  response: Response,
  asked: AskedConsent,
  member: SignedInMember,
  status: number,
  fault?: string,
): Promise<void> {
  const { uid, client, scopes, redirectUri } = asked
  const allowed = scopesOfRole(scopes, member.role)
  const target = new URL(redirectUri)
  const page = writeConsent({
    client: client.name,
    destination: target.host === '' ? `the application on this device (${target.protocol})` : target.host,
    account: (await tenantNames.find(member.tenantId)) ?? member.tenantId,
    environment: client.environment,
    email: member.email,
    scopes: allowed,
    withheld: scopes.filter((scope) => !allowed.includes(scope)),
    guard: forms.issue(response, aboutOf(asked, member), `${CONSENT}/${uid}`),
    ...(fault !== undefined && { fault }),
  })
  // The form redirects to the application, and browsers also apply `form-action` to redirects.
  sendPage(response, status, page, target.host === '' ? target.protocol : target.origin)
}

export function sendOver(response: Response): void {
  const text = 'This request has been completed or has expired. Start again from the application.'
  sendPage(response, 410, writeNotice('Request no longer valid', text))
}
