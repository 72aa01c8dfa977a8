import type { Database, Statement } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'

/** A key as stored. */
export interface SealedKey {
  readonly sealed: Buffer
  /** Whether it is sealed with the secret of card numbers, not with the pepper. */
  readonly has_own_secret: boolean
}

export interface StoredKey extends SealedKey {
  readonly version: number
}

const READ: Statement = {
  text: 'SELECT version, sealed, has_own_secret FROM control.card_keys WHERE sealed IS NOT NULL ORDER BY version',
}

/** Returns the keys that are not retired, oldest first. */
export async function readKeys(control: Database): Promise<readonly StoredKey[]> {
  return (await control.query<StoredKey>(READ)).rows
}

const NEWEST: Statement = { text: 'SELECT coalesce(max(version), 0) AS version FROM control.card_keys' }

/** Returns the version of the newest key, or 0 if there is no key yet. */
export async function readNewestVersion(control: Database): Promise<number> {
  return (await control.query<{ version: number }>(NEWEST)).rows[0]!.version
}

const INSERT: Statement = {
  text: `INSERT INTO control.card_keys (version, sealed, has_own_secret) VALUES ($1, $2, $3)
         ON CONFLICT (version) DO NOTHING`,
}

/** Adds a key. Returns false if another process has added this version. */
export async function insertKey(control: Database, key: StoredKey): Promise<boolean> {
  return (await control.query(INSERT, [key.version, key.sealed, key.has_own_secret])).count > 0
}

const READ_DIGEST_KEY: Statement = {
  text: 'SELECT digest_key AS sealed, has_own_secret FROM control.card_room WHERE digest_key IS NOT NULL',
}

export async function readDigestKey(control: Database): Promise<SealedKey | undefined> {
  return (await control.query<SealedKey>(READ_DIGEST_KEY)).rows[0]
}

const WRITE_DIGEST_KEY: Statement = {
  text: `UPDATE control.card_room SET digest_key = $1, has_own_secret = $2 WHERE digest_key IS NOT DISTINCT FROM $3`,
}

/**
 * Writes the key of the digests, unless another process has changed it.
 * @param before the sealed key that it replaces; null for the first one.
 */
export async function writeDigestKey(
  control: Database,
  { sealed, has_own_secret }: SealedKey,
  before: Buffer | null,
): Promise<void> {
  await control.query(WRITE_DIGEST_KEY, [sealed, has_own_secret, before])
}

const RETIRABLE: Statement = {
  text: `SELECT k.version FROM control.card_keys k
          WHERE k.sealed IS NOT NULL AND EXISTS (
            SELECT FROM control.card_keys newer
             WHERE newer.version > k.version AND newer.created <= now() - make_interval(secs => $1))
          ORDER BY k.version`,
}

/** Returns the versions of keys that can be retired: a newer key has existed for at least `seconds`. */
export async function findRetirable(control: Database, seconds: number): Promise<readonly number[]> {
  return (await control.query<{ version: number }>(RETIRABLE, [seconds])).rows.map(({ version }) => version)
}

const RETIRE: Statement = {
  text: 'UPDATE control.card_keys SET sealed = NULL, retired = now() WHERE version = $1 AND sealed IS NOT NULL',
}

export async function retireKey(control: Database, version: number): Promise<boolean> {
  return (await control.query(RETIRE, [version])).count > 0
}

/** A sealed number as stored, with the card that it is sealed for. */
export interface SealedNumberRow {
  readonly tenant_id: string
  readonly card_id: string
  readonly key_version: number
  readonly sealed: Buffer
}

const sealedBefore = (environment: Environment): Statement => ({
  text: `SELECT tenant_id, card_id, key_version, sealed FROM ${environment}.card_numbers
          WHERE key_version < $1 ORDER BY key_version, tenant_id, card_id LIMIT $2`,
})

/** Returns card numbers of all tenants that are sealed under a key older than `version`. */
export async function findSealedBefore(
  cards: Database,
  environment: Environment,
  version: number,
  limit: number,
): Promise<readonly SealedNumberRow[]> {
  return (await cards.query<SealedNumberRow>(sealedBefore(environment), [version, limit])).rows
}

const reseal = (environment: Environment): Statement => ({
  text: `UPDATE ${environment}.card_numbers SET key_version = $3, sealed = $4
          WHERE tenant_id = $1 AND card_id = $2 AND key_version < $3`,
})

/**
 * Writes a card number that was sealed again. Returns false if another process has already done so, or if the card is
 * deleted.
 */
export async function resealNumber(
  cards: Database,
  environment: Environment,
  row: SealedNumberRow,
): Promise<boolean> {
  const { tenant_id, card_id, key_version, sealed } = row
  return (await cards.query(reseal(environment), [tenant_id, card_id, key_version, sealed])).count > 0
}
