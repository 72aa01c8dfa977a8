/** Stores the sealed card number in a separate table. */
import type { Context } from '../../api/handler.ts'
import type { Statement } from '../../database/database.ts'
import type { CardSecrets, Sealer } from '../card-keys/card-keys.ts'
import { makeSecrets } from './numbers.ts'

interface NumberRow {
  readonly key_version: number
  readonly sealed: Buffer
}

const INSERT: Statement = {
  name: 'card_numbers_insert',
  text: `INSERT INTO card_numbers (tenant_id, card_id, fingerprint, key_version, sealed) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant_id, fingerprint) DO NOTHING`,
}

/** A range has 10^9 numbers. For a tenant with a million cards, one random number in a thousand is already taken. */
const MAX_ATTEMPTS = 10

/**
 * Generates a card number that is unique within the tenant, and stores it.
 * @returns the last four digits.
 */
export async function assignNumber(
  { caller, db, cardKeys }: Context,
  sealer: Sealer,
  cardId: string,
): Promise<string> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const secrets = makeSecrets()
    const { key_version, sealed } = sealer.seal(secrets, placeOf(caller, cardId))
    const values = [caller.space, cardId, cardKeys.fingerprint(secrets.number), key_version, sealed]
    if ((await db.query(INSERT, values)).count > 0) return secrets.number.slice(-4)
  }
  throw new Error(`No free card number found in ${MAX_ATTEMPTS} attempts.`)
}

const READ: Statement = {
  name: 'card_numbers_read',
  text: 'SELECT key_version, sealed FROM card_numbers WHERE tenant_id = $1 AND card_id = $2',
}

/** Returns the number and security code of a card. Throws if none is stored. */
export async function readSecrets({ caller, db, cardKeys }: Context, cardId: string): Promise<CardSecrets> {
  const [row] = (await db.query<NumberRow>(READ, [caller.space, cardId])).rows
  if (!row) throw new Error(`No number is stored for card ${cardId}.`)
  return cardKeys.open(row, placeOf(caller, cardId))
}

const placeOf = ({ environment, space }: Context['caller'], cardId: string) => ({
  environment,
  space,
  cardId,
})
