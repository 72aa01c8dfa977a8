/** Enters cards in the directory that were issued before it existed, or by a node of the version before. */
import type { Logger } from 'pino'
import type { Database, Statement } from '../../database/database.ts'
import type { CardRoom } from '../../database/open/card-room.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { type DeclaredWorker, defineWorker } from '../../work/workers.ts'
import type { CardKeys } from './card-keys.ts'
import { enterCard, findByDigest } from './directory-queries.ts'
import type { SealedNumberRow } from './queries.ts'

// `listed IS NOT TRUE` names the index.
const unlisted = (environment: Environment): Statement => ({
  text: `SELECT tenant_id, card_id, key_version, sealed FROM ${environment}.card_numbers
          WHERE listed IS NOT TRUE AND listed IS NULL ORDER BY card_id, tenant_id LIMIT $1`,
})

const lock = (environment: Environment): Statement => ({
  text: `SELECT FROM ${environment}.card_numbers
          WHERE tenant_id = $1 AND card_id = $2 AND listed IS NULL FOR UPDATE`,
})

const note = (environment: Environment): Statement => ({
  text: `UPDATE ${environment}.card_numbers SET fingerprint = $3, listed = $4 WHERE tenant_id = $1 AND card_id = $2`,
})

export interface ListingOptions {
  /** Connection of the owner, for rows that are set aside. */
  readonly control: Database
  readonly room: Pick<CardRoom, 'pool'>
  readonly keys: CardKeys
  readonly clock: Pick<Clock, 'machine'>
  readonly log: Logger
}

/**
 * Declares the worker. Each card is a transaction, the oldest card first: if two tenants have the same test number, the
 * older card keeps it, and the other is reported. The directory then never finds the other card. A number that cannot be
 * opened is set aside. The worker also replaces the digest that the version before made with the pepper.
 */
export function listingWorker({ control, room: { pool }, keys, clock, log }: ListingOptions): DeclaredWorker {
  return defineWorker<SealedNumberRow>(
    { database: { control, sandbox: pool, live: pool }, clock, log },
    {
      name: 'card_directory',
      find: async ({ limit }, environment) =>
        (await pool.query<SealedNumberRow>(unlisted(environment), [limit])).rows,
      itemOf: ({ tenant_id: space, card_id: id }) => ({ space, id }),
      async perform([row], { environment }) {
        const { tenant_id: space, card_id: cardId } = row!
        const { number } = await keys.open(row!, { environment, space, cardId })
        const digest = await keys.digest(number)
        const isListed = await pool.transaction(async (tx) => {
          // A card of a wiped space is deleted, and its entry would remain.
          if ((await tx.query(lock(environment), [space, cardId])).count === 0) return true
          const entered = await enterCard(tx, environment, digest, { space, cardId })
          await tx.query(note(environment), [space, cardId, digest, entered])
          return entered
        })
        if (!isListed) {
          const holder = await findByDigest(pool, environment, digest)
          log.warn(
            { environment, space, card_id: cardId, holder },
            'Two cards have the same number. The card network finds the older one only: replace the other card.',
          )
        }
        return 'done'
      },
    },
  )
}
