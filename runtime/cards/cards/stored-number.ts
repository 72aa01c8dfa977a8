/** The number of a card, which stands in no row but one of its own, and sealed. */
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

/** Of a thousand million numbers a tenant with a million cards has met one in a thousand. */
const MAX_ATTEMPTS = 10

/** Makes a number that no other card of the tenant has, and stores it. @returns its last four digits. */
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
  throw new Error('no number was free')
}

const READ: Statement = {
  name: 'card_numbers_read',
  text: 'SELECT key_version, sealed FROM card_numbers WHERE tenant_id = $1 AND card_id = $2',
}

/** The number and security code of a card that exists. */
export async function readSecrets({ caller, db, cardKeys }: Context, cardId: string): Promise<CardSecrets> {
  const [row] = (await db.query<NumberRow>(READ, [caller.space, cardId])).rows
  if (!row) throw new Error('a card has no number')
  return cardKeys.open(row, placeOf(caller, cardId))
}

const placeOf = ({ environment, space }: Context['caller'], cardId: string) => ({
  environment,
  space,
  cardId,
})
