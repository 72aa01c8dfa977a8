/**
 * Runs migrations. No library covers these needs: one file runs in two schemas within one transaction; an index is
 * built concurrently and resumed after a kill; a lock that is not available is given up and retried while nodes serve
 * requests; each file has a checksum; and tables may be distributed afterwards. node-pg-migrate would only add a list
 * of files.
 */
import pg from 'pg'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { deriveSecret } from '../../platform/secrets.ts'
import { messageOf } from '../errors.ts'
import { clientConfig, isPooled } from '../pool/connection.ts'
import { changeIndex } from './concurrent-indexes.ts'
import { distribute, hasCitus, ONE_BY_ONE, readDistribution } from './distribute.ts'
import { splitForCitus } from './distributed-statements.ts'
import {
  checkApplied,
  MigrationError,
  type MigrationFile,
  type MigrationProgress,
  readMigrations,
} from './migration-files.ts'
import { acquireMigrationLock, type Say, withShortLocks } from './migration-locks.ts'
import { completeRole, ensureRoles, grants, type Roles } from './roles.ts'

const OLDEST_POSTGRES = 15

/** The migrations and roles recorded in a database. */
export interface State extends MigrationProgress {
  readonly roles: Roles | undefined
}

export interface MigrateOptions {
  /** Defaults to the migrations folder of this program. */
  readonly directory?: string | undefined
  /** Whether to distribute tenant tables. */
  readonly citus?: boolean
  /** Whether the operator asserts that the connection bypasses any pooler, or that the pooler keeps sessions. */
  readonly direct?: boolean
  /** Receives messages for people about every wait. */
  readonly say?: Say
}

/** The result of a migration. */
export interface Migrated {
  readonly roles: Roles
  /** Whether tenant tables are distributed. */
  readonly distributed: boolean
}

/** State of one run, which uses one connection. */
interface MigrationRun extends Required<Pick<MigrateOptions, 'citus' | 'direct' | 'say'>> {
  readonly client: pg.Client
  readonly connection: pg.ClientConfig
  readonly pepper: string
  readonly files: readonly MigrationFile[]
}

/**
 * Applies the missing migrations of this program and creates its roles while other processes use the database.
 * Concurrent runs wait for each other. Throws `MigrationError`.
 *
 * @param connection of the database owner, with CREATE on the database and CREATEROLE. It must not go through a pooler
 * in transaction mode, because the migration lock needs a session.
 */
export async function migrate(
  connection: pg.ClientConfig,
  pepper: string,
  options: MigrateOptions = {},
): Promise<Migrated> {
  const { directory, citus = false, direct = false, say = () => {} } = options
  const files = readMigrations(directory)
  const client = new pg.Client(clientConfig(connection, 'svc migrate'))
  client.on('error', () => {}) // the running statement fails
  try {
    await client.connect()
    await checkServer(client)
    const run: MigrationRun = { client, connection, pepper, files, citus, direct, say }
    const roles = (await findRoles(run)) ?? (await bringUp(run))
    await checkPepper(client, pepper)
    return { roles, distributed: (await readDistribution(client, citus)) !== 'none' }
  } finally {
    await client.end()
  }
}

/** Returns the roles if the database is up to date. */
async function findRoles({ client, files, citus }: MigrationRun): Promise<Roles | undefined> {
  const state = await readState(client)
  checkApplied(files, state)
  const distribution = await readDistribution(client, citus)
  const isComplete = distribution === 'all' || (distribution === 'none' && !citus)
  return isComplete && files.every((file) => state.applied.has(file.name)) ? state.roles : undefined
}

async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
  const version = rows[0]?.server_version ?? ''
  if (Number.parseInt(version, 10) >= OLDEST_POSTGRES) return
  throw new MigrationError(
    `PostgreSQL ${version} is too old: version ${OLDEST_POSTGRES} or newer is required`,
  )
}

/** Reads which migrations were applied and which roles are recorded. Changes nothing. */
export async function readState(client: pg.Client): Promise<State> {
  const { rows: found } = await client.query<{ made: boolean }>(
    `SELECT to_regclass('control.roles') IS NOT NULL AS made`,
  )
  if (!found[0]?.made) return { applied: new Map(), begun: new Map(), roles: undefined }
  // Reads the column through JSON, because databases from before concurrent index builds lack it.
  const { rows: files } = await client.query<{ name: string; checksum: string; pending: boolean }>(
    `SELECT name, checksum, coalesce((to_jsonb(m) ->> 'pending')::boolean, false) AS pending
       FROM control.migration_checksums m`,
  )
  // A dump restored on a different server has these rows but not the roles.
  const { rows: roles } = await client.query<{ environment: Environment; name: string }>(
    'SELECT environment, name FROM control.roles WHERE EXISTS (SELECT FROM pg_roles WHERE rolname = name)',
  )
  const nameOf = (environment: Environment) => roles.find((row) => row.environment === environment)?.name
  const sandbox = nameOf('sandbox')
  const live = nameOf('live')
  const checksums = (pending: boolean) =>
    new Map(files.filter((file) => file.pending === pending).map(({ name, checksum }) => [name, checksum]))
  return {
    applied: checksums(false),
    begun: checksums(true),
    roles: sandbox !== undefined && live !== undefined ? { sandbox, live } : undefined,
  }
}

/** Schemas and tables that must exist before the first file runs. */
const FOUNDATION = `
  CREATE SCHEMA IF NOT EXISTS control;
  CREATE SCHEMA IF NOT EXISTS sandbox;
  CREATE SCHEMA IF NOT EXISTS live;
  CREATE TABLE IF NOT EXISTS control.migration_checksums (name text PRIMARY KEY, checksum text NOT NULL);
  ALTER TABLE control.migration_checksums ADD COLUMN IF NOT EXISTS pending boolean NOT NULL DEFAULT false;
  CREATE TABLE IF NOT EXISTS control.roles (
    environment text PRIMARY KEY CHECK (environment IN ('sandbox', 'live')),
    name text NOT NULL
  )`

const SAVE_ROLE = `INSERT INTO control.roles (environment, name) VALUES ($1, $2)
  ON CONFLICT (environment) DO UPDATE SET name = excluded.name`

const SAVE_FILE = `INSERT INTO control.migration_checksums (name, checksum, pending) VALUES ($1, $2, $3)
  ON CONFLICT (name) DO UPDATE SET pending = excluded.pending`

async function bringUp(run: MigrationRun): Promise<Roles> {
  const { client, connection, pepper, files, citus, direct, say } = run
  if (!direct && (await isPooled(client))) {
    throw new MigrationError(
      'migrations are missing, and DATABASE_URL goes through a pooler, where no session can hold the migration lock: set DATABASE_LISTEN_URL to a direct connection to the same database, with the same user',
    )
  }
  // Overrides the settings of the owner: index builds take long, and statements that lock tables set their own timeout.
  await client.query('SET statement_timeout = 0; SET lock_timeout = 0')
  if (await hasCitus(client)) await client.query(`SET ${ONE_BY_ONE}`)
  await acquireMigrationLock(client, say) // held until the connection ends
  const what = 'preparing the schemas'
  await withShortLocks(client, { what, say }, async () => {
    await client.query(FOUNDATION)
  })
  const state = await readState(client)
  checkApplied(files, state)
  const roles = state.roles ?? (await ensureRoles(client, connection, pepper))
  for (const file of files.filter(({ name }) => !state.applied.has(name))) {
    await (file.indexes ? runIndexes(run, file, file.indexes) : runFile(run, file, roles))
  }
  if (citus || (await readDistribution(client, false)) !== 'none') await distribute(client, say)
  await withShortLocks(client, { what, say }, async () => {
    for (const environment of ENVIRONMENTS) {
      await completeRole(client, roles[environment])
      await client.query(grants(environment, roles[environment]))
      await client.query(SAVE_ROLE, [environment, roles[environment]])
    }
  })
  return roles
}

const schemasOf = (file: MigrationFile) => (file.each ? ENVIRONMENTS : (['control'] as const))

/** Runs the whole file in one transaction, for both environments. */
async function runFile({ client, say }: MigrationRun, file: MigrationFile, roles: Roles): Promise<void> {
  const statements = (await hasCitus(client)) ? splitForCitus(file.text) : [{ text: file.text, line: 1 }]
  await withShortLocks(client, { what: file.name, say }, async () => {
    for (const schema of schemasOf(file)) {
      await client.query(`SET LOCAL search_path = ${schema}`)
      for (const { text, line } of statements) {
        await client.query(text).catch((cause) => {
          throw failureAt(file, line + lineOf(text, cause) - 1, schema, cause)
        })
      }
      if (schema !== 'control') await client.query(grants(schema, roles[schema]))
    }
    await client.query(SAVE_FILE, [file.name, file.checksum, false])
  })
}

/** Builds the indexes one by one, outside transactions. After a kill, the next run builds the unfinished ones. */
async function runIndexes(
  { client, say }: MigrationRun,
  file: MigrationFile,
  indexes: NonNullable<MigrationFile['indexes']>,
): Promise<void> {
  for (const schema of schemasOf(file)) {
    await client.query(`SET search_path = ${schema}`)
    for (const statement of indexes) {
      await changeIndex({ client, what: `${file.name} in ${schema}`, say }, statement).catch((cause) => {
        throw failureAt(file, statement.line, schema, cause)
      })
      await client.query(SAVE_FILE, [file.name, file.checksum, true])
    }
  }
  await client.query('RESET search_path')
  await client.query(SAVE_FILE, [file.name, file.checksum, false])
}

function failureAt(file: MigrationFile, line: number, schema: string, cause: unknown): MigrationError {
  return new MigrationError(`${file.path}:${line}: ${messageOf(cause)} (in schema ${schema})`, { cause })
}

/** Returns the line of the file at the position that PostgreSQL reports. */
function lineOf(text: string, error: unknown): number {
  const position =
    typeof error === 'object' && error !== null && 'position' in error ? Number(error.position) : 1
  return text.slice(0, Math.max(0, position - 1)).split('\n').length
}

/** Rejects a pepper other than the one that the stored digests were made with. */
async function checkPepper(client: pg.Client, pepper: string): Promise<void> {
  const check = Buffer.from(deriveSecret(pepper, 'check of the pepper'), 'hex')
  const { rows } = await client.query<{ same: boolean }>(
    'SELECT pepper_check = $1 AS same FROM control.deployment WHERE pepper_check IS NOT NULL',
    [check],
  )
  if (rows[0]?.same === false) {
    throw new MigrationError(
      'SVC_PEPPER is not the pepper that this database was created with, so no stored key would match: set the original one',
    )
  }
  if (rows.length === 0) {
    await client.query('UPDATE control.deployment SET pepper_check = $1 WHERE pepper_check IS NULL', [check])
  }
}
