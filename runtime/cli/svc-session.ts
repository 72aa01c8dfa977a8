/** What every verb of `svc` needs: whom to call, and as whom. */

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

/** Where results and what is said beside them go. */
export interface SvcTerminal {
  /** Whether a program reads the results: then each is one line of JSON. */
  readonly json: boolean
  /** A result, to stdout. */
  print(text: string): void
  /** A line for people, to stderr. */
  say(line: string): void
  /** Colours for results. */
  readonly paint: Paint
  /** Absent where nobody can be asked. */
  readonly ask?: Ask | undefined
}

/** Where a program's words come from and go to. */
export interface Surroundings extends Pick<SvcTerminal, 'print' | 'say' | 'ask'> {
  /** Aborts when the person wants it to end. Asked for only by what runs until then, or has something to end well. */
  interruption(): AbortSignal
  /** Whether results are shown in colours. */
  readonly colours?: boolean
}

/** Runs a command as whoever its options name. */
export type SvcRunner = (
  command: Command,
  act: (session: SvcSession, terminal: SvcTerminal) => Promise<void>,
) => Promise<void>

export interface SvcSession {
  readonly client: Client
  /** Of the API, without a slash at the end. */
  readonly baseUrl: string
  readonly environment: Environment
  /** In place of the global one: follows no redirect, and has a token that turns out to be expired exchanged. */
  readonly fetch: typeof globalThis.fetch
  /** The key or the token of the moment. Never printed. */
  bearer(): Promise<string>
  /** Stays the same for a key, and for a profile until it signs in anew. Never printed. */
  readonly seed: string
  /** Undefined for a key. */
  readonly profile: { readonly name: string; readonly authUrl: string } | undefined
}

export interface SvcSessionOptions {
  readonly apiKey?: string | undefined
  readonly baseUrl?: string | undefined
  readonly profile?: string | undefined
}

/** Where the service listens that `npm start` starts. */
const BASE_URLS = { sandbox: 'http://127.0.0.1:4010', live: 'http://127.0.0.1:4020' } as const

export const baseUrlOf = (environment: Environment): string => BASE_URLS[environment]

/** The profiles of whoever runs this. */
export const ownProfiles = (): Profiles => openProfiles(configFolder(process.env))

/**
 * A profile that is named counts before a key, and a key before the profile `default`.
 *
 * @throws MisuseError when the key or the address cannot be one; neither is repeated in what it says. SignInError when there is
 *   neither a key nor a profile.
 */
export function openSession(options: SvcSessionOptions): SvcSession {
  const { apiKey, profile } = options
  return apiKey && profile === undefined
    ? openWithKey(apiKey, options)
    : openWithProfile(profile ?? DEFAULT_PROFILE, options)
}

function openWithKey(apiKey: string, { baseUrl }: SvcSessionOptions): SvcSession {
  const shape = parseKey(apiKey)
  if (!shape) throw new MisuseError('that is no API key: it is mistyped or cut off')
  if (shape.kind === 'publishable') {
    throw new MisuseError('that is a publishable key: this tool needs a secret one (svc_sk_…)')
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

/** The value of the header that names the caller. */
export const authorizationOf = async ({ bearer }: Pick<SvcSession, 'bearer'>): Promise<string> =>
  `${PREFIX}${await bearer()}`

function fetchAs({ renewed }: SvcCredential): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const again = request.clone()
    // A redirect would carry the token to wherever it points. A signal that is only the request's goes with the request when
    // that is collected, while the body is still read.
    const attempt = (each: Request) =>
      fetch(each, { redirect: 'manual', ...(init?.signal ? { signal: init.signal } : {}) })
    const response = await attempt(request)
    // This machine's clock may be late.
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

/** @throws MisuseError unless it is a plain http or https URL. */
export function readHttpUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new MisuseError(`${option} takes an http:// or https:// address`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new MisuseError(`${option} takes an address without a user name or password`)
  }
  url.hash = ''
  return url
}

/** @throws MisuseError for a live key or profile: what follows is done in the sandbox only. */
export function requireSandbox({ environment, profile }: SvcSession, verb: string): void {
  if (environment === 'sandbox') return
  throw new MisuseError(
    `${verb} works in the sandbox only, and this is a live ${profile ? 'sign-in' : 'key'}`,
  )
}
