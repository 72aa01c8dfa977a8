/** The PostgreSQL server of a simulation: its own, or the one that the environment names. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt } from 'dateline/build'
import { acquireServer } from '../../runtime/database/embedded/server.ts'
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

const FAST = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  autovacuum: 'off',
  max_connections: '400',
}

/** Opens the server that the environment names, or starts one, for the duration of the work. */
export async function withServer<T>(work: (server: SimulationServer) => Promise<T>): Promise<T> {
  const given = process.env[SERVER_VARIABLE]
  if (given !== undefined) return work(JSON.parse(given) as SimulationServer)
  await ensureBuilt(join(import.meta.dirname, '../../dateline.config.json'))
  const directory = mkdtempSync(join(tmpdir(), 'svc-simulation-'))
  chmodSync(directory, 0o711) // lets the server's user enter if root starts it
  const server = await acquireServer({ dataDir: directory, say: console.error, parameters: FAST })
  const watcher = watchOver(server, directory)
  const { user, password, host, port, database } = server.connection()
  const url = `postgres://${user}:${password}@${host}:${port}/${database}`
  try {
    const template = 'simulation_template'
    await administer(url, `CREATE DATABASE ${template}`)
    await migrate({ connectionString: databaseUrl(url, template) }, PEPPER)
    await administer(databaseUrl(url, template), ADDRESSES)
    return await work({ url, template, pepper: PEPPER })
  } finally {
    await server.release()
    watcher.stdin?.end('done\n')
    rmSync(directory, { recursive: true, force: true })
  }
}
