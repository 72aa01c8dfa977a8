import { hash } from 'node:crypto'
import type { Database } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'
import {
  type KnownCredential,
  type MemberName,
  readCredential,
  readMember,
  readTokenCredential,
} from './credential-queries.ts'
import { digestKey, parseKey } from './keys.ts'
import { isAccessToken } from './tokens.ts'

export interface Keyring {
  /**
   * Finds the credential of a key or an access token; undefined if the text is malformed or unknown. Returns
   * synchronously if the credential is cached. Otherwise it costs one query, or none if the checksum is wrong.
   * Rejects with `DatabaseUnavailable`.
   */
  find(text: string): KnownCredential | undefined | Promise<KnownCredential | undefined>
  /** Reads the credential of a member from the database; undefined if there is no such member. */
  findMember(member: MemberName, environment: Environment): Promise<KnownCredential | undefined>
  /** Clears the cache, because the stored credentials changed. */
  forget(): void
}

/** Milliseconds for which an unknown key is cached as unknown. */
const UNKNOWN_FOR_MS = 2000

/** Milliseconds for which a credential is cached, so that a change is noticed even if its notification got lost. */
const KNOWN_FOR_MS = 60_000

/** If the cache is full, it is cleared. */
const MAX_ENTRIES = 50_000

interface KeyringEntry {
  readonly credential: KnownCredential | undefined
  readonly until: number
}

/**
 * Creates a cache of credentials. Entries are found by a digest of the key, so that no key stays in memory.
 *
 * @param monotonic clock in milliseconds that never goes back.
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
    // `forget` was called during the query, so the result may be outdated and is not cached.
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
