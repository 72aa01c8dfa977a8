/** Finds cards by number, across tenants, with a keyed digest. */
import type { Database } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'
import type { CardKeys } from './card-keys.ts'
import { findByDigest, type ListedCard } from './directory-queries.ts'

/** If the cache is full, it is cleared. */
const MAX_ENTRIES = 100_000

/**
 * Creates the `CardDirectory` of a process that holds the keys of card numbers. A lookup is one indexed read, or none if the
 * number was found before: a number never moves to another card. Unknown numbers are not cached, because a card with
 * such a number may be issued at any time. An entry may name a card whose sandbox was wiped; such a card does not exist.
 *
 * @param maxEntries limit of the cache, which holds digests and no numbers.
 */
export function createCardDirectory(
  database: Database,
  keys: Pick<CardKeys, 'digest'>,
  maxEntries: number = MAX_ENTRIES,
): { find(environment: Environment, cardNumber: string): Promise<ListedCard | undefined> } {
  const known = new Map<string, ListedCard>()
  const reading = new Map<string, Promise<ListedCard | undefined>>()

  const read = async (key: string, environment: Environment, digest: Buffer) => {
    const found = await findByDigest(database, environment, digest)
    if (found === undefined) return undefined
    if (known.size >= maxEntries) known.clear()
    known.set(key, found)
    return found
  }
  return {
    async find(environment, cardNumber) {
      const digest = await keys.digest(cardNumber)
      const key = `${environment} ${digest.toString('base64')}`
      const found = known.get(key) ?? reading.get(key)
      if (found) return found
      const pending = read(key, environment, digest).finally(() => reading.delete(key))
      reading.set(key, pending)
      return pending
    },
  }
}
