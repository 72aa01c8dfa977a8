import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt } from 'dateline/build'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { acquireServer, type EmbeddedServer } from '../../runtime/database/embedded/server.ts'
import { migrate } from '../../runtime/database/migrate/migrate.ts'

/** Data about the database server that test files receive. */
export interface TestServer {
  readonly url: string
  /**
   * Servers that hold a part of each database, starting with the one at `url`. There are several if tables are
   * distributed.
   */
  readonly servers: readonly string[]
  readonly template: string
  /** Options of CREATE DATABASE for copying the template. */
  readonly strategy: string
  readonly pepper: string
}

declare module 'vitest' {
  interface ProvidedContext {
    testServer: TestServer
  }
}

export const PEPPER = 'pepper of the tests, the same for every run'

/** Inserts the addresses that a process with all roles would store, because tests start processes with single roles. */
export const ADDRESSES = `INSERT INTO control.addresses (listener, base_url, declared)
  SELECT listener, 'http://' || listener || '.invalid', false FROM unnest(ARRAY['sandbox', 'live', 'console']) AS listener`

/** Nothing in the tests must survive a power failure. Three files run at once, and some send everything at the same time. */
const PARAMETERS = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  autovacuum: 'off',
  max_connections: '600',
}

/** Returns the URL of a different database on the same server. */
export function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Runs statements one by one as the owner. */
export async function administer(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Whether the server accepts any password (`trust`), so that password checks cannot be tested. */
export async function trustsEverybody(url: string): Promise<boolean> {
  const wrong = new URL(url)
  wrong.password = 'wrong-guess'
  const client = new pg.Client({ connectionString: wrong.href })
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end()
  }
}

/**
 * Starts a watcher that stops the server if this process dies, which closes the watcher's input. A line of input tells
 * the watcher to exit. It stops the server by its process ID.
 */
export function watchOver(server: Pick<EmbeddedServer, 'pid'>, directory: string): ChildProcess {
  const script = `read -r line && exit 0
    kill -QUIT "$1"; while kill -0 "$1" 2>/dev/null; do sleep 0.05; done; rm -rf "$2"`
  const watcher = spawn('sh', ['-c', script, 'sh', String(server.pid()), directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watcher.unref()
  return watcher
}

/** Halves the cost of a copy, because the checkpoints that this strategy needs do not wait for a disk here. */
const BY_FILES = 'STRATEGY file_copy'

async function startServer(): Promise<{ url: string; strategy: string; stop: () => Promise<void> }> {
  const given = process.env.TEST_DATABASE_URL ?? process.env.DATABASE_URL
  if (given) return { url: given, strategy: '', stop: async () => {} }
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-'))
  chmodSync(directory, 0o711) // lets the server's user enter if root runs the tests
  const server = await acquireServer({ dataDir: directory, say: console.error, parameters: PARAMETERS })
  const watcher = watchOver(server, directory)
  const { user, password, host, port, database } = server.connection()
  return {
    url: `postgres://${user}:${password}@${host}:${port}/${database}`,
    strategy: BY_FILES,
    stop: async () => {
      await server.release()
      watcher.stdin?.end('done\n')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/**
 * Runs once for each test run: builds uncommitted output, starts a server and creates the template database that test
 * files copy.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await ensureBuilt(join(import.meta.dirname, '../../dateline.config.json'))
  const { url, strategy, stop } = await startServer()
  const template = `svc_test_${randomBytes(4).toString('hex')}`
  try {
    await administer(url, `CREATE DATABASE ${template}`)
    await migrate({ connectionString: databaseUrl(url, template) }, PEPPER)
    await administer(databaseUrl(url, template), ADDRESSES)
  } catch (error) {
    await stop()
    throw error
  }
  project.provide('testServer', { url, servers: [url], template, strategy, pepper: PEPPER })
  return async () => {
    await administer(url, `DROP DATABASE ${template} WITH (FORCE)`)
    await stop()
  }
}
