/** Authenticates a request and authorizes it: key, address, role, scope, plan, second factor. */

import type { OperationExtensions } from '../../generated/extensions.ts'
import { plainAddress } from '../platform/client-address.ts'
import type { Environment } from '../platform/environment.ts'
import { contains } from '../platform/networks.ts'
import type { KnownCredential, MemberName } from '../tenants/keys/credential-queries.ts'
import { includesScope } from '../tenants/keys/scopes.ts'
import { claimsToBeToken } from '../tenants/keys/tokens.ts'
import { ApiError, forbidden, invalidParameter, unauthenticated, validationFailed } from './errors/errors.ts'
import type { ApiCall, ApiService, ReceivedRequest } from './exchange.ts'
import { fingerprintOf } from './idempotency.ts'
import { requireOpen, requireServed } from './served.ts'
import type { ApiRoute } from './version-table.ts'

/** Milliseconds that a key still works after it is marked pending revocation. */
const RETIREMENT = 24 * 3_600_000

const BEARER = /^bearer +([^\s]+)$/i

const KEY_IN_QUERY = /svc_(sk|pk|at)_|svc%5f(sk|pk|at)/i

/**
 * Identifies the caller. Returns synchronously for keys that the keyring holds; other keys and members need a query.
 */
export function authenticate(
  received: ReceivedRequest,
  service: ApiService,
): KnownCredential | Promise<KnownCredential> {
  const { found, text } = findCredential(received, service)
  const accept = (credential: KnownCredential | undefined) =>
    checkCredential(credential, service, received.now, text)
  return found instanceof Promise ? found.then(accept) : accept(found)
}

/** @returns the credential, and the key or token text if the request has one. */
function findCredential(received: ReceivedRequest, { keyring, environment }: ApiService) {
  const { member } = received
  if (member) return { found: keyring.findMember(member, environment), text: undefined }
  const text = readKey(received)
  return { found: keyring.find(text), text }
}

function readKey({ request, search }: ReceivedRequest): string {
  if (search !== '' && KEY_IN_QUERY.test(search)) {
    const message =
      'The URL contains an API key, and URLs end up in logs. Rotate this key, and send the new one in the Authorization header.'
    throw unauthenticated('invalid_api_key', message)
  }
  const header = request.headers.authorization
  if (header === undefined) {
    throw unauthenticated(
      'missing_api_key',
      'The request has no API key. Send the header Authorization: Bearer <API key>.',
    )
  }
  if (countAuthorizations(request.rawHeaders) > 1) {
    throw unauthenticated('invalid_api_key', 'The request has more than one Authorization header. Send one.')
  }
  const key = BEARER.exec(header)?.[1]
  if (key === undefined)
    throw unauthenticated('invalid_api_key', 'The Authorization header must have the form Bearer <API key>.')
  return key
}

/** Node.js keeps only the first Authorization header in `headers`, so this counts them in the raw headers. */
function countAuthorizations(rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 13 && name.toLowerCase() === 'authorization') count += 1
  }
  return count
}

/** Returns the caller's space while a long request runs; undefined if the same request would now be refused. */
export async function findSpace(received: ReceivedRequest, service: ApiService): Promise<string | undefined> {
  try {
    const { found, text } = findCredential(received, service)
    const credential = checkCredential(await found, service, service.clock.service(service.environment), text)
    await requireServed(received, credential, service)
    return credential.space
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/**
 * Reads the credential of the request again, from the database. Throws if the tenant is in a move, which closes its space
 * like a wipe.
 */
export async function authenticateAgain(
  received: ReceivedRequest,
  service: ApiService,
): Promise<KnownCredential> {
  service.keyring.forget()
  service.closures?.forget()
  const credential = await authenticate(received, service)
  await service.closures?.ready()
  if (service.closures) requireOpen(service.closures, credential.tenant.id)
  return credential
}

const HEADERS = { sandbox: 'Service-Sandbox-Authorization', live: 'Service-Live-Authorization' } as const

/**
 * Authenticates access to the other environment, for a request that reads both. The header must hold a secret key with
 * the scope `admin`, of the same tenant. The key must pass the same checks as in its environment.
 *
 * @throws ApiError that names the header.
 */
export async function authenticateOther(
  environment: Environment,
  call: ApiCall,
  service: ApiService,
): Promise<KnownCredential> {
  if (call.member) return checkOtherMember(environment, call.member, service)
  const name = HEADERS[environment]
  const header = call.request.headers[name.toLowerCase()]
  if (header === undefined) {
    // The document of an operation that reads live cannot say when the header is required.
    if (environment === 'live') {
      throw validationFailed([
        { field: 'from', issue: `needs the header ${name}: Bearer <secret key of live>` },
      ])
    }
    throw invalidParameter(
      'missing_field',
      name,
      `${name} is missing. Send Bearer <secret key of the sandbox>.`,
    )
  }
  const key = BEARER.exec(String(header))?.[1]
  try {
    return await checkOtherKey(environment, key, call, service)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, type, code, message, parts } = error
    throw new ApiError(status, type, code, `${name}: ${message}`, {
      ...parts,
      param: name,
    })
  }
}

/** A member needs no key: the session counts in both environments. */
async function checkOtherMember(
  environment: Environment,
  member: MemberName,
  { keyring, clock }: ApiService,
): Promise<KnownCredential> {
  const found = await keyring.findMember(member, environment)
  const credential = checkCredential(found, { environment, clock }, clock.service(environment))
  checkScope(credential, { scope: 'admin' })
  return credential
}

async function checkOtherKey(
  environment: Environment,
  key: string | undefined,
  { address, credential: caller }: ApiCall,
  { keyring, clock }: ApiService,
): Promise<KnownCredential> {
  if (key === undefined)
    throw unauthenticated('invalid_api_key', 'The header must have the form Bearer <API key>.')
  const found = await keyring.find(key)
  const credential = checkCredential(found, { environment, clock }, clock.service(environment))
  if (credential.tenant.id !== caller.tenant.id) {
    throw unauthenticated('invalid_api_key', 'This key belongs to a different account.')
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
      ? refuseToken(
          'invalid_token',
          'This access token is malformed, unknown or revoked. Authorize the app again.',
        )
      : unauthenticated('invalid_api_key', 'This API key is malformed or unknown.')
  }
  if (credential.token) checkExpiry(credential.token.expiresAt, service)
  else checkRevocation(credential, service, here)
  const { environment, token } = credential
  if (environment !== service.environment) {
    const named = (each: string) => (each === 'live' ? 'the live environment' : 'the sandbox')
    const message = `This ${token ? 'access token' : 'key'} belongs to ${named(environment)}, but this URL is the API of ${named(service.environment)}.`
    throw token
      ? refuseToken('environment_mismatch', message)
      : unauthenticated('environment_mismatch', message)
  }
  return credential
}

/** Adds the challenge of RFC 6750, section 3.1, which lets the client find out that it needs a new token. */
function refuseToken(code: 'invalid_token' | 'expired_token' | 'environment_mismatch', message: string) {
  return unauthenticated(code, message, `Bearer error="invalid_token", error_description="${message}"`)
}

function checkExpiry(expiresAt: number, { clock }: Pick<ApiService, 'clock'>): void {
  if (clock.machine() >= expiresAt) {
    throw refuseToken(
      'expired_token',
      'This access token has expired. Use the refresh token to get a new one.',
    )
  }
}

function checkRevocation(
  { environment, revokedAt, retiredAt }: KnownCredential,
  service: Pick<ApiService, 'environment' | 'clock'>,
  here: number,
): void {
  // Each environment has its own service clock. A key is checked against the clock of its environment.
  const now = environment === service.environment ? here : service.clock.service(environment)
  if (revokedAt !== null || (retiredAt !== null && now >= retiredAt + RETIREMENT)) {
    throw unauthenticated('revoked_api_key', 'This key was revoked.')
  }
}

/** Checks that the key may be used from this address, and that its owner still has the role. */
export function checkHolder({ address }: ReceivedRequest, credential: KnownCredential): void {
  checkAddress(credential, address)
  checkRole(credential)
}

function checkAddress({ allowedIps }: KnownCredential, address: string): void {
  if (allowedIps.length === 0 || contains(allowedIps, address)) return
  throw forbidden(
    'ip_not_allowed',
    `This key must not be used from ${address}, which is not in its list of allowed IP addresses.`,
  )
}

/**
 * A key works while its owner has the developer role. For a member's session, the scope of the role applies instead.
 * Connected apps of viewers have tokens with read scopes.
 */
function checkRole({ role, actor }: KnownCredential): void {
  if (role !== 'viewer' || actor !== 'key') return
  throw forbidden('developer_role_required', 'The member who owns this key does not have the developer role.')
}

const SCOPES = { any: 0, read: 1, write: 2, admin: 3 } as const
const PLANS = { trial: 0, standard: 1, enterprise: 2 } as const

export function authorize(credential: KnownCredential, route: ApiRoute): void {
  const { extensions } = route.operation
  if (credential.token) checkTokenScopes(credential.token.scopes, route.operation)
  else checkScope(credential, extensions)
  checkPlan(credential, extensions)
  checkVerification(credential, extensions)
}

/** Publishable keys have no scope. The documents mark the operations that they may call. */
function checkScope(
  { key }: KnownCredential,
  { scope, publishable }: Pick<OperationExtensions, 'scope' | 'publishable'>,
): void {
  if (key.scope === null) {
    if (publishable) return
    throw forbidden(
      'publishable_key_not_allowed',
      'Publishable keys cannot call this operation. Use a secret key.',
    )
  }
  if (SCOPES[key.scope] >= SCOPES[scope]) return
  throw forbidden('insufficient_scope', `This operation needs the scope ${scope}.`, { required_scope: scope })
}

/** A token needs all scopes of the operation's family, or the plain scopes that include them. */
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
    'Your business must be verified before you can write cards or settlements in live.',
  )
}

/** Requires a fresh second factor if the operation or the dashboard demands one, even for a replayed request. */
export function requireFactor(call: ApiCall, service: ApiService): void | Promise<void> {
  const { member, route } = call
  if (member?.confirm) return member.confirm().then(requireConfirmed)
  if (!route.operation.extensions.factor) return
  return member ? requireConfirmed(false) : checkFactor(call, service)
}

/** Members enter the code in the form that sends the request. */
function requireConfirmed(isRight: boolean): void {
  if (isRight) return
  throw forbidden('factor_required', 'Enter a new code from your authenticator app.')
}

async function checkFactor(call: ApiCall, { factors, environment, baseUrls }: ApiService): Promise<void> {
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
      ? 'This operation requires a second factor. Send a new code from your authenticator app in Service-Factor, or open challenge_url to get a value for it.'
      : 'The second factor in Service-Factor is wrong, already used, or for a different request. Open challenge_url to get a new one.'
  const token = await factors.challenge(subject)
  throw forbidden('factor_required', message, { challenge_url: `${baseUrls.console}/challenges/${token}` })
}
