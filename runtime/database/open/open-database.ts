import type pg from 'pg'
import type { Environment } from '../../platform/environment.ts'
import type { Settings } from '../../platform/settings.ts'
import { stopInTurn, stopTogether } from '../../platform/stopping.ts'
import { secretOf } from '../embedded/pepper.ts'
import { acquireServer } from '../embedded/server.ts'
import { codeOf, DatabaseUnavailable, isUnavailable, messageOf, UNDEFINED_DATABASE } from '../errors.ts'
import { type CardSignIn, ensureCardRole } from '../migrate/card-role.ts'
import { type Migrated, migrate } from '../migrate/migrate.ts'
import { asRole } from '../migrate/roles.ts'
import { isPooled } from '../pool/connection.ts'
import { createListener, type Notified } from '../pool/listen.ts'
import { createPool, type MeasuredPool } from '../pool/pool.ts'
import { type CardRoom, opensCardNumbers } from './card-room.ts'

/** The pool of the database owner, which also receives notifications. */
export interface ControlPool extends MeasuredPool {
  /** Calls back for each NOTIFY on the channel. Notifications can get lost. */
  listen(channel: string, notified: Notified): void
}

/**
 * The database connections of a process: a pool for the control schema, and a pool for each environment with its own
 * role.
 */
export interface OpenDatabase {
  readonly control: ControlPool
  readonly sandbox: MeasuredPool
  readonly live: MeasuredPool
  readonly pepper: string
  /** Absent if this process opens no card numbers. */
  readonly cards: CardRoom | undefined
  /** Uses the passwords of these settings for new connections. Throws if the URLs differ in more than their passwords. */
  renew(settings: DatabaseUrls): void
  /** Waits for running statements, ends all connections and releases the embedded server. */
  close(): Promise<void>
}

type DatabaseUrls = Pick<Settings, 'databaseUrl' | 'databaseListenUrl'>

export type DatabaseSettings = Pick<
  Settings,
  | 'databaseUrl'
  | 'databaseListenUrl'
  | 'dataDir'
  | 'pepper'
  | 'poolSize'
  | 'preparedStatements'
  | 'migrationsDir'
  | 'citus'
> &
  Partial<Pick<Settings, 'backupDir' | 'roles' | 'cardSecret' | 'previousCardSecret' | 'revealUrl'>>

/** A PostgreSQL server, embedded or external. */
interface Server {
  connection(): pg.ClientConfig
  /** Bypasses any pooler, for notifications and migrations, which need a session. */
  direct(): pg.ClientConfig
  renew(settings: DatabaseUrls): void
  release(): Promise<void>
  readonly pepper: string
  /** Absent if an external deployment has none. */
  readonly cardSecret: string | undefined
}

/** Returns the host and port of a URL, such as `db.example.com:5432`, without credentials. */
export function placeOf(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  const host = url.searchParams.get('host') ?? (url.hostname || 'localhost')
  return `${host}:${url.searchParams.get('port') ?? (url.port || '5432')}`
}

async function openServer(settings: DatabaseSettings, say: (line: string) => void): Promise<Server> {
  const { databaseUrl, dataDir } = settings
  if (databaseUrl !== undefined) {
    let urls: DatabaseUrls = settings
    if (settings.pepper === undefined) throw new Error('SVC_PEPPER is required with DATABASE_URL')
    return {
      connection: () => ({ connectionString: urls.databaseUrl }),
      direct: () => ({ connectionString: urls.databaseListenUrl ?? urls.databaseUrl }),
      renew: (next) => {
        requireSamePlace('DATABASE_URL', settings.databaseUrl, next.databaseUrl)
        requireSamePlace('DATABASE_LISTEN_URL', settings.databaseListenUrl, next.databaseListenUrl)
        urls = next
      },
      release: async () => {},
      pepper: settings.pepper,
      cardSecret: settings.cardSecret,
    }
  }
  const server = await acquireServer({ dataDir, say, backupDir: settings.backupDir })
  return {
    ...server,
    direct: server.connection,
    renew: () => {}, // the embedded server has no password that rotates
    pepper: settings.pepper ?? secretOf(dataDir, 'pepper'),
    cardSecret: settings.cardSecret ?? secretOf(dataDir, 'card-secret'),
  }
}

/** Throws if a URL differs in more than its password: only a restart moves every part of a process. */
function requireSamePlace(variable: string, known: string | undefined, next: string | undefined): void {
  const withoutPassword = (url: string | undefined) =>
    url && Object.assign(new URL(url), { password: '' }).href
  if (withoutPassword(known) === withoutPassword(next)) return
  throw new Error(`${variable} differs in more than its password: restart the processes to use it`)
}

/** Returns an error that says where the unreachable database is and what to do. */
export function explainFailure(
  error: unknown,
  { databaseUrl, databaseListenUrl }: Pick<Settings, 'databaseUrl' | 'databaseListenUrl'>,
): unknown {
  const [variable, url] =
    databaseListenUrl === undefined
      ? ['DATABASE_URL', databaseUrl]
      : ['DATABASE_LISTEN_URL', databaseListenUrl]
  if (url === undefined) return error
  const place = placeOf(url)
  if (codeOf(error) === UNDEFINED_DATABASE) {
    return new Error(`${variable}: ${messageOf(error)} on ${place}: create the database (createdb)`, {
      cause: error,
    })
  }
  if (codeOf(error)?.startsWith('28')) {
    return new Error(`${variable}: ${place} rejects the user or password: ${messageOf(error)}`, {
      cause: error,
    })
  }
  if (!isUnavailable(error)) return error
  return new DatabaseUnavailable(
    `${variable}: no PostgreSQL answers at ${place}: ${messageOf(error)}. Start it, or correct the address.`,
    { cause: error },
  )
}

/** Warning if the pooler cannot be bypassed. */
export const POLLING =
  'DATABASE_URL goes through a pooler: notifications may get lost, and polling then finds deliveries and revocations within 0.5 s. Set DATABASE_LISTEN_URL to a direct connection to the same database'

/**
 * Opens the database that the settings name: starts or adopts the embedded server if they name none, applies missing
 * migrations and creates the pools. Throws an error whose message says where the problem is and what to do.
 *
 * @param say receives unusual events as text for people.
 */
export async function openDatabase(
  settings: DatabaseSettings,
  say: (line: string) => void = () => {},
): Promise<OpenDatabase> {
  const server = await openServer(settings, say)
  const { pepper, cardSecret } = server
  const secrets = { pepper, ownSecret: cardSecret, previousSecret: settings.previousCardSecret }
  let migrated: Migrated
  let cardSignIn: CardSignIn | undefined
  try {
    migrated = await migrate(server.direct(), server.pepper, {
      directory: settings.migrationsDir,
      citus: settings.citus ?? false,
      direct: settings.databaseListenUrl !== undefined,
      say,
    })
    if (opensCardNumbers(settings)) {
      const [connection, direct] = [server.connection(), server.direct()]
      cardSignIn = await ensureCardRole({ ...secrets, connection, direct, say })
    }
  } catch (error) {
    await server.release()
    throw explainFailure(error, settings)
  }
  const { roles, distributed } = migrated
  const pool = (name: string, connection: () => pg.ClientConfig, flushTogether: boolean) =>
    createPool({
      connection,
      max: settings.poolSize,
      prepared: settings.preparedStatements,
      applicationName: `svc ${name}`,
      flushTogether,
      distributed,
      writesControl: name === 'control' || name === 'cards',
    })
  const environmentPool = (environment: Environment) => {
    const connection = () => asRole(server.connection(), roles[environment], server.pepper)
    return pool(environment, connection, !distributed)
  }
  const control = pool('control', server.connection, false)
  const sandbox = environmentPool('sandbox')
  const live = environmentPool('live')
  const cardPool = (signIn: CardSignIn) => pool('cards', () => signIn(server.connection()), false)
  const cards = cardSignIn && { pool: cardPool(cardSignIn), ...secrets }
  const listener = createListener(server.direct, async (client) => {
    if (settings.databaseListenUrl === undefined && (await isPooled(client))) say(POLLING)
  })
  return {
    control: { ...control, listen: listener.listen },
    sandbox,
    live,
    pepper,
    cards,
    renew: server.renew,
    close: () =>
      stopInTurn([
        listener.stop,
        () => stopTogether([control.end, sandbox.end, live.end, () => cards?.pool.end()]),
        server.release,
      ]),
  }
}
