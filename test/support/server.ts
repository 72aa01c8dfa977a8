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

/** What the test files are told of the server: where it is and which database to copy. */
export interface TestServer {
  readonly url: string
  /** All that hold a part of each database, the one at `url` first: several where tables are distributed. */
  readonly servers: readonly string[]
  readonly template: string
  /** How the template is copied: words of CREATE DATABASE. */
  readonly strategy: string
  readonly pepper: string
}

declare module 'vitest' {
  interface ProvidedContext {
    testServer: TestServer
  }
}

export const PEPPER = 'pepper of the tests, the same for every run'

/** As a process that served everything left them: tests start processes of single roles. */
export const ADDRESSES = `INSERT INTO control.addresses (listener, base_url, declared)
  SELECT listener, 'http://' || listener || '.invalid', false FROM unnest(ARRAY['sandbox', 'live', 'console']) AS listener`

/** Nothing here has to survive a power failure. */
const FAST = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', autovacuum: 'off' }

/** The same server, another database. */
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

/** Whether the server lets anybody in whatever the password (`trust`), so that nothing about passwords can be tested. */
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
 * Stops the server should this process die without a word: the watcher's input ends then. One line tells it that all
 * went well. The server's process is named by its id.
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

/** Half the work, where the checkpoints that it takes wait for no disk. */
const BY_FILES = 'STRATEGY file_copy'

async function startServer(): Promise<{ url: string; strategy: string; stop: () => Promise<void> }> {
  const given = process.env.TEST_DATABASE_URL ?? process.env.DATABASE_URL
  if (given) return { url: given, strategy: '', stop: async () => {} }
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-'))
  chmodSync(directory, 0o711) // for the server's user, when root runs the tests
  const server = await acquireServer({ dataDir: directory, say: console.error, parameters: FAST })
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

/** Once per run: the output that is not committed, a server, and on it the database that every test file copies. */
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
