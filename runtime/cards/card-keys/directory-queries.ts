import type { Database, Statement } from '../../database/database.ts'
import { readSpace } from '../../database/space.ts'
import { inSteps } from '../../database/steps.ts'
import { COMMIT_IN_TWO_PHASES } from '../../database/two-phase.ts'
import type { Environment } from '../../platform/environment.ts'

/** The card of a number, as `FoundCard` of network/network.ts. */
export interface ListedCard {
  /** `tenant_id` of the tenant's rows. */
  readonly space: string
  readonly cardId: string
}

const FIND: Statement = {
  name: 'card_directory_find',
  text: 'SELECT space, card_id AS "cardId" FROM control.card_directory WHERE environment = $1 AND digest = $2',
}

/** Returns the card whose number has the digest. */
export async function findByDigest(
  db: Database,
  environment: Environment,
  digest: Buffer,
): Promise<ListedCard | undefined> {
  return (await db.query<ListedCard>(FIND, [environment, digest])).rows[0]
}

// Each role may add to the partition of its environment, and may read nothing here.
function enter(environment: Environment): Statement {
  const name = `card_directory_enter_${environment}`
  const text = `INSERT INTO control.card_directory_${environment} (environment, digest, space, card_id)
                VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`
  return { name, text, steps: inSteps(name, COMMIT_IN_TWO_PHASES.text, text) }
}

const ENTER: Readonly<Record<Environment, Statement>> = { sandbox: enter('sandbox'), live: enter('live') }

/** Adds a card in the caller's transaction. Returns false if a card with this number exists. */
export async function enterCard(
  db: Database,
  environment: Environment,
  digest: Buffer,
  { space, cardId }: ListedCard,
): Promise<boolean> {
  return (await db.query(ENTER[environment], [environment, digest, space, cardId])).count > 0
}

const FORGET: Statement = {
  text: `DELETE FROM control.card_directory d WHERE d.environment = 'sandbox' AND d.space = $1 AND d.digest IN (
           SELECT g.digest FROM control.card_directory g
            WHERE g.environment = 'sandbox' AND g.space = $1 ORDER BY g.digest LIMIT $2)`,
}

/**
 * Deletes the entries of a wiped space, at most `limit`.
 *
 * @param control connection of the owner.
 * @returns whether none is left.
 */
export async function forgetCards(control: Database, space: string, limit: number): Promise<boolean> {
  return (await control.query(FORGET, [space, limit])).count < limit
}

const SPACES: Statement = { text: 'SELECT space FROM sandbox.sandboxes WHERE tenant_id = $1' }

const RELIST: Statement = {
  text: 'UPDATE sandbox.card_numbers SET listed = NULL WHERE tenant_id = $1 AND listed = false',
}

/**
 * Lets the worker of the directory list cards of other named sandboxes that have the numbers of a wiped one, because one is
 * a copy of the other. Call this when the wiped space has no entries any more.
 *
 * @param control connection of the owner.
 * @returns true.
 */
export async function relistCopies(control: Database, wiped: string): Promise<boolean> {
  const { tenantId, sandbox } = readSpace(wiped)
  if (sandbox === undefined) return true
  const { rows } = await control.query<{ space: string }>(SPACES, [tenantId])
  for (const { space } of rows) await control.query(RELIST, [space])
  return true
}
