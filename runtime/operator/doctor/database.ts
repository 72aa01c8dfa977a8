import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { findCluster } from '../../database/embedded/cluster.ts'
import { findPostmaster } from '../../database/embedded/postmaster.ts'
import { connectionTo } from '../../database/embedded/server.ts'
import { messageOf } from '../../database/errors.ts'
import { readState, type State } from '../../database/migrate/migrate.ts'
import { checkApplied, readMigrations } from '../../database/migrate/migration-files.ts'
import { asRole, type Roles } from '../../database/migrate/roles.ts'
import { explainFailure, placeOf } from '../../database/open/open-database.ts'
import { clientConfig } from '../../database/pool/connection.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { deriveSecret } from '../../platform/secrets.ts'
import type { Settings } from '../../platform/settings.ts'
import { checkBackups } from './backup.ts'
import { checkCardNumbers } from './card-numbers.ts'
import { checkAddresses, checkWakeUps } from './deployment.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { checkRefusals } from './google.ts'
import { checkMoves } from './moves.ts'
import { checkPayouts } from './payouts.ts'
import { checkProcessors } from './processors.ts'
import { checkSetAside } from './set-aside.ts'

/**
 * Clock skew limits. Above the first, lists may disagree about which records are new. Above the second, TOTP codes
 * fail.
 */
const SKEW_WARNED_MS = 1000
const SKEW_REFUSED_MS = 15_000

/** The pools of a process: control, sandbox, live and cards. */
const POOLS = 4

/** One listening connection, and one in each environment that flushes commits. */
const EXTRA = 3

const OLDEST_POSTGRES = 15

type ExaminedSettings = Pick<
  Settings,
  | 'roles'
  | 'baseUrls'
  | 'databaseUrl'
  | 'databaseListenUrl'
  | 'dataDir'
  | 'backupDir'
  | 'migrationsDir'
  | 'pepper'
  | 'poolSize'
  | 'production'
  | 'cardSecret'
  | 'revealUrl'
>

/** Checks the database. Changes and starts nothing. */
export async function checkDatabase(settings: ExaminedSettings): Promise<Finding[]> {
  const found = findDatabase(settings)
  if ('verdict' in found) return [found]
  const { connection, place } = found
  const client = new pg.Client(clientConfig(connection, 'svc doctor'))
  client.on('error', () => {}) // the running statement fails
  const began = performance.now()
  try {
    await client.connect()
    const server = await checkServer(client, place, performance.now() - began)
    const state = await readState(client)
    return [
      server,
      await checkConnections(client, settings.poolSize),
      await checkWakeUps(client, settings),
      checkMigrations(state, settings),
      await checkPepper(client, state, pepperOf(settings)),
      ...(state.roles ? await checkRoles(client, connection, state.roles, pepperOf(settings)) : []),
      await checkClock(client),
      ...(state.roles ? [await checkServiceClock(client, settings.production)] : []),
      await checkAddresses(client, settings),
      ...(await checkRefusals(client)),
      ...(state.roles ? await checkCardNumbers(client, settings, state.roles) : []),
      ...(await checkPayouts(client, state)),
      ...(await checkProcessors(client, state)),
      ...(await checkSetAside(client)),
      ...(await checkMoves(client)),
      ...(await checkBackups(client, settings, state, Date.now())),
    ]
  } catch (error) {
    const { databaseUrl } = settings
    return [fail('database', explainFailure(error, { ...(databaseUrl !== undefined && { databaseUrl }) }))]
  } finally {
    await client.end()
  }
}

interface ConnectionPlace {
  readonly connection: pg.ClientConfig
  readonly place: string
}

function findDatabase({ databaseUrl, dataDir }: ExaminedSettings): ConnectionPlace | Finding {
  if (databaseUrl !== undefined) {
    return { connection: { connectionString: databaseUrl }, place: placeOf(databaseUrl) }
  }
  try {
    const cluster = findCluster(dataDir)
    if (!cluster) return ok('database', `there is no database in ${dataDir} yet: the first start creates it`)
    const postmaster = findPostmaster(cluster.data)
    if (!postmaster)
      return ok('database', `the embedded PostgreSQL in ${dataDir} is not running: the next start starts it`)
    return {
      connection: connectionTo(cluster, postmaster),
      place: `127.0.0.1:${postmaster.port}, ${dataDir}`,
    }
  } catch (error) {
    return fail('database', error)
  }
}

function pepperOf({ pepper, dataDir }: ExaminedSettings): string | undefined {
  const path = join(dataDir, 'pepper')
  return pepper ?? (existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined)
}

async function one<Row>(client: pg.Client, text: string, values: unknown[] = []): Promise<Row> {
  const { rows } = await client.query(text, values)
  return rows[0] as Row
}

async function checkServer(client: pg.Client, place: string, ms: number): Promise<Finding> {
  const { server_version: version } = await one<{ server_version: string }>(client, 'SHOW server_version')
  const words = `PostgreSQL ${version} at ${place}, connected in ${Math.round(ms)} ms`
  if (Number.parseInt(version, 10) >= OLDEST_POSTGRES) return ok('database', words)
  return fail('database', `${words}: version ${OLDEST_POSTGRES} or newer is required`)
}

async function checkConnections(client: pg.Client, poolSize: number): Promise<Finding> {
  const { most, used } = await one<{ most: number; used: number }>(
    client,
    `SELECT current_setting('max_connections')::int AS most, (SELECT count(*) FROM pg_stat_activity)::int AS used`,
  )
  const needed = POOLS * poolSize + EXTRA
  const words = `each process uses up to ${needed} of ${most} connections; ${used} are in use`
  if (needed > most) return fail('connections', `${words}: lower DATABASE_POOL_SIZE`)
  return needed + used > most
    ? warn(
        'connections',
        `${words}: these may be too few, so raise max_connections or lower DATABASE_POOL_SIZE`,
      )
    : ok('connections', words)
}

function checkMigrations(state: State, { migrationsDir }: Pick<Settings, 'migrationsDir'>): Finding {
  const files = readMigrations(migrationsDir)
  const { applied } = state
  try {
    checkApplied(files, state)
  } catch (error) {
    return fail('migrations', error)
  }
  const missing = files.filter(({ name }) => !applied.has(name))
  const unknown = [...applied.keys()].filter((name) => !files.some((file) => file.name === name))
  if (unknown.length > 0) {
    return warn(
      'migrations',
      `a newer version of the service applied migrations that this one does not know: ${unknown.join(', ')}`,
    )
  }
  if (missing.length === 0) return ok('migrations', `all ${files.length} are applied and unchanged`)
  return warn('migrations', `${missing.length} of ${files.length} are missing: the next start applies them`)
}

async function checkPepper(
  client: pg.Client,
  { roles }: State,
  pepper: string | undefined,
): Promise<Finding> {
  if (pepper === undefined)
    return fail('pepper', 'is missing: set SVC_PEPPER, because API keys cannot be verified without it')
  if (!roles) return ok('pepper', 'is set; the database does not use it yet')
  const check = Buffer.from(deriveSecret(pepper, 'check of the pepper'), 'hex')
  const row = await one<{ same: boolean | null } | undefined>(
    client,
    'SELECT pepper_check = $1 AS same FROM control.deployment',
    [check],
  )
  if (row?.same === false)
    return fail(
      'pepper',
      'is not the pepper that this database was created with: set the original SVC_PEPPER',
    )
  return ok('pepper', row?.same ? 'matches this database' : 'is set; the database does not use it yet')
}

const LOOK_AT_ROLE = `
  SELECT r.rolsuper OR r.rolbypassrls OR r.rolcreaterole OR r.rolcreatedb AS mighty,
         has_schema_privilege(r.rolname, $2, 'USAGE') AS here,
         has_schema_privilege(r.rolname, $3, 'USAGE') AS there,
         CASE WHEN to_regclass($2 || '.audit_log') IS NOT NULL
              THEN has_table_privilege(r.rolname, $2 || '.audit_log', 'UPDATE, DELETE, TRUNCATE') END AS rewrites
  FROM pg_roles r WHERE r.rolname = $1`

interface RoleRow {
  readonly mighty: boolean
  readonly here: boolean
  readonly there: boolean
  readonly rewrites: boolean | null
}

async function checkRoles(
  client: pg.Client,
  connection: pg.ClientConfig,
  roles: Roles,
  pepper: string | undefined,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const environment of ENVIRONMENTS) {
    const check = `role ${environment}`
    const name = roles[environment]
    const other = environment === 'sandbox' ? 'live' : 'sandbox'
    const row = await one<RoleRow>(client, LOOK_AT_ROLE, [name, environment, other])
    const problems = [
      row.mighty && 'has server-wide privileges',
      !row.here && `cannot use the schema ${environment}`,
      row.there && `can use the schema ${other}`,
      row.rewrites && 'can change the audit log',
      pepper !== undefined && (await refusedSignIn(asRole(connection, name, pepper))),
    ].filter((problem) => typeof problem === 'string')
    findings.push(
      problems.length > 0
        ? fail(check, `${name} ${problems.join(', ')}`)
        : ok(
            check,
            `${name} can sign in, can access ${environment} but not ${other}, and can only append to the audit log`,
          ),
    )
  }
  return findings
}

async function refusedSignIn(connection: pg.ClientConfig): Promise<string | false> {
  const client = new pg.Client(clientConfig(connection, 'svc doctor'))
  client.on('error', () => {}) // `connect` reports it
  try {
    await client.connect()
    return false
  } catch (error) {
    return `cannot sign in with the password derived from the pepper (${messageOf(error)})`
  } finally {
    await client.end()
  }
}

async function checkClock(client: pg.Client): Promise<Finding> {
  const before = Date.now()
  const { now } = await one<{ now: number }>(
    client,
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now',
  )
  const after = Date.now()
  // The database read its clock between these two times.
  const skew = Math.max(0, before - now, now - after)
  const words = `this machine and the database agree within ${Math.round(skew + after - before)} ms`
  if (skew < SKEW_WARNED_MS) return ok('clock', words)
  const off = `this machine and the database are ${Math.round(skew)} ms apart: synchronize them (NTP)`
  return skew < SKEW_REFUSED_MS ? warn('clock', off) : fail('clock', off)
}

async function checkServiceClock(client: pg.Client, production: boolean): Promise<Finding> {
  const { rows } = await client.query<{ environment: string; offset_ms: number }>(
    'SELECT environment, offset_ms::float8 AS offset_ms FROM control.clock WHERE offset_ms <> 0 ORDER BY environment',
  )
  if (rows.length === 0) return ok('service time', 'equals machine time')
  const words = rows
    .map(({ environment, offset_ms }) => `${environment} by ${Math.round(offset_ms / 1000)} s`)
    .join(', ')
  return production
    ? fail('service time', `is offset: ${words}; production requires machine time`)
    : warn('service time', `is offset: ${words}`)
}
