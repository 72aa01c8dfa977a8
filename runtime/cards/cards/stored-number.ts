/** Stores the sealed card number in a separate table, and its card in the directory. */
import type { Context } from '../../api/handler.ts'
import type { Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { newId } from '../../platform/ids.ts'
import { enterCard } from '../card-keys/directory-queries.ts'
import type { ProposedNumber } from '../card-keys/vault.ts'

/** The ID of a card to issue, with numbers that are sealed for it. */
export interface ProposedCard {
  readonly id: string
  readonly numbers: readonly ProposedNumber[]
}

/** Prepares a card before the transaction, because the numbers may come from another process. */
export async function proposeCard({ caller, vault, request }: Context): Promise<ProposedCard> {
  const id = newId('card', request.now)
  return { id, numbers: await vault.propose(placeOf(caller, id)) }
}

const INSERT: Statement = {
  name: 'card_numbers_insert',
  text: `INSERT INTO card_numbers (tenant_id, card_id, fingerprint, key_version, sealed, listed)
         VALUES ($1, $2, $3, $4, $5, true)`,
}

/**
 * Stores the first of the numbers that no other card of the environment has.
 * @returns the last four digits.
 */
export async function assignNumber({ caller, db }: Context, { id, numbers }: ProposedCard): Promise<string> {
  const { environment, space } = caller
  for (const { digest, key_version, sealed, last4 } of numbers) {
    if (!(await enterCard(db, environment, digest, { space, cardId: id }))) continue
    pipelined(db.query(INSERT, [space, id, digest, key_version, sealed]))
    return last4
  }
  throw new Error(`No free card number found in ${numbers.length} attempts.`)
}

export const placeOf = ({ environment, space }: Context['caller'], cardId: string) => ({
  environment,
  space,
  cardId,
})
