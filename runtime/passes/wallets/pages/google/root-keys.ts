import type { PeerOutbound } from '../../../../events/outbound/outbound.ts'
import { parsePeerJson } from '../../../../platform/json/peer-json.ts'
import type { RootKey } from '../../render/google/callback.ts'

/** The root keys with which Google signs callbacks. */
export interface RootKeys {
  /** Returns Google's published keys, cached as long as the response allows. Rejects with `NoRootKeys`. */
  find(): Promise<readonly RootKey[]>
}

/** Thrown if the keys are unavailable; the message contains the reason. */
export class NoRootKeys extends Error {
  override name = 'NoRootKeys'
}

export interface RootKeysOptions {
  readonly url: string
  readonly outbound: Pick<PeerOutbound, 'send'>
  /** Machine time, milliseconds since the epoch. */
  readonly now: () => number
}

/** Cache duration if the response does not set one, and the maximum: Google rotates its keys. */
const DEFAULT_MS = 3_600_000
const MAX_MS = 86_400_000

/**
 * After a failure, no request is sent for this long. Otherwise anyone who posts invalid callbacks could make the
 * service send a request to Google for each one.
 */
const FAILED_MS = 10_000

export function createRootKeys({ url, outbound, now }: RootKeysOptions): RootKeys {
  let known: { readonly keys: readonly RootKey[]; readonly until: number } | undefined
  let failed: { readonly error: NoRootKeys; readonly until: number } | undefined
  let asking: Promise<readonly RootKey[]> | undefined

  const ask = async (): Promise<readonly RootKey[]> => {
    const answer = await outbound.send({ method: 'GET', url, headers: {}, body: '' })
    if ('error' in answer) throw new NoRootKeys(`${url}: ${answer.error}`)
    const keys = answer.status === 200 ? readKeys(answer.body) : undefined
    if (!keys) throw new NoRootKeys(`${url} answered ${answer.status} without keys`)
    known = { keys, until: now() + ageOf(answer.cacheControl) }
    failed = undefined
    return keys
  }

  return {
    async find() {
      if (known && known.until > now()) return known.keys
      if (failed && failed.until > now()) throw failed.error
      asking ??= ask()
        .catch((error: unknown) => {
          if (error instanceof NoRootKeys) failed = { error, until: now() + FAILED_MS }
          throw error
        })
        .finally(() => {
          asking = undefined
        })
      return asking
    },
  }
}

/** Returns the cache duration in milliseconds (RFC 9111, 5.2.2). */
function ageOf(cacheControl = ''): number {
  if (/\bno-(store|cache)\b/i.test(cacheControl)) return 0
  const seconds = /\bmax-age\s*=\s*"?(\d{1,9})/i.exec(cacheControl)?.[1]
  return seconds === undefined ? DEFAULT_MS : Math.min(MAX_MS, Number(seconds) * 1000)
}

function readKeys(body: string): readonly RootKey[] | undefined {
  try {
    const { keys } = parsePeerJson(body) as { keys?: unknown }
    return Array.isArray(keys) ? keys.filter(isKey) : undefined
  } catch {
    return undefined // probably an error page of a proxy
  }
}

function isKey(value: unknown): value is RootKey {
  const { keyValue, protocolVersion, keyExpiration } = (value ?? {}) as Record<string, unknown>
  return [keyValue, protocolVersion, keyExpiration].every((each) => typeof each === 'string')
}
