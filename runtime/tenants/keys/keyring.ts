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
