/** Whose request it is, and whether the caller may make it: key, address, role, scope, plan, second factor. */

import type { OperationExtensions } from '../../generated/extensions.ts'
import { plainAddress } from '../platform/client-address.ts'
import { contains } from '../platform/networks.ts'
import type { KnownCredential, MemberName } from '../tenants/keys/credential-queries.ts'
import { includesScope } from '../tenants/keys/scopes.ts'
import { claimsToBeToken } from '../tenants/keys/tokens.ts'
import { ApiError, forbidden, invalidParameter, unauthenticated } from './errors/errors.ts'
import type { ApiCall, ApiService, ReceivedRequest } from './exchange.ts'
import { fingerprintOf } from './idempotency.ts'
import type { ApiRoute } from './version-table.ts'

/** How long a key works after it was marked pending revocation, in milliseconds. */
const RETIREMENT = 24 * 3_600_000

const BEARER = /^bearer +([^\s]+)$/i

const KEY_IN_QUERY = /svc_(sk|pk|at)_|svc%5f(sk|pk|at)/i

/** Whose request it is. Known keys are checked at once; others, and members, cost a query. */
export function authenticate(
  received: ReceivedRequest,
  service: ApiService,
): KnownCredential | Promise<KnownCredential> {
  const { found, text } = findCredential(received, service)
  const accept = (credential: KnownCredential | undefined) =>
    checkCredential(credential, service, received.now, text)
  return found instanceof Promise ? found.then(accept) : accept(found)
}

/** @returns beside it what the request says of itself, where it says anything. */
function findCredential(received: ReceivedRequest, { keyring, environment }: ApiService) {
  const { member } = received
  if (member) return { found: keyring.findMember(member, environment), text: undefined }
  const text = readKey(received)
  return { found: keyring.find(text), text }
}

function readKey({ request, search }: ReceivedRequest): string {
  if (search !== '' && KEY_IN_QUERY.test(search)) {
    const message =
      'A key in an address ends up in logs: send it in the Authorization header, and rotate this one.'
    throw unauthenticated('invalid_api_key', message)
  }
  const header = request.headers.authorization
  if (header === undefined) {
    throw unauthenticated('missing_api_key', 'Send an API key as Authorization: Bearer.')
  }
  if (countAuthorizations(request.rawHeaders) > 1) {
    throw unauthenticated('invalid_api_key', 'Send one Authorization header, not several.')
  }
  const key = BEARER.exec(header)?.[1]
  if (key === undefined)
    throw unauthenticated('invalid_api_key', 'The Authorization header must read Bearer and a key.')
  return key
}

/** Node keeps the first of several and hides the rest. */
function countAuthorizations(rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 13 && name.toLowerCase() === 'authorization') count += 1
  }
  return count
}

/** The space of the caller of a request that goes on; undefined when its key would no longer be accepted. */
export async function findSpace(received: ReceivedRequest, service: ApiService): Promise<string | undefined> {
  try {
    const { found, text } = findCredential(received, service)
    return checkCredential(await found, service, service.clock.service(service.environment), text).space
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** Finds the credential of the request again, as it is stored now. */
export async function authenticateAgain(
  received: ReceivedRequest,
  service: ApiService,
): Promise<KnownCredential> {
  service.keyring.forget()
  return authenticate(received, service)
}

const SANDBOX_HEADER = 'Service-Sandbox-Authorization'

/**
 * Whose sandbox a request to live may read beside live: of the caller's own tenant, by a secret key of the sandbox with the
 * scope `admin`, which has to pass what it would have to pass there. Throws an error that names the header.
 */
export async function authenticateSandbox(call: ApiCall, service: ApiService): Promise<KnownCredential> {
  if (call.member) return checkSandboxMember(call.member, service)
  const header = call.request.headers[SANDBOX_HEADER.toLowerCase()]
  if (header === undefined) {
    const message = `${SANDBOX_HEADER} is required: Bearer and a secret key of the sandbox.`
    throw invalidParameter('missing_field', SANDBOX_HEADER, message)
  }
  const key = BEARER.exec(String(header))?.[1]
  try {
    return await checkSandboxKey(key, call, service)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, type, code, message, parts } = error
    throw new ApiError(status, type, code, `${SANDBOX_HEADER}: ${message}`, {
      ...parts,
      param: SANDBOX_HEADER,
    })
  }
}

/** A member is the same person in both environments, and needs no key in either. */
async function checkSandboxMember(
  member: MemberName,
  { keyring, clock }: ApiService,
): Promise<KnownCredential> {
  const found = await keyring.findMember(member, 'sandbox')
  const credential = checkCredential(found, { environment: 'sandbox', clock }, clock.service('sandbox'))
  checkScope(credential, { scope: 'admin' })
  return credential
}

async function checkSandboxKey(
  key: string | undefined,
  { address, credential: caller }: ApiCall,
  { keyring, clock }: ApiService,
): Promise<KnownCredential> {
  if (key === undefined) throw unauthenticated('invalid_api_key', 'It must read Bearer and a key.')
  const found = await keyring.find(key)
  const credential = checkCredential(found, { environment: 'sandbox', clock }, clock.service('sandbox'))
  if (credential.tenant.id !== caller.tenant.id) {
    throw unauthenticated('invalid_api_key', 'This key belongs to another account.')
  }
  checkAddress(credential, address)
  checkRole(credential)
  checkScope(credential, { scope: 'admin' })
  return credential
}

/** @param here service time of the environment. */
function checkCredential(
  credential: KnownCredential | undefined,
  service: Pick<ApiService, 'environment' | 'clock'>,
  here: number,
  text?: string,
): KnownCredential {
  if (!credential) {
    throw text !== undefined && claimsToBeToken(text)
      ? refuseToken('invalid_token', 'This access token is malformed, unknown or revoked.')
      : unauthenticated('invalid_api_key', 'This key is malformed or unknown.')
  }
  if (credential.token) checkExpiry(credential.token.expiresAt, service)
  else checkRevocation(credential, service, here)
  const { environment, token } = credential
  if (environment !== service.environment) {
    const served = service.environment === 'live' ? 'live' : 'the sandbox'
    const message = `This is a ${environment} ${token ? 'access token' : 'key'}; this address is ${served}.`
    throw token
      ? refuseToken('environment_mismatch', message)
      : unauthenticated('environment_mismatch', message)
  }
  return credential
}

/** RFC 6750, 3.1: whoever holds the token is told that another one may help. */
function refuseToken(code: 'invalid_token' | 'expired_token' | 'environment_mismatch', message: string) {
  return unauthenticated(code, message, `Bearer error="invalid_token", error_description="${message}"`)
}

function checkExpiry(expiresAt: number, { clock }: Pick<ApiService, 'clock'>): void {
  if (clock.machine() >= expiresAt) {
    throw refuseToken(
      'expired_token',
      'This access token has expired: exchange the refresh token for another.',
    )
  }
}

function checkRevocation(
  { environment, revokedAt, retiredAt }: KnownCredential,
  service: Pick<ApiService, 'environment' | 'clock'>,
  here: number,
): void {
  // Each environment has its own service clock; a key is checked by the one it belongs to.
  const now = environment === service.environment ? here : service.clock.service(environment)
  if (revokedAt !== null || (retiredAt !== null && now >= retiredAt + RETIREMENT)) {
    throw unauthenticated('revoked_api_key', 'This key was revoked.')
  }
}

/** Whether the key may be used from where it is used, and by the member whom it belongs to. */
export function checkHolder({ address }: ReceivedRequest, credential: KnownCredential): void {
  checkAddress(credential, address)
  checkRole(credential)
}

function checkAddress({ allowedIps }: KnownCredential, address: string): void {
  if (allowedIps.length === 0 || contains(allowedIps, address)) return
  throw forbidden('ip_not_allowed', `This key may not be used from ${address}.`)
}

/**
 * A key works for as long as the member whom it belongs to may develop. A member alone has the scope of the role, and a
 * viewer's applications are held to reading by theirs.
 */
function checkRole({ role, actor }: KnownCredential): void {
  if (role !== 'viewer' || actor !== 'key') return
  throw forbidden(
    'developer_role_required',
    'The member whom this key belongs to does not have the developer role.',
  )
}

const SCOPES = { any: 0, read: 1, write: 2, admin: 3 } as const
const PLANS = { trial: 0, standard: 1, enterprise: 2 } as const

/** Whether this key may call this operation. */
export function authorize(credential: KnownCredential, route: ApiRoute): void {
  const { extensions } = route.operation
  if (credential.token) checkTokenScopes(credential.token.scopes, route.operation)
  else checkScope(credential, extensions)
  checkPlan(credential, extensions)
  checkVerification(credential, extensions)
}

/** Publishable keys have no scope: what they may call is marked in the documents. */
function checkScope(
  { key }: KnownCredential,
  { scope, publishable }: Pick<OperationExtensions, 'scope' | 'publishable'>,
): void {
  if (key.scope === null) {
    if (publishable) return
    throw forbidden('publishable_key_not_allowed', 'This operation is not open to publishable keys.')
  }
  if (SCOPES[key.scope] >= SCOPES[scope]) return
  throw forbidden('insufficient_scope', `This operation needs the scope ${scope}.`, { required_scope: scope })
}

/** A token needs all scopes of the operation's family, or plain ones, which include them. */
function checkTokenScopes(held: readonly string[], { oauth, extensions }: ApiRoute['operation']): void {
  const plain = extensions.scope === 'any' ? [] : [extensions.scope]
  const missing = (oauth.length > 0 ? oauth : plain).find((scope) => !includesScope(held, scope))
  if (missing === undefined) return
  const message = `This operation needs the scope ${missing}.`
  throw forbidden('insufficient_scope', message, { required_scope: missing }, [
    'WWW-Authenticate',
    `Bearer error="insufficient_scope", scope="${missing}"`,
  ])
}

function checkPlan({ tenant }: KnownCredential, { plan }: OperationExtensions): void {
  if (plan === undefined || PLANS[tenant.plan] >= PLANS[plan]) return
  throw forbidden('plan_required', `This operation needs the plan ${plan}.`, { required_plan: plan })
}

function checkVerification(credential: KnownCredential, { verified }: OperationExtensions): void {
  if (!verified || credential.environment !== 'live' || credential.verified) return
  throw forbidden(
    'business_verification_required',
    'Card and settlement writes in live wait until your business is verified.',
  )
}

/** A fresh second factor where the operation or the console asks for one; for a repeated request too. */
export function requireFactor(call: ApiCall, service: ApiService): void | Promise<void> {
  const { member, route } = call
  if (member?.confirm) return member.confirm().then(requireConfirmed)
  if (!route.operation.extensions.factor) return
  return member ? requireConfirmed(false) : checkFactor(call, service)
}

/** A member types the code into the form that asks for the request. */
function requireConfirmed(isRight: boolean): void {
  if (isRight) return
  throw forbidden('factor_required', 'A fresh code of your authenticator app is needed.')
}

async function checkFactor(call: ApiCall, { factors, environment, consoleUrl }: ApiService): Promise<void> {
  const { credential, route, request } = call
  const subject = {
    tenantId: credential.tenant.id,
    environment,
    keyId: credential.key.id,
    operation: route.operation.id,
    requestHash: fingerprintOf(call),
  }
  const sent = request.headers['service-factor']
  const actorType = credential.token ? 'token' : 'key'
  const origin = { actorType, requestId: call.requestId, ip: plainAddress(call.address) } as const
  if (sent !== undefined && (await factors.accept(String(sent), subject, origin))) return
  const message =
    sent === undefined
      ? 'This operation needs a fresh second factor: a code in Service-Factor, or what the page at challenge_url shows.'
      : 'The second factor is wrong, used or not for this request; get another at challenge_url.'
  const token = await factors.challenge(subject)
  throw forbidden('factor_required', message, { challenge_url: `${consoleUrl}/challenges/${token}` })
}
