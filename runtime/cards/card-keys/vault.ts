/** The way to card numbers: where one is made, and where one is opened. */
import type { Statement } from '../../database/database.ts'
import type { CardRoom } from '../../database/open/card-room.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import type { CardKeys, CardPlace, CardSecrets, SealedNumber } from './card-keys.ts'
import { makeSecrets } from './make-secrets.ts'

/** A number for a new card, in the form in which it is stored. It is the card's once `control.card_directory` has it. */
export interface ProposedNumber extends SealedNumber {
  readonly digest: Buffer
  readonly last4: string
}

/** Makes and opens card numbers, in this process or in one with the role `reveal`. */
export interface CardVault {
  /**
   * Returns numbers to choose from for a new card, because another card may have one of them. Stores nothing. Throws
   * `unavailable`.
   */
  propose(place: CardPlace): Promise<readonly ProposedNumber[]>
  /** Returns the number and security code of a card, or undefined if none is stored. Throws `unavailable`. */
  reveal(place: CardPlace): Promise<CardSecrets | undefined>
}

/** A range has 10^9 numbers. With ten million cards, one number in a hundred is taken, and all four one time in 10^8. */
const CHOICES = 4

const read = (environment: Environment): Statement => ({
  name: `card_numbers_read_${environment}`,
  text: `SELECT key_version, sealed FROM ${environment}.card_numbers WHERE tenant_id = $1 AND card_id = $2`,
})

const READ = Object.fromEntries(ENVIRONMENTS.map((each) => [each, read(each)])) as Record<
  Environment,
  Statement
>

/** Creates the vault of a process that holds the keys. */
export function createLocalVault({ pool }: Pick<CardRoom, 'pool'>, keys: CardKeys): CardVault {
  return {
    async propose(place) {
      const sealer = await keys.sealer()
      const choices = Array.from({ length: CHOICES }, async () => {
        const secrets = makeSecrets()
        const digest = await keys.digest(secrets.number)
        return { ...sealer.seal(secrets, place), digest, last4: secrets.number.slice(-4) }
      })
      return Promise.all(choices)
    },
    async reveal(place) {
      const { environment, space, cardId } = place
      const [row] = (await pool.query<SealedNumber>(READ[environment], [space, cardId])).rows
      return row && keys.open(row, place)
    },
  }
}
