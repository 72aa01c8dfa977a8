/** A run that is cut leaves no server behind, whether it can notice or not. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isAlive, ROOT, until } from '../support/programs.ts'
import { ask } from './cluster.ts'

/** Starts a cluster, holds a session on each of its servers and says where they are. */
const RUN = `
  import pg from 'pg'
  import { ask, startCluster } from './test/citus/cluster.ts'
  const cluster = await startCluster(process.env.SVC_CITUS_BIN)
  const urls = [cluster.coordinator, ...cluster.workers].map(({ url }) => url)
  for (const connectionString of urls) await new pg.Client({ connectionString }).connect()
  console.log(JSON.stringify(urls))
  setInterval(() => {}, 1e6)`

// To its whole group, as a terminal and `timeout` send them.
test.each(['SIGTERM', 'SIGKILL'] as const)('%s ends its servers too', async (signal) => {
  const run = spawn(process.execPath, ['--input-type=module', '-e', RUN], {
    cwd: ROOT,
    detached: true, // with a group of its own
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = await once(run.stdout.setEncoding('utf8'), 'data')
  const servers = await Promise.all(
    JSON.parse(line).map((url: string) =>
      ask<{ data: string; pid: number }>(
        url,
        `SELECT setting AS data, split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid
           FROM pg_settings WHERE name = 'data_directory'`,
      ),
    ),
  )
  expect(servers.flat()).toHaveLength(3)
  process.kill(-run.pid!, signal)
  await until('the servers to end', () => servers.flat().every(({ pid }) => !isAlive(pid)))
  await until('their data to go', () => servers.flat().every(({ data }) => !existsSync(data)))
})
