import { hash } from 'node:crypto'
import type { Database } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Networks } from '../../platform/networks.ts'
import type { Caller } from './caller.ts'
import { readCredential, readMember, readTokenCredential } from './credential-queries.ts'
import { digestKey, parseKey } from './keys.ts'
import { isAccessToken } from './tokens.ts'

/** A lift of one rate bucket; `until` is machine time. */
export interface CredentialLift {
  readonly bucket: string
  readonly factor: number
  readonly until: number
}

/** A person of a tenant. */
export interface MemberName {
  readonly tenantId: string
  readonly memberId: string
}

/**
 * What a node knows of a key, an access token, or a member who acts without either: everything that checking a request
 * takes. Times in milliseconds since the epoch.
 */
export interface KnownCredential {
  readonly tenant: Caller['tenant']
  readonly space: Caller['space']
  readonly verified: boolean
  readonly environment: Environment
  /** Whose act it is in the audit log, under the identifier of `key`. */
  readonly actor: 'key' | 'token' | 'member'
  /** Of a token: the authorization that it was issued on. A member who acts without a key has the scope of the role. */
  readonly key: Caller['key']
  /** Present when it is an OAuth access token: what it may do, and its end by machine time. */
  readonly token?: { readonly scopes: readonly string[]; readonly expiresAt: number }
  /** Of the member whom the key belongs to; null when it has none. */
  readonly role: 'owner' | 'developer' | 'viewer' | null
  /** Empty: from anywhere. */
  readonly allowedIps: Networks
  readonly retiredAt: number | null
  readonly revokedAt: number | null
  /** Version that the tenant is pinned to in the key's environment. */
  readonly pin: string | null
  readonly lifts: readonly CredentialLift[]
}

export interface Keyring {
  /**
   * The credential of a key's or an access token's text; undefined when it is malformed or unknown. At once when the node
   * knows it, with one query otherwise; a wrong checksum costs none. Rejects with `DatabaseUnavailable`.
   */
  find(text: string): KnownCredential | undefined | Promise<KnownCredential | undefined>
  /** The credential of a member, as it is stored now; undefined when there is no such member. Costs a query each time. */
  findMember(member: MemberName, environment: Environment): Promise<KnownCredential | undefined>
  /** Forgets everything: what is stored has changed. */
  forget(): void
}

/** How long an unknown key stays known as such. */
const UNKNOWN_FOR_MS = 2000

/** How long an entry is used at most: a change is found so where its notification got lost. */
const KNOWN_FOR_MS = 60_000

/** Beyond this the cache starts anew rather than grow. */
const MAX_ENTRIES = 50_000

interface KeyringEntry {
  readonly credential: KnownCredential | undefined
  readonly until: number
}

/**
 * Keys as this node knows them, by a digest of their text, so that no key stands in its memory.
 *
 * @param monotonic milliseconds that never run backwards.
 */
export function createKeyring(
  control: Database,
  pepper: string,
  monotonic: () => number = () => performance.now(),
): Keyring {
  let entries = new Map<string, KeyringEntry>()
  let loading = new Map<string, Promise<KnownCredential | undefined>>()

  const load = async (index: string, text: string): Promise<KnownCredential | undefined> => {
    const cache = entries
    const read = isAccessToken(text) ? readTokenCredential : readCredential
    const credential = await read(control, digestKey(pepper, text))
    // `forget` came in between: what was read may be older than that.
    if (cache !== entries) return credential
    if (entries.size >= MAX_ENTRIES) entries = new Map()
    const age = credential ? KNOWN_FOR_MS : UNKNOWN_FOR_MS
    entries.set(index, { credential, until: monotonic() + age })
    return credential
  }

  return {
    find(text) {
      const index = hash('sha256', text, 'base64url')
      const entry = entries.get(index)
      if (entry && entry.until > monotonic()) return entry.credential
      if (!parseKey(text) && !isAccessToken(text)) return undefined
      let pending = loading.get(index)
      if (!pending) {
        const own = loading
        pending = load(index, text).finally(() => own.delete(index))
        loading.set(index, pending)
      }
      return pending
    },
    findMember: (member, environment) => readMember(control, member, environment),
    forget() {
      entries = new Map()
      loading = new Map()
    },
  }
}
