import type { Database, Statement } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'

/** A key as stored, sealed by the deployment's own secret. */
export interface StoredKey {
  readonly version: number
  readonly sealed: Buffer
}

const READ: Statement = {
  text: 'SELECT version, sealed FROM control.card_keys WHERE sealed IS NOT NULL ORDER BY version',
}

/** The keys that are not retired, the newest last. */
export async function readKeys(control: Database): Promise<readonly StoredKey[]> {
  return (await control.query<StoredKey>(READ)).rows
}

const NEWEST: Statement = { text: 'SELECT coalesce(max(version), 0) AS version FROM control.card_keys' }

/** The version of the newest key; 0 before the first. */
export async function readNewestVersion(control: Database): Promise<number> {
  return (await control.query<{ version: number }>(NEWEST)).rows[0]!.version
}

const INSERT: Statement = {
  text: 'INSERT INTO control.card_keys (version, sealed) VALUES ($1, $2) ON CONFLICT (version) DO NOTHING',
}

/** Adds a key; false where another process has added one of that version. */
export async function insertKey(control: Database, { version, sealed }: StoredKey): Promise<boolean> {
  return (await control.query(INSERT, [version, sealed])).count > 0
}

const RETIRABLE: Statement = {
  text: `SELECT k.version FROM control.card_keys k
          WHERE k.sealed IS NOT NULL AND EXISTS (
            SELECT FROM control.card_keys newer
             WHERE newer.version > k.version AND newer.created <= now() - make_interval(secs => $1))
          ORDER BY k.version`,
}

/** Versions of the keys under which nobody seals any more, because a newer one has been there for so many seconds. */
export async function findRetirable(control: Database, seconds: number): Promise<readonly number[]> {
  return (await control.query<{ version: number }>(RETIRABLE, [seconds])).rows.map(({ version }) => version)
}

const RETIRE: Statement = {
  text: 'UPDATE control.card_keys SET sealed = NULL, retired = now() WHERE version = $1 AND sealed IS NOT NULL',
}

export async function retireKey(control: Database, version: number): Promise<boolean> {
  return (await control.query(RETIRE, [version])).count > 0
}

/** A number as stored, with the place that it is sealed for. */
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

/** Numbers of all tenants that are sealed under a key older than the version. @param owner the owner's connections. */
export async function findSealedBefore(
  owner: Database,
  environment: Environment,
  version: number,
  limit: number,
): Promise<readonly SealedNumberRow[]> {
  return (await owner.query<SealedNumberRow>(sealedBefore(environment), [version, limit])).rows
}

const reseal = (environment: Environment): Statement => ({
  text: `UPDATE ${environment}.card_numbers SET key_version = $3, sealed = $4
          WHERE tenant_id = $1 AND card_id = $2 AND key_version < $3`,
})

/** Writes a number sealed anew; false where somebody else did, or the card is gone. */
export async function resealNumber(
  owner: Database,
  environment: Environment,
  row: SealedNumberRow,
): Promise<boolean> {
  const { tenant_id, card_id, key_version, sealed } = row
  return (await owner.query(reseal(environment), [tenant_id, card_id, key_version, sealed])).count > 0
}
