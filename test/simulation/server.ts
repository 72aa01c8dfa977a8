/** The PostgreSQL server of a simulation: its own, or the one that the environment names. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt } from 'dateline/build'
import { openCluster } from '../../runtime/database/embedded/cluster.ts'
import { stopPostmaster } from '../../runtime/database/embedded/postmaster.ts'
import { connectionTo } from '../../runtime/database/embedded/server.ts'
import { startPostmaster } from '../../runtime/database/embedded/start.ts'
import { migrate } from '../../runtime/database/migrate/migrate.ts'
import { ADDRESSES, administer, databaseUrl, PEPPER, watchOver } from '../support/server.ts'

export interface SimulationServer {
  readonly url: string
  /** A migrated database without tenants. */
  readonly template: string
  readonly pepper: string
}

/** Names a server for child processes, as JSON. */
export const SERVER_VARIABLE = 'SIMULATION_SERVER'

/**
 * Only a machine that crashes needs `fsync`. Only commits write the log, so that a crash of PostgreSQL loses the same each
 * time: no checkpoints, no full buffers.
 */
const PARAMETERS = {
  fsync: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: '400',
  shared_buffers: '512MB',
  wal_buffers: '64MB',
  bgwriter_lru_maxpages: '0',
  checkpoint_timeout: '1d',
  max_wal_size: '8GB',
}

/** Opens the server that the environment names, or starts one, for the duration of the work. */
export async function withServer<T>(work: (server: SimulationServer) => Promise<T>): Promise<T> {
  const given = process.env[SERVER_VARIABLE]
  if (given !== undefined) return work(JSON.parse(given) as SimulationServer)
  await ensureBuilt(join(import.meta.dirname, '../../dateline.config.json'))
  const directory = mkdtempSync(join(tmpdir(), 'svc-simulation-'))
  chmodSync(directory, 0o711) // lets the server's user enter if root starts it
  // Nobody holds the server, because it is not to be started again by anyone after a simulated crash.
  const cluster = await openCluster(directory, console.error)
  const parameters = { ...PARAMETERS, unix_socket_directories: cluster.data }
  const postmaster = await startPostmaster(cluster, directory, 0, parameters)
  const watcher = watchOver({ pid: () => postmaster.pid }, directory)
  const { user, password, host, port, database } = connectionTo(cluster, postmaster)
  const url = `postgres://${user}:${password}@${host}:${port}/${database}?host=${cluster.data}`
  try {
    const template = 'simulation_template'
    await administer(url, `CREATE DATABASE ${template}`)
    await migrate({ connectionString: databaseUrl(url, template) }, PEPPER)
    await administer(databaseUrl(url, template), ADDRESSES)
    return await work({ url, template, pepper: PEPPER })
  } finally {
    await stopPostmaster(postmaster.pid, cluster.data)
    watcher.stdin?.end('done\n')
    rmSync(directory, { recursive: true, force: true })
  }
}
