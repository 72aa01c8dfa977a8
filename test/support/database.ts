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

/** A database of a test file's own: migrated, empty, gone after `close`. */
export interface TestDatabase extends OpenDatabase {
  /** As the owner. */
  readonly url: string
  readonly clock: OffsetClock
  /** For the functions of runtime/operator: `createTenant(db.operator, …)`, `createKey(db.operator, …)`. */
  readonly operator: Operator
}

/** With the demo tenant: plan enterprise, verified, keys of scope admin in both environments. */
export interface DemoDatabase extends TestDatabase {
  readonly tenantId: string
  readonly keys: DemoSecrets['keys']
}

/** A database and what it takes to remove it. */
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

/** A copy of the template, without pools: for tests that start processes on it. */
export function createTestDatabase(): Promise<BareDatabase> {
  const { template, strategy } = inject('testServer')
  return createDatabase(`TEMPLATE ${template} ${strategy}`)
}

/** A database in which nothing is: for tests of the migrations. */
export function createEmptyDatabase(): Promise<BareDatabase> {
  return createDatabase('')
}

type TestSettings = Partial<Pick<DatabaseSettings, 'poolSize' | 'preparedStatements' | 'citus'>>

/** Opens a new copy of the template database, as the service opens its own. `citus`: as if its tables were distributed. */
export async function openTestDatabase(settings: TestSettings = {}): Promise<TestDatabase> {
  return openOn(await createTestDatabase(), settings)
}

/** The same at the end of a way that can be cut. */
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

/** The same, with the demo tenant, pinned to the version. Takes a tenth of a second more: its password is hashed. */
export async function openDemoDatabase(version: string, settings: TestSettings = {}): Promise<DemoDatabase> {
  const database = await openTestDatabase(settings)
  const { tenantId, secrets } = await ensureDemo(database.operator, version)
  if (!secrets) throw new Error('a new database has no demo tenant')
  return { ...database, tenantId, keys: secrets.keys }
}
