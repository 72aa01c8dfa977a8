/** Opens the two installations of a move. */
import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import pg from 'pg'
import type { Statement } from '../../database/database.ts'
import { acquireServer } from '../../database/embedded/server.ts'
import { readState } from '../../database/migrate/migrate.ts'
import { readMigrations } from '../../database/migrate/migration-files.ts'
import { type OpenDatabase, openDatabase } from '../../database/open/open-database.ts'
import { clientConfig } from '../../database/pool/connection.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { readSettings, type Settings } from '../../platform/settings.ts'
import { ControlError, type Operator } from '../../tenants/admin/change.ts'
import { createClock } from '../../tenants/clock/clock.ts'

/** An installation, as the command of the operator opens it. */
export interface Installation {
  readonly operator: Operator
  readonly database: OpenDatabase
}

/** A transaction, and the statements that the command sends meanwhile. */
const POOL_SIZE = 3

/**
 * Returns the settings of the target.
 *
 * @param to URL of its database, for the secrets of this installation; or a file with its variables, one `NAME=value` a line.
 * @throws ControlError if it is neither.
 */
export function readTarget(to: string, env: NodeJS.ProcessEnv): Settings {
  if (/^postgres(ql)?:\/\//.test(to)) {
    const { DATABASE_LISTEN_URL: _, ...own } = env
    return readSettings({ ...own, DATABASE_URL: to })
  }
  if (!existsSync(to))
    throw new ControlError(
      'invalid',
      `--to: expected a database URL or a file with settings, and there is no file ${to}`,
    )
  return readSettings(parseEnv(readFileSync(to, 'utf8')))
}

/** Name of the newest migration of this program. */
export function newestMigration(): string {
  return readMigrations().at(-1)!.name
}

/** Returns how to reach the database, without migrating it. */
async function connectionOf(settings: Settings, say: (line: string) => void) {
  const { databaseUrl, databaseListenUrl, dataDir } = settings
  if (databaseUrl !== undefined) {
    const connectionString = databaseListenUrl ?? databaseUrl
    return { connection: { connectionString }, release: async () => {} }
  }
  const server = await acquireServer({ dataDir, say })
  return { connection: server.connection(), release: server.release }
}

/**
 * Checks that a database has exactly the migrations of this program. Opening it would apply missing ones.
 *
 * @throws ControlError `refused`.
 */
async function requireSameMigrations(settings: Settings, say: (line: string) => void): Promise<void> {
  const { connection, release } = await connectionOf(settings, say)
  const client = new pg.Client(clientConfig(connection, 'svc migrate'))
  try {
    await client.connect()
    const { applied } = await readState(client)
    const there = [...applied.keys()].toSorted().at(-1) ?? 'no migration'
    if (there === newestMigration() && applied.size === readMigrations().length) return
    throw new ControlError(
      'refused',
      `the target is at ${there}, and this program at ${newestMigration()}: bring both installations to the same release first`,
    )
  } finally {
    await client.end()
    await release()
  }
}

const PEPPER: Statement = {
  text: `SELECT encode(pepper_check, 'hex') AS check FROM control.deployment WHERE pepper_check IS NOT NULL`,
}

/** Returns the check value of the pepper: two installations with the same one have the same pepper. */
export const pepperOf = async ({ operator }: Installation) =>
  (await operator.control.query<{ check: string }>(PEPPER)).rows[0]?.check

/** Opens the target, runs the work and closes it. */
export async function withTarget<T>(
  settings: Settings,
  say: (line: string) => void,
  work: (target: Installation) => Promise<T>,
): Promise<T> {
  await requireSameMigrations(settings, say)
  const database = await openDatabase({ ...settings, poolSize: POOL_SIZE }, say)
  try {
    const clock = createClock()
    await clock.refresh(database.control)
    return await work({ operator: { control: database.control, clock, pepper: database.pepper }, database })
  } finally {
    await database.close()
  }
}

/** Offsets of two service clocks may differ by less than this, in milliseconds. */
const MAX_CLOCK_LAG_MS = 1000

/**
 * Checks that a tenant can go on at the target.
 *
 * @throws ControlError `refused`, if the pepper differs or if a service clock of the target is behind.
 */
export async function requireFit(source: Installation, target: Installation): Promise<void> {
  if ((await pepperOf(source)) !== (await pepperOf(target)))
    throw new ControlError(
      'refused',
      'the target has a different SVC_PEPPER, so that no API key, pass link or sealed secret of the tenant would work there. Both installations need the same one',
    )
  for (const environment of ENVIRONMENTS) requireClock(environment, source.operator, target.operator)
}

function requireClock(
  environment: (typeof ENVIRONMENTS)[number],
  source: Pick<Operator, 'clock'>,
  target: Pick<Operator, 'clock'>,
): void {
  const lag = source.clock.service(environment) - target.clock.service(environment)
  if (lag <= MAX_CLOCK_LAG_MS) return
  throw new ControlError(
    'refused',
    `the clock of the ${environment} is ${Math.ceil(lag / 1000)} s behind at the target, so time would go back for the tenant: run admin clock advance --seconds ${Math.ceil(lag / 1000)} there`,
  )
}
