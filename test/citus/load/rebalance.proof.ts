/** A worker is added, and shards move to it, while tenants write. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../support/programs.ts'
import { databaseUrl } from '../../support/server.ts'
import { ask } from '../cluster.ts'
import { type LoadedService, loadService } from './loaded-service.ts'

let loaded: LoadedService
beforeAll(async () => {
  loaded = await loadService()
})
afterAll(() => loaded.stop())

/** Shard groups by port of the server that has them. */
async function shardGroups(): Promise<Map<string, number>> {
  const rows = await ask<{ port: string; groups: number }>(
    loaded.url,
    `SELECT nodeport::text AS port, count(*)::int AS groups FROM citus_shards
      WHERE table_name = 'sandbox.passes'::regclass GROUP BY 1`,
  )
  return new Map(rows.map(({ port, groups }) => [port, groups]))
}

/** A worker is a server with the database and Citus in it, which the coordinator then fills. */
async function addWorker(): Promise<string> {
  const { cluster, name, url } = loaded
  const node = await cluster.addServer()
  await ask(node.url, `CREATE DATABASE ${name}`)
  await ask(databaseUrl(node.url, name), 'CREATE EXTENSION citus')
  const { hostname, port } = new URL(node.url)
  await ask(url, `SELECT citus_add_node('${hostname}', ${port})`)
  return port
}

test('shards move to a new worker while tenants write, and nothing is lost', async ({ task }) => {
  const port = await addWorker()
  await ask(loaded.url, `SELECT citus_rebalance_start(shard_transfer_mode => 'force_logical')`)
  await until(
    'the shards to be moved',
    async () => {
      const [job] = await ask<{ state: string; details: object }>(
        loaded.url,
        'SELECT state::text, details FROM citus_rebalance_status()',
      )
      if (job?.state === 'failed') throw new Error(`the rebalance failed: ${JSON.stringify(job.details)}`)
      return job?.state === 'finished'
    },
    240_000,
  )
  await loaded.write(200)
  expect((await shardGroups()).get(port)).toBeGreaterThan(0)
  task.meta.found = await loaded.finish('a worker is added')
})
