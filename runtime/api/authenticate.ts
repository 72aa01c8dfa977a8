import type { Credential } from '../platform/keys/keyring.ts'
import { ApiError, unauthenticated } from './errors.ts'
import type { Authenticated, Exchange, Service } from './exchange.ts'

/** How long a key works after it was marked pending revocation, in milliseconds. */
const RETIREMENT = 24 * 3_600_000

const BEARER = /^bearer +([^\s]+)$/i

const KEY_IN_QUERY = /svc_(sk|pk)_|svc%5f(sk|pk)/i

/** Whose key it is. Known keys are checked at once; others cost a query. */
export function authenticate(exchange: Exchange, service: Service): Authenticated | Promise<Authenticated> {
  const found = service.keyring.find(readKey(exchange))
  return found instanceof Promise
    ? found.then((credential) => accept(exchange, service, credential))
    : accept(exchange, service, found)
}

function accept(exchange: Exchange, service: Service, found: Credential | undefined): Authenticated {
  exchange.credential = checkCredential(found, service, exchange.now)
  return exchange as Authenticated
}

function readKey({ request, search }: Exchange): string {
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
export async function findSpace(exchange: Exchange, service: Service): Promise<string | undefined> {
  try {
    const found = await service.keyring.find(readKey(exchange))
    return checkCredential(found, service, service.clock.service(service.environment)).space
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** Finds the credential of the request again, as it is stored now. */
export async function authenticateAgain(exchange: Exchange, service: Service): Promise<void> {
  service.keyring.forget()
  await authenticate(exchange, service)
}

/** @param here service time of the environment. */
function checkCredential(credential: Credential | undefined, service: Service, here: number): Credential {
  if (!credential) throw unauthenticated('invalid_api_key', 'This key is malformed or unknown.')
  const { revokedAt, retiredAt, environment } = credential
  // Each environment has its own service clock; a key is checked by the one it belongs to.
  const now = environment === service.environment ? here : service.clock.service(environment)
  if (revokedAt !== null || (retiredAt !== null && now >= retiredAt + RETIREMENT)) {
    throw unauthenticated('revoked_api_key', 'This key was revoked.')
  }
  if (environment !== service.environment) {
    const served = service.environment === 'live' ? 'live' : 'the sandbox'
    throw unauthenticated('environment_mismatch', `This is a ${environment} key; this address is ${served}.`)
  }
  return credential
}
