/**
 * The loudest tenant gets a shard of its own, which then moves to a different worker while all tenants write. Nothing may write during
 * the split. Citus 13.2 hangs in a split that does not block writes (citusdata/citus#6790). In one that does, a write that waits for the
 * end then goes to the shard that was split: the caller is told 201, and the row is lost.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '../cluster.ts'
import { type LoadedService, loadService } from './loaded-service.ts'

let loaded: LoadedService
beforeAll(async () => {
  loaded = await loadService()
})
afterAll(() => loaded.stop())

interface Shard {
  readonly id: string
  readonly values: number
  readonly port: number
}

async function shardOf(tenantId: string): Promise<Shard> {
  const [shard] = await ask<Shard>(
    loaded.url,
    `SELECT s.shardid::text AS id, (s.shardmaxvalue::bigint - s.shardminvalue::bigint + 1)::int AS values, p.nodeport AS port
       FROM pg_dist_shard s JOIN citus_shards p ON p.shardid = s.shardid
      WHERE s.shardid = get_shard_id_for_distribution_column('sandbox.passes', '${tenantId}')`,
  )
  return shard!
}

/** Keeps the roles of the service out of the database meanwhile. The processes answer 503. */
async function withoutWrites(work: () => Promise<unknown>): Promise<void> {
  const limit = (count: number) => `ALTER DATABASE ${loaded.name} CONNECTION LIMIT ${count}`
  await ask(
    loaded.url,
    limit(0),
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'svc %'`,
  )
  try {
    await work()
  } finally {
    await ask(loaded.url, limit(-1))
  }
}

test('the loudest tenant gets a shard of its own on a different worker while tenants write, and nothing is lost', async ({
  task,
}) => {
  const { tenantId } = loaded.traffic.callers[0]!
  const began = performance.now()
  await withoutWrites(() =>
    ask(
      loaded.url,
      `SELECT isolate_tenant_to_new_shard('sandbox.passes', '${tenantId}', 'CASCADE', shard_transfer_mode => 'block_writes')`,
    ),
  )
  const split = performance.now() - began
  await loaded.write(200)
  const blocked = await loaded.measure()
  const own = await shardOf(tenantId)
  expect(own.values).toBe(1)
  const ports = loaded.cluster.workers.map(({ url }) => Number(new URL(url).port))
  const target = ports.find((port) => port !== own.port)
  await ask(
    loaded.url,
    `SELECT citus_move_shard_placement(${own.id}, '127.0.0.1', ${own.port}, '127.0.0.1', ${target}, 'force_logical')`,
  )
  await loaded.write(200)
  expect((await shardOf(tenantId)).port).toBe(target)
  const line = await loaded.finish('a tenant is isolated, its shard moves')
  expect(blocked.failures).toEqual([])
  task.meta.found = [
    ...line,
    `the split took ${Math.round(split)} ms; the longest write meanwhile: ${Math.round(Math.max(...blocked.longestMs.values()))} ms; answers: ${JSON.stringify([...blocked.answers])}`,
  ]
})
