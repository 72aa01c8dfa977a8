import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import {
  type DatabaseSettings,
  type OpenDatabase,
  openDatabase,
} from '../../runtime/database/open/open-database.ts'
import { type DemoSecrets, ensureDemo } from '../../runtime/operator/demo.ts'
import type { Operator } from '../../runtime/tenants/admin/change.ts'
import { createClock, type OffsetClock } from '../../runtime/tenants/clock/clock.ts'
import { openRelay, type Relay } from './relay.ts'
import { administer, databaseUrl } from './server.ts'
import { STAND_IN } from './stand-in.ts'

/** A migrated, empty database for one test file. `close` drops it. */
export interface TestDatabase extends OpenDatabase {
  /** URL with the owner's credentials. */
  readonly url: string
  readonly clock: OffsetClock
  /** For the functions of runtime/operator: `createTenant(db.operator, …)`, `createKey(db.operator, …)`. */
  readonly operator: Operator
}

/** A test database with the demo tenant: plan enterprise, verified, keys of scope admin in both environments. */
export interface DemoDatabase extends TestDatabase {
  readonly tenantId: string
  readonly keys: DemoSecrets['keys']
}

/** A database without connections. */
export interface BareDatabase {
  readonly url: string
  readonly pepper: string
  drop(): Promise<void>
}

async function createDatabase(options: string): Promise<BareDatabase> {
  const { url, servers, template, pepper } = inject('testServer')
  const name = `${template}_${randomBytes(4).toString('hex')}`
  const onEach = (statement: string) => Promise.all(servers.map((server) => administer(server, statement)))
  await onEach(`CREATE DATABASE ${name} ${options}`)
  return {
    url: databaseUrl(url, name),
    pepper,
    drop: async () => {
      await onEach(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

/** Copies the template database without opening pools, for tests that start processes. */
export function createTestDatabase(): Promise<BareDatabase> {
  const { template, strategy } = inject('testServer')
  return createDatabase(`TEMPLATE ${template} ${strategy}`)
}

/** Creates a database without migrations, for tests of the migrations. */
export function createEmptyDatabase(): Promise<BareDatabase> {
  return createDatabase('')
}

type TestSettings = Partial<Pick<DatabaseSettings, 'poolSize' | 'preparedStatements' | 'citus'>>

/**
 * Copies the template database and opens it as the service does. `citus` opens it as if its tables were distributed.
 */
export async function openTestDatabase(settings: TestSettings = {}): Promise<TestDatabase> {
  return openOn(await createTestDatabase(), settings)
}

/** Opens a test database through a relay that tests can cut. */
export async function openRelayedDatabase(
  settings: TestSettings = {},
): Promise<{ readonly database: TestDatabase; readonly relay: Relay }> {
  const bare = await createTestDatabase()
  const relay = await openRelay(bare.url)
  const database = await openOn(bare, settings, relay.url)
  const close = async () => {
    await database.close()
    await relay.down()
  }
  return { database: { ...database, close }, relay }
}

async function openOn(
  { url, pepper, drop }: BareDatabase,
  settings: TestSettings,
  address = url,
): Promise<TestDatabase> {
  if (settings.citus && inject('testServer').servers.length === 1) await administer(url, STAND_IN)
  const opened = await openDatabase({
    databaseUrl: address,
    pepper,
    dataDir: '/nowhere',
    poolSize: 4,
    preparedStatements: true,
    ...settings,
  })
  const clock = createClock()
  return {
    ...opened,
    url,
    clock,
    operator: { control: opened.control, clock, pepper },
    close: async () => {
      await opened.close()
      await drop()
    },
  }
}

/**
 * Opens a test database with the demo tenant, pinned to the version. Takes 100 ms longer, because the tenant's password
 * is hashed.
 */
export async function openDemoDatabase(version: string, settings: TestSettings = {}): Promise<DemoDatabase> {
  const database = await openTestDatabase(settings)
  const { tenantId, secrets } = await ensureDemo(database.operator, version)
  if (!secrets) throw new Error('a new database has no demo tenant')
  return { ...database, tenantId, keys: secrets.keys }
}
