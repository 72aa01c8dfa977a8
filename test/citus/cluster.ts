/** Clusters of Citus: a coordinator and its workers, started here or found, and databases on all of them. */
import { execFile, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { asAccount, serverAccount } from '../../runtime/database/embedded/account.ts'
import { freePort } from '../support/ports.ts'
import { isAlive, until } from '../support/programs.ts'
import { databaseUrl, watchOver } from '../support/server.ts'

/** A server of a cluster that was started here. */
export interface Node {
  /** As the owner, of the database `postgres`. */
  readonly url: string
  /** Like a machine that loses its power: nobody is told, and no process of it does anything more. */
  kill(): Promise<void>
  start(): Promise<void>
}

export interface Cluster {
  readonly coordinator: Node
  readonly workers: readonly Node[]
  /** Starts one more server, which the coordinator does not know. */
  addServer(): Promise<Node>
  /** Starts a standby of a server. */
  addStandby(of: Node): Promise<Node>
  stop(): Promise<void>
}

const WORKERS = 2

/** Nothing here has to survive a power failure, but a kill; few shards, but several on each worker. */
const CITUS = {
  shared_preload_libraries: 'citus',
  'citus.node_conninfo': 'sslmode=disable',
  'citus.shard_count': '4',
  'citus.enable_statistics_collection': 'off',
}
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  max_worker_processes: '64', // one for each database, and some to spare
  max_prepared_transactions: '300',
  shared_buffers: '64MB',
  fsync: 'off',
  full_page_writes: 'off',
  log_min_messages: 'fatal',
  // Shards move, and standbys follow, by replication.
  wal_level: 'logical',
  max_wal_senders: '60',
  max_replication_slots: '60',
  wal_receiver_status_interval: '1s',
}

export interface OwnNode extends Node {
  stop(): Promise<void>
}

function makeFolder(): string {
  const account = serverAccount()
  const data = mkdtempSync(join(tmpdir(), 'svc-citus-'))
  if (account) chownSync(data, account.uid, account.gid)
  return data
}

/** Callers in this process go on meanwhile. */
const runProgram = (bin: string, name: string, words: readonly string[]) =>
  promisify(execFile)(join(bin, name), words, asAccount(serverAccount()))

/**
 * Creates a server in a scratch folder, and starts it.
 *
 * @param bin folder with its programs. @param more settings; by default, it is one of a cluster.
 */
export async function openNode(
  bin: string,
  more: Readonly<Record<string, string>> = CITUS,
): Promise<OwnNode> {
  const data = makeFolder()
  await runProgram(bin, 'initdb', [
    ...['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '-N'],
  ])
  return runNode(bin, data, more)
}

/** Copies a server, and starts the copy, which follows it. */
async function openStandby(bin: string, { url }: Node): Promise<OwnNode> {
  const data = makeFolder()
  const { hostname, port } = new URL(url)
  const from = ['-h', hostname, '-p', port, '-U', 'postgres']
  await runProgram(bin, 'pg_basebackup', [
    '-D',
    data,
    ...from,
    '-R',
    '-X',
    'stream',
    '-c',
    'fast',
    '--no-sync',
  ])
  const standby = await runNode(bin, data, CITUS)
  await until('the standby to follow', async () => (await countStandbys(url)) > 0)
  return standby
}

async function countStandbys(url: string): Promise<number> {
  const text = `SELECT count(*)::int AS count FROM pg_stat_replication
                 WHERE state = 'streaming' AND application_name = 'walreceiver'`
  return (await ask<{ count: number }>(url, text))[0]!.count
}

/** Commits wait from now on until a standby has them: without that, a failover loses the last ones. */
export async function waitForStandby({ url }: Node): Promise<void> {
  await ask(url, `ALTER SYSTEM SET synchronous_standby_names = '*'`, 'SELECT pg_reload_conf()')
  const text = `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`
  await until('the standby to be synchronous', async () => (await ask(url, text)).length > 0)
}

/** Makes a standby the server. A copied setting would have its commits wait for a standby that it does not have. */
export async function promote({ url }: Node): Promise<void> {
  await ask(url, 'SELECT pg_promote()')
  await ask(url, 'ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()')
}

async function runNode(bin: string, data: string, more: Readonly<Record<string, string>>): Promise<OwnNode> {
  const account = serverAccount()
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const settings = Object.entries({ ...SETTINGS, ...more, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const words = ['-D', data, ...settings]
  let pid = 0
  let end: (signal: NodeJS.Signals) => Promise<void> = async () => {}
  const start = async () => {
    // In a group of its own: what is sent to the group of a run that is cut leaves the server waiting for its sessions.
    const stdio: StdioOptions = ['ignore', 'ignore', 'inherit']
    const server = spawn(join(bin, 'postgres'), words, { ...asAccount(account), stdio, detached: true })
    pid = server.pid!
    const watcher = watchOver({ pid: () => pid }, data)
    const ended = once(server, 'exit').then(() => watcher.stdin?.end('done\n'))
    end = async (signal) => {
      server.kill(signal)
      await ended
    }
    await until('a server of the cluster to answer', async () => {
      if (!isAlive(pid)) throw new Error('a server of the cluster does not start')
      return answers(url)
    })
  }
  const kill = async () => {
    const children = await ask<{ pid: number }>(
      url,
      'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
    )
    const ended = end('SIGKILL')
    for (const child of children) killIfAlive(child.pid)
    await ended
    await until('its processes to end', () => children.every((child) => hasEnded(child.pid)))
  }
  await start()
  const stop = async () => {
    await end('SIGQUIT')
    rmSync(data, { recursive: true })
  }
  return { url, start, kill, stop }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

/** Whether the process holds nothing any more, waited for by its parent or not. */
function hasEnded(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`).length === 0
  } catch {
    return true
  }
}

async function answers(url: string): Promise<boolean> {
  return ask(url, 'SELECT 1').then(
    () => true,
    () => false,
  )
}

/** Starts a cluster in scratch folders. @param bin folder with the programs of a PostgreSQL that has Citus. */
export async function startCluster(bin: string): Promise<Cluster> {
  const nodes = await Promise.all(Array.from({ length: WORKERS + 1 }, () => openNode(bin)))
  const [coordinator, ...workers] = nodes
  const add = async (opening: Promise<OwnNode>) => {
    const node = await opening
    nodes.push(node)
    return node
  }
  return {
    coordinator: coordinator!,
    workers,
    addServer: () => add(openNode(bin)),
    addStandby: (of) => add(openStandby(bin, of)),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}

/** Runs statements one by one; gives the rows of the last. */
export async function ask<Row extends pg.QueryResultRow>(
  url: string,
  ...statements: readonly string[]
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {}) // the statement that is under way fails
  try {
    await client.connect()
    let rows: Row[] = []
    for (const statement of statements) rows = (await client.query<Row>(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

/** The servers of a cluster that is there, the coordinator first; they are reached as the coordinator is. */
export async function listServers(coordinator: string): Promise<string[]> {
  const rows = await ask<{ host: string; port: number }>(
    coordinator,
    `SELECT nodename AS host, nodeport AS port FROM pg_dist_node
      WHERE groupid > 0 AND isactive AND noderole = 'primary' ORDER BY 1, 2`,
  )
  const workers = rows.map(({ host, port }) => {
    const url = new URL(coordinator)
    url.hostname = host
    url.port = String(port)
    return url.href
  })
  return [coordinator, ...workers]
}

/** A database on every server of the cluster, with Citus in it; gives its address on the coordinator. */
export async function createClusterDatabase(servers: readonly string[], name: string): Promise<string> {
  await Promise.all(servers.map((url) => ask(url, `CREATE DATABASE ${name}`)))
  const [coordinator = '', ...workers] = servers.map((url) => databaseUrl(url, name))
  await Promise.all([coordinator, ...workers].map((url) => ask(url, 'CREATE EXTENSION citus')))
  const place = (url: string) => `'${new URL(url).hostname}', ${new URL(url).port}`
  await ask(
    coordinator,
    `SELECT citus_set_coordinator_host(${place(coordinator)})`,
    ...workers.map((url) => `SELECT citus_add_node(${place(url)})`),
  )
  return coordinator
}

/**
 * Makes a database one that others can be copied of: nobody may be connected to such a one, and Citus is, by a process of
 * its own in each database.
 */
export async function sealDatabase(servers: readonly string[], name: string): Promise<void> {
  for (const url of servers) {
    await ask(
      url,
      `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
      `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${name}'`,
    )
  }
}
