/** The session of an `svc` command: the API to call and the credentials. */

import type { Command } from 'commander'
import { type Client, createClient } from '../../generated/client/src/2026-05-19/index.ts'
import type { Environment } from '../platform/environment.ts'
import { parseKey } from '../tenants/keys/keys.ts'
import { openBearer } from './sign-in/bearer.ts'
import { configFolder } from './sign-in/config-folder.ts'
import { DEFAULT_PROFILE, openProfiles, type Profile, type Profiles } from './sign-in/profiles.ts'
import type { Ask } from './terminal/ask.ts'
import type { Paint } from './terminal/colours.ts'
import { MisuseError, SignInError } from './terminal/failures.ts'

export { MisuseError, SignInError } from './terminal/failures.ts'

/** Where results and messages go. */
export interface SvcTerminal {
  /** Whether to print each result as one line of JSON, for programs. */
  readonly json: boolean
  /** Prints a result to stdout. */
  print(text: string): void
  /** Prints a message for people to stderr. */
  say(line: string): void
  readonly paint: Paint
  /** Asks the user a question; absent without a terminal. */
  readonly ask?: Ask | undefined
}

/** The input and output of the program. */
export interface Surroundings extends Pick<SvcTerminal, 'print' | 'say' | 'ask'> {
  /** Returns a signal that aborts when the user interrupts. Call it only if the command runs until then or must clean up. */
  interruption(): AbortSignal
  /** Whether to print results in color. */
  readonly colours?: boolean
}

/** Runs a command in the session that its options describe. */
export type SvcRunner = (
  command: Command,
  act: (session: SvcSession, terminal: SvcTerminal) => Promise<void>,
) => Promise<void>

export interface SvcSession {
  readonly client: Client
  /** Address of the API, without a trailing slash. */
  readonly baseUrl: string
  readonly environment: Environment
  /** Replaces the global `fetch`: does not follow redirects, and renews an expired token. */
  readonly fetch: typeof globalThis.fetch
  /** Returns the current API key or access token. Never printed. */
  bearer(): Promise<string>
  /** Stays the same for an API key, and for a profile until the next sign-in. Never printed. */
  readonly seed: string
  /** Undefined for an API key. */
  readonly profile: { readonly name: string; readonly authUrl: string } | undefined
}

export interface SvcSessionOptions {
  readonly apiKey?: string | undefined
  readonly baseUrl?: string | undefined
  readonly profile?: string | undefined
}

/** Default API addresses of `npm start`. */
const BASE_URLS = { sandbox: 'http://127.0.0.1:4010', live: 'http://127.0.0.1:4020' } as const

export const baseUrlOf = (environment: Environment): string => BASE_URLS[environment]

/** Returns the profiles of the current user. */
export const ownProfiles = (): Profiles => openProfiles(configFolder(process.env))

/**
 * Opens a session. A named profile takes precedence over an API key, and an API key over the profile `default`.
 * @throws MisuseError if the key or the address is invalid; the message repeats neither. SignInError if there is neither a
 * key nor a profile.
 */
export function openSession(options: SvcSessionOptions): SvcSession {
  const { apiKey, profile } = options
  return apiKey && profile === undefined
    ? openWithKey(apiKey, options)
    : openWithProfile(profile ?? DEFAULT_PROFILE, options)
}

function openWithKey(apiKey: string, { baseUrl }: SvcSessionOptions): SvcSession {
  const shape = parseKey(apiKey)
  if (!shape) throw new MisuseError('the API key is not valid: check that it is complete')
  if (shape.kind === 'publishable') {
    throw new MisuseError('the API key is a publishable key: use a secret key (svc_sk_…)')
  }
  const { environment } = shape
  return {
    ...connect(baseUrl ?? baseUrlOf(environment), { current: async () => apiKey }),
    environment,
    bearer: async () => apiKey,
    seed: apiKey,
    profile: undefined,
  }
}

function openWithProfile(name: string, { baseUrl }: SvcSessionOptions): SvcSession {
  const profiles = ownProfiles()
  const profile: Profile | undefined = profiles.read(name)
  if (!profile) {
    const words = name === DEFAULT_PROFILE ? 'svc login' : `svc login --profile ${name}`
    throw new SignInError(`not signed in: run ${words}, or set SVC_API_KEY`)
  }
  const bearer = openBearer(profiles, name, profile)
  return {
    ...connect(baseUrl ?? profile.base_url, bearer),
    environment: profile.environment,
    bearer: bearer.current,
    seed: profile.signing_seed,
    profile: { name, authUrl: profile.auth_url },
  }
}

interface SvcCredential {
  current(): Promise<string>
  renewed?(expired: string): Promise<string>
}

function connect(text: string, credential: SvcCredential): Pick<SvcSession, 'client' | 'baseUrl' | 'fetch'> {
  const url = readHttpUrl('--base-url', text)
  const fetch = fetchAs(credential)
  return {
    client: createClient({ baseUrl: url.href, apiKey: credential.current, fetch }),
    baseUrl: url.href.replace(/\/$/, ''),
    fetch,
  }
}

const PREFIX = 'Bearer '

/** Returns the value of the Authorization header. */
export const authorizationOf = async ({ bearer }: Pick<SvcSession, 'bearer'>): Promise<string> =>
  `${PREFIX}${await bearer()}`

function fetchAs({ renewed }: SvcCredential): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const again = request.clone()
    // Do not follow redirects: they could send the token to a different server. The signal is passed again, because the
    // signal of a Request is lost when the Request is garbage-collected while the body is still being read.
    const attempt = (each: Request) =>
      fetch(each, { redirect: 'manual', ...(init?.signal ? { signal: init.signal } : {}) })
    const response = await attempt(request)
    // This machine's clock may be slow, so the API can report a token as expired that looks valid here.
    const isExpired = renewed && response.status === 401 && (await codeOf(response)) === 'expired_token'
    if (!isExpired) return response
    const expired = request.headers.get('Authorization')?.slice(PREFIX.length) ?? ''
    again.headers.set('Authorization', `${PREFIX}${await renewed(expired)}`)
    return attempt(again)
  }
}

async function codeOf(response: Response): Promise<string | undefined> {
  const body = (await response.clone().json()) as { readonly error?: { readonly code?: string } }
  return body.error?.code
}

/**
 * Parses an address.
 * @throws MisuseError unless it is an http or https URL without credentials.
 */
export function readHttpUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new MisuseError(`${option} must be an http:// or https:// address`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new MisuseError(`${option} must not contain a user name or password`)
  }
  url.hash = ''
  return url
}

/**
 * Refuses a live key or profile.
 * @throws MisuseError
 */
export function requireSandbox({ environment, profile }: SvcSession, verb: string): void {
  if (environment === 'sandbox') return
  throw new MisuseError(
    `${verb} works only in the sandbox, and this is a live ${profile ? 'sign-in' : 'key'}`,
  )
}
