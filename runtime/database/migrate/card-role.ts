/** The login role that alone may read sealed card numbers and the keys that open them. */
import pg from 'pg'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { deriveSecret } from '../../platform/secrets.ts'
import type { Statement } from '../database.ts'
import {
  codeOf,
  INSUFFICIENT_PRIVILEGE,
  INVALID_AUTHORIZATION,
  INVALID_PASSWORD,
  PROTOCOL_VIOLATION,
} from '../errors.ts'
import { clientConfig } from '../pool/connection.ts'
import type { Pool } from '../pool/pool.ts'
import { type Say, whileNotMigrating } from './migration-locks.ts'
import { asRole, closeCardNumbers, createRole } from './roles.ts'

/** Secrets of a deployment from which the role is derived. */
export interface RoomSecrets {
  readonly pepper: string
  /** The secret of card numbers, if the deployment has one. */
  readonly ownSecret: string | undefined
  /** The secret of card numbers before, while it is replaced. */
  readonly previousSecret: string | undefined
}

/** A login role, and the secret that its password is derived from. */
interface CardRole {
  readonly name: string
  readonly secret: string
}

/**
 * Returns the role. Another secret makes another role, so that processes with the secret and processes that do not have
 * it yet can run side by side.
 */
function cardRoleOf({ pepper, ownSecret }: Pick<RoomSecrets, 'pepper' | 'ownSecret'>): CardRole {
  const secret = ownSecret ?? deriveSecret(pepper, 'secret of card numbers')
  return { name: `svc_cards_${deriveSecret(secret, 'name of the role').slice(0, 8)}`, secret }
}

const HAS_RIGHTS = `
  SELECT has_table_privilege('live.card_numbers', 'SELECT, UPDATE') AND has_table_privilege('control.card_keys', 'SELECT')
         AND (to_regclass('control.two_phase') IS NULL OR has_table_privilege('control.two_phase', 'DELETE')) AS all`

/** PgBouncer refuses a role that its list of users lacks with the last one. */
const REFUSALS: readonly unknown[] = [
  INVALID_PASSWORD,
  INVALID_AUTHORIZATION,
  INSUFFICIENT_PRIVILEGE,
  PROTOCOL_VIOLATION,
]

/** Whether the role exists, has the password that the secret derives, and has its rights in this database. */
async function isComplete(connection: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client(clientConfig(connection, 'svc migrate'))
  try {
    await client.connect()
    return (await client.query<{ all: boolean }>(HAS_RIGHTS)).rows[0]?.all ?? false
  } catch (error) {
    if (!REFUSALS.includes(codeOf(error))) throw error
    return false
  } finally {
    await client.end()
  }
}

/** Returns the SQL that grants the role what it needs: numbers, keys and the directory, and nothing else of a tenant. */
function cardGrants(role: string): string {
  const name = pg.escapeIdentifier(role)
  const numbers = ENVIRONMENTS.map(
    (environment) => `GRANT USAGE ON SCHEMA ${environment} TO ${name};
    GRANT SELECT, UPDATE ON ${environment}.card_numbers TO ${name};
    GRANT INSERT ON control.card_directory_${environment} TO ${name};`,
  )
  return `GRANT USAGE ON SCHEMA control TO ${name};
    GRANT SELECT, INSERT, UPDATE ON control.card_keys TO ${name};
    GRANT SELECT, UPDATE ON control.card_room TO ${name};
    GRANT SELECT ON control.card_directory TO ${name};
    ${numbers.join('\n')}
    DO $grant$ BEGIN
      IF to_regclass('control.two_phase') IS NOT NULL THEN GRANT DELETE ON control.two_phase TO ${name}; END IF;
    END $grant$`
}

const HAS_OWN_SECRET = 'SELECT FROM control.card_keys WHERE has_own_secret LIMIT 1'

/** Returns the connection options with which a process opens card numbers. */
export type CardSignIn = (connection: pg.ClientConfig) => pg.ClientConfig

export interface CardRoleOptions extends RoomSecrets {
  /** Options of the database owner, with CREATEROLE, as the pools use them. */
  readonly connection: pg.ClientConfig
  /** The same without a pooler, if there is such a way. */
  readonly direct: pg.ClientConfig
  /** Receives a warning for people. */
  readonly say: Say
}

/**
 * Finds or creates the role of card numbers in a migrated database, and returns how to sign in as it. Returns undefined
 * if the numbers are sealed with a secret that this process does not have: a role that the pepper derives would then let
 * every process read them.
 */
export async function ensureCardRole(options: CardRoleOptions): Promise<CardSignIn | undefined> {
  const { name, secret } = cardRoleOf(options)
  const signIn: CardSignIn = (connection) => asRole(connection, name, secret)
  if (await isComplete(signIn(options.connection))) return signIn
  const admin = new pg.Client(clientConfig(options.direct, 'svc migrate'))
  try {
    await admin.connect()
    if (options.ownSecret === undefined && (await admin.query(HAS_OWN_SECRET)).rowCount) return undefined
    const { rowCount } = await admin.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [name])
    if (!rowCount) await createRole(admin, name, 'control', secret)
    // Migrations grant rights on the same tables, and of two processes that do so at once, one would fail.
    await whileNotMigrating(admin, () => admin.query(cardGrants(name)))
  } finally {
    await admin.end()
  }
  if (await isComplete(signIn(options.connection))) return signIn
  options.say(
    `the role ${name} cannot sign in through the pooler: add it to the users of the pooler. Until then, the owner of the database reads card numbers`,
  )
  return (connection) => connection
}

const CLOSE: Statement = { text: 'UPDATE control.card_room SET closed = true' }

const ROLES: Statement = { text: 'SELECT environment, name FROM control.roles' }

/**
 * Takes sealed card numbers from the roles of the environments, for good.
 *
 * @param control pool of the owner.
 */
export async function closeCardRoom(control: Pool): Promise<void> {
  await control.transaction(async (tx) => {
    // Also locks the row: of two processes that change rights on a table at once, PostgreSQL fails one.
    await tx.query(CLOSE)
    const { rows } = await tx.query<{ environment: Environment; name: string }>(ROLES)
    for (const { environment, name } of rows) await tx.query({ text: closeCardNumbers(environment, name) })
  })
}

const LOCK_ROOM: Statement = { text: 'SELECT FROM control.card_room FOR UPDATE' }

const OTHER_READERS: Statement = {
  text: `SELECT rolname AS name FROM pg_roles
          WHERE rolname ~ '^svc_cards_[0-9a-f]{8}$' AND rolname <> $1 AND rolname ~ $2
            AND has_table_privilege(rolname, 'live.card_numbers', 'SELECT')`,
}

/**
 * Takes all rights from roles that another secret derives, once a key is sealed with the secret of card numbers.
 *
 * @param control pool of the owner.
 * @param which `pepper` for the role that the pepper derives; `all` also for the role of a secret before.
 */
export async function retireOtherRoles(
  control: Pool,
  secrets: RoomSecrets,
  which: 'pepper' | 'all',
): Promise<void> {
  const { pepper, ownSecret } = secrets
  if (ownSecret === undefined || (await control.query({ text: HAS_OWN_SECRET })).count === 0) return
  const pattern = which === 'all' ? '' : `^${cardRoleOf({ pepper, ownSecret: undefined }).name}$`
  const schemas = ['control', ...ENVIRONMENTS].join(', ')
  await control.transaction(async (tx) => {
    await tx.query(LOCK_ROOM)
    const { rows } = await tx.query<{ name: string }>(OTHER_READERS, [cardRoleOf(secrets).name, pattern])
    for (const { name } of rows) {
      const role = pg.escapeIdentifier(name)
      await tx.query({ text: `REVOKE ALL ON ALL TABLES IN SCHEMA ${schemas} FROM ${role}` })
      await tx.query({ text: `REVOKE ALL ON SCHEMA ${schemas} FROM ${role}` })
    }
  })
}
