import pg from 'pg'
import { deriveSecret } from '../auth/secrets.ts'
import type { Environment } from '../contract.ts'
import { clientConfig } from './connection.ts'
import { codeOf, LOCK_NOT_AVAILABLE, messageOf } from './errors.ts'
import {
  checkApplied,
  MIGRATIONS,
  MigrationError,
  type MigrationFile,
  readMigrations,
} from './migration-files.ts'
import { ENVIRONMENTS, ensureRoles, type Roles } from './roles.ts'

/** Any number, the same in every version of this program. */
const LOCK = '7316054213871904'

/** How long one start waits for the migrations of another. */
const LOCK_TIMEOUT = '120s'

const OLDEST_POSTGRES = 15

/** Tables that only ever grow: the environments' roles may read and insert there, nothing else. */
const APPEND_ONLY = ['audit_log']

/** Tables whose rows change but stay. */
const LASTING = ['audit_heads']

/** What a database says of itself. */
export interface State {
  readonly applied: ReadonlyMap<string, string>
  readonly roles: Roles | undefined
}

/**
 * Brings the database up to the migrations of this program and makes its roles. Starts that come together wait for
 * each other; all files that are missing run in one transaction. Throws `MigrationError`.
 *
 * @param connection as the owner of the database; needs CREATE on it and CREATEROLE.
 */
export async function migrate(
  connection: pg.ClientConfig,
  pepper: string,
  directory: string = MIGRATIONS,
): Promise<Roles> {
  const files = readMigrations(directory)
  return withClient(connection, async (client) => {
    await checkServer(client)
    const state = await readState(client)
    checkApplied(files, state.applied)
    const roles =
      state.roles && files.every((file) => state.applied.has(file.name))
        ? state.roles
        : await withLock(connection, () => bringUp(client, connection, pepper, files, directory))
    await checkPepper(client, pepper)
    return roles
  })
}

async function withClient<T>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(clientConfig(connection, 'svc migrate'))
  client.on('error', () => {}) // the statement that is under way fails
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end()
  }
}

/** On a connection of its own and for one transaction, so that it also holds through a pooler. */
function withLock<T>(connection: pg.ClientConfig, work: () => Promise<T>): Promise<T> {
  return withClient(connection, async (client) => {
    await client.query('BEGIN')
    await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`)
    await client.query(`SELECT pg_advisory_xact_lock(${LOCK})`).catch((cause) => {
      if (codeOf(cause) !== LOCK_NOT_AVAILABLE) throw cause
      throw new MigrationError(`another process has been migrating this database for ${LOCK_TIMEOUT}`, {
        cause,
      })
    })
    const value = await work()
    await client.query('COMMIT')
    return value
  })
}

async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
  const version = rows[0]?.server_version ?? ''
  if (Number.parseInt(version, 10) >= OLDEST_POSTGRES) return
  throw new MigrationError(`PostgreSQL ${version} is too old: ${OLDEST_POSTGRES} or newer is needed`)
}

/** What has been applied to a database, and which roles it knows; changes nothing. */
export async function readState(client: pg.Client): Promise<State> {
  const { rows: found } = await client.query<{ made: boolean }>(
    `SELECT to_regclass('control.roles') IS NOT NULL AS made`,
  )
  if (!found[0]?.made) return { applied: new Map(), roles: undefined }
  const { rows: files } = await client.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM control.migration_checksums',
  )
  // A dump restored on another server has the rows but not the roles.
  const { rows: roles } = await client.query<{ environment: Environment; name: string }>(
    'SELECT environment, name FROM control.roles WHERE EXISTS (SELECT FROM pg_roles WHERE rolname = name)',
  )
  const nameOf = (environment: Environment) => roles.find((row) => row.environment === environment)?.name
  const sandbox = nameOf('sandbox')
  const live = nameOf('live')
  return {
    applied: new Map(files.map(({ name, checksum }) => [name, checksum])),
    roles: sandbox !== undefined && live !== undefined ? { sandbox, live } : undefined,
  }
}

/** What has to be there before the first file runs. */
const FOUNDATION = `
  CREATE SCHEMA IF NOT EXISTS control;
  CREATE SCHEMA IF NOT EXISTS sandbox;
  CREATE SCHEMA IF NOT EXISTS live;
  CREATE TABLE IF NOT EXISTS control.migration_checksums (name text PRIMARY KEY, checksum text NOT NULL);
  CREATE TABLE IF NOT EXISTS control.roles (
    environment text PRIMARY KEY CHECK (environment IN ('sandbox', 'live')),
    name text NOT NULL
  )`

const SAVE_ROLE = `INSERT INTO control.roles (environment, name) VALUES ($1, $2)
  ON CONFLICT (environment) DO UPDATE SET name = excluded.name`

async function bringUp(
  client: pg.Client,
  connection: pg.ClientConfig,
  pepper: string,
  files: readonly MigrationFile[],
  directory: string,
): Promise<Roles> {
  await client.query(FOUNDATION)
  const state = await readState(client)
  checkApplied(files, state.applied)
  const roles = state.roles ?? (await ensureRoles(client, connection, pepper))
  await runFiles(client, files, directory, roles)
  for (const environment of ENVIRONMENTS) {
    await client.query(grants(environment, roles[environment]))
    await client.query(SAVE_ROLE, [environment, roles[environment]])
  }
  return roles
}

/** node-pg-migrate decides what is missing, keeps its table and holds the transaction; the files are run by us. */
async function runFiles(
  client: pg.Client,
  files: readonly MigrationFile[],
  directory: string,
  roles: Roles,
): Promise<void> {
  const { runner } = await import('node-pg-migrate')
  const silent = { info: () => {}, warn: () => {}, error: () => {} }
  const units = files.map((file) => ({
    id: file.path,
    filePaths: [file.path],
    actions: { up: () => runFile(client, file, roles), down: false as const },
  }))
  await runner({
    dbClient: client,
    dir: directory,
    direction: 'up',
    migrationsSchema: 'control',
    migrationsTable: 'migrations',
    singleTransaction: true,
    noLock: true,
    logger: silent,
    migrationLoaderStrategies: [{ extensions: ['.sql'], loader: async () => units }],
  })
}

async function runFile(client: pg.Client, file: MigrationFile, roles: Roles): Promise<void> {
  for (const schema of file.each ? ENVIRONMENTS : (['control'] as const)) {
    await client.query(`SET LOCAL search_path = ${schema}`)
    await client.query(file.text).catch((cause) => {
      throw new MigrationError(
        `${file.path}:${lineOf(file.text, cause)}: ${messageOf(cause)} (in schema ${schema})`,
        {
          cause,
        },
      )
    })
    if (schema !== 'control') await client.query(grants(schema, roles[schema]))
  }
  await client.query('SET LOCAL search_path = DEFAULT')
  await client.query('INSERT INTO control.migration_checksums (name, checksum) VALUES ($1, $2)', [
    file.name,
    file.checksum,
  ])
}

/** The line of the file that PostgreSQL points at. */
function lineOf(text: string, error: unknown): number {
  const position =
    typeof error === 'object' && error !== null && 'position' in error ? Number(error.position) : 1
  return text.slice(0, Math.max(0, position - 1)).split('\n').length
}

/** All that a role may do: rows of its own environment. */
function grants(environment: Environment, role: string): string {
  const name = pg.escapeIdentifier(role)
  const revoke = (table: string, rights: string) =>
    `IF to_regclass('${environment}.${table}') IS NOT NULL THEN
        REVOKE ${rights} ON ${environment}.${table} FROM ${name};
      END IF;`
  const protect = [
    ...APPEND_ONLY.map((table) => revoke(table, 'UPDATE, DELETE, TRUNCATE')),
    ...LASTING.map((table) => revoke(table, 'DELETE, TRUNCATE')),
  ]
  return `GRANT USAGE ON SCHEMA ${environment} TO ${name};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${environment} TO ${name};
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${environment} TO ${name};
    DO $protect$ BEGIN ${protect.join('\n')} END $protect$`
}

/** Refuses a pepper under which none of the stored digests would be found again. */
async function checkPepper(client: pg.Client, pepper: string): Promise<void> {
  const check = Buffer.from(deriveSecret(pepper, 'check of the pepper'), 'hex')
  const { rows } = await client.query<{ same: boolean }>(
    'SELECT pepper_check = $1 AS same FROM control.deployment WHERE pepper_check IS NOT NULL',
    [check],
  )
  if (rows[0]?.same === false) {
    throw new MigrationError(
      'SVC_PEPPER is not the one that this database was made with: no key would be found under it',
    )
  }
  if (rows.length === 0) {
    await client.query('UPDATE control.deployment SET pepper_check = $1 WHERE pepper_check IS NULL', [check])
  }
}
