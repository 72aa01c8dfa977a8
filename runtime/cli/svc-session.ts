/** What every verb of `svc` needs: whom to call, and as whom. */

import { type Client, createClient } from '../../generated/client/src/2026-05-19/index.ts'
import type { Environment } from '../platform/environment.ts'
import { parseKey } from '../platform/keys/keys.ts'

/** The words or the surroundings make no sense: exit code 2. */
export class MisuseError extends Error {}

/** Where results and what is said beside them go. */
export interface Terminal {
  /** Whether a program reads the results: then each is one line of JSON. */
  readonly json: boolean
  /** A result, to stdout. */
  print(text: string): void
  /** A line for people, to stderr. */
  say(line: string): void
}

export interface Session {
  readonly client: Client
  readonly baseUrl: string
  readonly environment: Environment
  /** Never printed. */
  readonly apiKey: string
}

export interface SessionOptions {
  readonly apiKey?: string | undefined
  readonly baseUrl: string
}

/** @throws MisuseError when the key or the address cannot be one. Neither is repeated in what it says. */
export function openSession({ apiKey, baseUrl }: SessionOptions): Session {
  if (!apiKey) throw new MisuseError('there is no API key: give --api-key, or set SVC_API_KEY')
  const shape = parseKey(apiKey)
  if (!shape) throw new MisuseError('that is no API key: it is mistyped or cut off')
  if (shape.kind === 'publishable') {
    throw new MisuseError('that is a publishable key: this tool needs a secret one (svc_sk_…)')
  }
  const url = readHttpUrl('--base-url', baseUrl)
  const client = createClient({
    apiKey,
    baseUrl: url.href,
    // A redirect would carry the key to wherever it points.
    fetch: (input, init) => fetch(input, { ...init, redirect: 'manual' }),
  })
  return { client, baseUrl: url.href.replace(/\/$/, ''), environment: shape.environment, apiKey }
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

/** @throws MisuseError for a live key: what follows is done in the sandbox only. */
export function requireSandbox({ environment }: Session, verb: string): void {
  if (environment === 'sandbox') return
  throw new MisuseError(`${verb} works in the sandbox only, and this is a live key`)
}
