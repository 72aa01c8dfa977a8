/** A service on a cluster of its own, whose servers are lost while they work and between the phases of a commit. */
import pg from 'pg'
import { current } from '../../generated/versions.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { spaceOf } from '../../runtime/database/space.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { holdMachineClock, type MachineClock } from '../account/confirmers.ts'
import { until } from '../support/programs.ts'
import { PEPPER } from '../support/server.ts'
import {
  makeKey,
  makeTenant,
  type Send,
  speak,
  startTestService,
  type TestService,
} from '../support/service.ts'
import { ask, type Cluster, createClusterDatabase, type Node, startCluster } from './cluster.ts'

export interface ServedCluster {
  readonly cluster: Cluster
  readonly service: TestService
  readonly machine: MachineClock
  /** The database on the coordinator. */
  readonly url: string
  stop(): Promise<void>
}

export async function serveCluster(): Promise<ServedCluster> {
  const cluster = await startCluster(process.env.SVC_CITUS_BIN!)
  const servers = [cluster.coordinator, ...cluster.workers].map((node) => node.url)
  const url = await createClusterDatabase(servers, 'outage')
  const settings = {
    databaseUrl: url,
    pepper: PEPPER,
    dataDir: '/nowhere',
    poolSize: 12,
    preparedStatements: true,
  }
  const opened = await openDatabase({ ...settings, citus: true })
  const clock = createClock()
  const operator = { control: opened.control, clock, pepper: PEPPER }
  const service = await startTestService({ database: { ...opened, url, clock, operator } })
  const stop = async () => {
    await service.stop()
    await cluster.stop()
  }
  return { cluster, service, machine: holdMachineClock(service), url, stop }
}

/** The port of the server that has the rows of the tenant's space. */
async function placeOf({ url }: ServedCluster, space: string): Promise<string> {
  const [row] = await ask<{ port: number }>(
    url,
    `SELECT nodeport AS port FROM citus_shards
      WHERE shardid = get_shard_id_for_distribution_column('sandbox.passes', '${space}')`,
  )
  return String(row!.port)
}

export interface Caller {
  readonly tenantId: string
  readonly send: Send
}

/** A caller with a key of scope admin, whose tenant's rows the server has; that of its first wipe, those that come after. */
export async function makeCaller(served: ServedCluster, node: Node, nodeAfterWipe?: Node): Promise<Caller> {
  const { service } = served
  const isThere = async (space: string, { url }: Node) => (await placeOf(served, space)) === new URL(url).port
  for (;;) {
    const tenantId = await makeTenant(service)
    if (!(await isThere(tenantId, node))) continue
    if (nodeAfterWipe && !(await isThere(spaceOf(tenantId, 1), nodeAfterWipe))) continue
    const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
    return { tenantId, send: speak(service.urls.sandbox, { secret, version: current }) }
  }
}

/** Transactions of the service that the server has prepared and that are neither committed nor undone. */
export async function preparedOn(node: Node): Promise<number> {
  const [row] = await ask<{ count: number }>(node.url, 'SELECT count(*)::int AS count FROM pg_prepared_xacts')
  return row!.count
}

/** Has the coordinator leave to `recover` what it does every minute by itself. */
export async function stopRecovery({ url }: ServedCluster): Promise<void> {
  await ask(url, 'ALTER SYSTEM SET citus.recover_2pc_interval = -1', 'SELECT pg_reload_conf()')
}

/** Ends what was prepared, as the coordinator has ended itself. Gives how many. */
export async function recover({ url }: ServedCluster): Promise<number> {
  const [row] = await ask<{ count: number }>(url, 'SELECT recover_prepared_transactions() AS count')
  return row!.count
}

/**
 * Has the server wait for a standby that is not there: its commits end on its disk, and nobody hears of that.
 *
 * @param notifying the one that is held first notifies: others that do wait for their turn before they commit, and after
 * what they ask of workers.
 */
export async function holdCommits({ url }: Node, notifying = false): Promise<void> {
  await ask(url, `ALTER SYSTEM SET synchronous_standby_names = 'nobody'`, 'SELECT pg_reload_conf()')
  const notify = notifying ? `, pg_notify('nobody', '')` : ''
  await until('a commit to be held', async () => {
    void ask(url, `SELECT txid_current(), pg_logical_emit_message(true, 'test', '')${notify}`).catch(() => {})
    const held = await ask(url, `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
    return held.length > 0
  })
}

/** Commits are held until the server starts anew. */
export async function forgetStandby({ url }: Node): Promise<void> {
  await ask(url, 'ALTER SYSTEM RESET synchronous_standby_names')
}

/** Commits are held no longer. */
export async function letGo(node: Node): Promise<void> {
  await forgetStandby(node)
  await ask(node.url, 'SELECT pg_reload_conf()')
}

/** Runs a request which changes the tenant's row in `control`; gives it back when it waits for that row, which `free` lets it have. */
export async function startAtTenant<T>({ url }: ServedCluster, tenantId: string, request: () => Promise<T>) {
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query('BEGIN')
  await holder.query('SELECT FROM control.tenants WHERE id = $1 FOR NO KEY UPDATE', [tenantId])
  const answer = request()
  // What comes before its transaction is committed by now.
  await until('the request to wait for its tenant', async () => {
    const waiting = await ask(url, `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)
    return waiting.length > 0
  })
  return { answer, free: () => holder.end() }
}
