/** Statements on known chains and on the state of the built-in test chain. */
import type { Database, Statement } from '../../database/database.ts'

export interface KnownChain {
  readonly id: number
  /** Hash of the chain's first block. */
  readonly genesis: string
  readonly token: string
}

const KNOWN: Statement = { text: 'SELECT id, genesis, token FROM control.chains WHERE id = $1' }

export async function findChain(control: Database, id: number): Promise<KnownChain | undefined> {
  return (await control.query<KnownChain>(KNOWN, [id])).rows[0]
}

const OF_TOKEN: Statement = {
  text: 'SELECT id, genesis, token FROM control.chains WHERE token = $1 AND state IS NULL ORDER BY id LIMIT 1',
}

/** Returns an external chain on which the token was seen before. */
export async function findChainOfToken(control: Database, token: string): Promise<KnownChain | undefined> {
  return (await control.query<KnownChain>(OF_TOKEN, [token])).rows[0]
}

const REMEMBER: Statement = {
  text: `INSERT INTO control.chains AS c (id, genesis, token) VALUES ($1, $2, $3)
         ON CONFLICT (id) DO UPDATE SET token = excluded.token WHERE c.genesis = excluded.genesis
         RETURNING id`,
}

/** Stores a chain. Returns false if a chain with this number and a different first block is already known. */
export async function rememberChain(control: Database, chain: KnownChain): Promise<boolean> {
  return (await control.query(REMEMBER, [chain.id, chain.genesis, chain.token])).rows.length > 0
}

/** A saved state of the built-in test chain. */
export interface SavedChain {
  readonly state: Buffer | null
  readonly revision: number
  readonly url: string | null
}

const SAVED: Statement = { text: 'SELECT state, revision, url FROM control.chains WHERE id = $1' }
const REVISION: Statement = { text: 'SELECT revision FROM control.chains WHERE id = $1' }
const SAVE: Statement = {
  text: 'UPDATE control.chains SET state = $2, revision = revision + 1, url = $3 WHERE id = $1 AND revision = $4',
}
const LOCATE: Statement = { text: 'UPDATE control.chains SET url = $2 WHERE id = $1' }

export async function readSavedChain(control: Database, id: number): Promise<SavedChain | undefined> {
  return (await control.query<SavedChain>(SAVED, [id])).rows[0]
}

export async function readRevision(control: Database, id: number): Promise<number | undefined> {
  return (await control.query<{ revision: number }>(REVISION, [id])).rows[0]?.revision
}

/** Saves the chain's state. Returns false if another process has saved a state since `revision`. */
export async function saveChain(
  control: Database,
  id: number,
  { state, url, revision }: { readonly state: Buffer; readonly url: string; readonly revision: number },
): Promise<boolean> {
  return (await control.query(SAVE, [id, state, url, revision])).count > 0
}

export async function locateChain(control: Database, id: number, url: string | null): Promise<void> {
  await control.query(LOCATE, [id, url])
}
