/** Two processes of the service on a cluster of their own, with tenants that write, and what must be true of what they wrote. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { current } from '../../../generated/versions.ts'
import { openDatabase } from '../../../runtime/database/open/open-database.ts'
import { verifyLedger } from '../../../runtime/operator/ledger.ts'
import { verifyAudit } from '../../../runtime/tenants/admin/audit.ts'
import type { Operator } from '../../../runtime/tenants/admin/change.ts'
import { createKey } from '../../../runtime/tenants/admin/keys.ts'
import { liftLimit } from '../../../runtime/tenants/admin/limits.ts'
import { createTenant } from '../../../runtime/tenants/admin/tenants.ts'
import { createClock } from '../../../runtime/tenants/clock/clock.ts'
import { openReceiver } from '../../events/delivery/receiver.ts'
import { bothCounts } from '../../passes/counted.ts'
import { endPrograms, type Program, startService, until } from '../../support/programs.ts'
import { openRelay, type Relay } from '../../support/relay.ts'
import { PEPPER } from '../../support/server.ts'
import { ask, type Cluster, createClusterDatabase, startCluster } from '../cluster.ts'
import { type CallerKey, type Figures, startTraffic, type Traffic, WRITTEN } from './callers.ts'

const TENANTS = 20
/** Requests of the loudest tenant, which is the first, at the same time. */
const LOUDEST_LANES = 4
const PATIENCE_MS = 120_000

export interface LoadedService {
  readonly cluster: Cluster
  /** Name of the database on each server. */
  readonly name: string
  /** The database, through an address that leads to the coordinator. */
  readonly url: string
  /** Leads the processes to a different coordinator. */
  readonly relay: Relay
  readonly programs: readonly Program[]
  readonly traffic: Traffic
  readonly operator: Operator
  /** Waits until callers have written as much more. */
  write(count: number): Promise<void>
  /** Begins a new measurement. Returns the figures of the last one. */
  measure(): Promise<Figures>
  /** Lines of the logs about requests that were answered 500. */
  logged(): readonly string[]
  /** Ends the load, and compares what is stored with what callers were told. Returns a line of the table. */
  finish(check: string): Promise<readonly string[]>
  stop(): Promise<void>
}

async function openTenant(operator: Operator, hook: string, api: string, lanes: number): Promise<CallerKey> {
  const { id: tenantId } = await createTenant(
    operator,
    { name: 'Harbor Coffee', plan: 'enterprise' },
    current,
  )
  for (const bucket of ['passes_write', 'templates_write', 'cards_write']) {
    await liftLimit(operator, { tenantId, environment: 'sandbox', bucket, factor: 1000, hours: 2 })
  }
  const { secret } = await createKey(operator, { tenantId, environment: 'sandbox', scope: 'admin' })
  const response = await fetch(`${api}/v1/webhook-endpoints`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${secret}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(),
    },
    body: JSON.stringify({ url: hook, enabled_events: ['*'] }),
  })
  expect([response.status, await response.text()]).toEqual([201, expect.anything()])
  return { tenantId, secret, lanes }
}

/** Starts the servers, the processes and the callers, and waits until these have written. */
export async function loadService(): Promise<LoadedService> {
  const cluster = await startCluster(process.env.SVC_CITUS_BIN!)
  const servers = [cluster.coordinator, ...cluster.workers].map((node) => node.url)
  const name = 'load'
  const direct = await createClusterDatabase(servers, name)
  const relay = await openRelay(direct)
  const receiver = await openReceiver()
  const env = {
    ...{ DATABASE_URL: relay.url, SVC_PEPPER: PEPPER, SVC_CITUS: '1', DATABASE_POOL_SIZE: '12' },
    ...{ SVC_WEBHOOK_ALLOW: '127.0.0.0/8', CONSOLE_BASE_URL: 'http://console.test', LOG_LEVEL: 'error' },
  }
  const roles = ['--json', '--role', 'api', '--role', 'worker']
  const programs = [startService(env, roles)]
  const urls = [String((await programs[0]!.ready()).sandbox_base_url)]
  programs.push(startService(env, roles))
  urls.push(String((await programs[1]!.ready()).sandbox_base_url))

  const settings = {
    databaseUrl: relay.url,
    pepper: PEPPER,
    dataDir: '/nowhere',
    poolSize: 4,
    preparedStatements: true,
  }
  const database = await openDatabase({ ...settings, citus: true })
  const operator = { control: database.control, clock: createClock(), pepper: PEPPER }
  const keys: CallerKey[] = []
  for (let n = 0; n < TENANTS; n += 1) {
    keys.push(await openTenant(operator, receiver.url, urls[n % 2]!, n === 0 ? LOUDEST_LANES : 1))
  }
  const traffic = startTraffic(urls, keys)
  const write = async (count: number) => {
    const before = traffic.writes()
    await until(`${count} writes`, () => traffic.failed() || traffic.writes() >= before + count, PATIENCE_MS)
  }
  /** Workers of the tenants when the measurement began. */
  let workers: ReadonlyMap<string, number>
  const measure = async () => {
    workers = await workersOf(direct, keys)
    return traffic.takeFigures()
  }
  await write(200)
  const before = await measure()
  expect(before.failures).toEqual([])

  const finish = async (check: string) => {
    const figures = await traffic.stop()
    const there = await workersOf(relay.url, keys)
    const moved = (tenantId: string) => workers.get(tenantId) !== there.get(tenantId)
    const { failures } = figures
    const found = { ...(await compare()), failures, logged: logged() }
    expect(found).toEqual({ lost: [], doubled: [], failures: [], logged: [] })
    const arrivals = await verify()
    expect(programs.map(({ child }) => [child.exitCode, child.signalCode])).toEqual([
      [null, null],
      [null, null],
    ])
    return lineOf(check, { figures, arrivals, pauses: pausesOf(before, figures, moved) })
  }

  const logged = () =>
    programs
      .flatMap((each) => `${each.stdout()}\n${each.stderr()}`.split('\n'))
      .filter((line) => line.includes('request failed'))

  /** Identifiers that callers were told and that are not stored, and stored ones that no caller was told. */
  const compare = async () => {
    const [lost, doubled]: [string[], string[]] = [[], []]
    for (const { tenantId, told } of traffic.callers) {
      for (const table of WRITTEN) {
        const text = `SELECT id FROM sandbox.${table} WHERE tenant_id = $1`
        const { rows } = await database.control.query<{ id: string }>({ text }, [tenantId])
        const there = new Set(rows.map(({ id }) => id))
        lost.push(...[...told[table]].filter((id) => !there.has(id)))
        doubled.push(...[...there].filter((id) => !told[table].has(id)))
      }
    }
    return { lost, doubled }
  }

  /** Sequences have no gaps, all events are delivered, and counts, audit logs and ledgers are right. */
  const verify = async () => {
    const arrived = new Map<string, number>()
    for (const { tenantId } of keys) {
      const text = `SELECT e.id, e.sequence, e.audience, h.sequence AS head FROM sandbox.events e
                      JOIN sandbox.event_heads h ON h.tenant_id = $1 WHERE e.tenant_id = $1 ORDER BY e.sequence`
      const { rows } = await database.control.query<{
        id: string
        sequence: number
        audience: string | null
        head: number
      }>({ text }, [tenantId])
      expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, index) => index + 1))
      expect(rows.at(-1)?.head).toBe(rows.length)
      await until(
        `the events of ${tenantId} to arrive`,
        () => {
          arrived.clear()
          for (const { headers } of receiver.got) {
            const id = String(headers['service-event-id'])
            arrived.set(id, (arrived.get(id) ?? 0) + 1)
          }
          return rows.filter(({ audience }) => audience !== null).every(({ id }) => arrived.has(id))
        },
        PATIENCE_MS,
      )
      await verifyAudit(operator, tenantId, 'sandbox')
      await verifyLedger(operator, tenantId)
      const { kept, counted } = await bothCounts(database.sandbox, tenantId)
      expect([tenantId, kept ?? counted]).toEqual([tenantId, counted])
    }
    return { events: arrived.size, twice: [...arrived.values()].filter((times) => times > 1).length }
  }

  return {
    cluster,
    name,
    url: relay.url,
    relay,
    programs,
    traffic,
    operator,
    write,
    measure,
    logged,
    finish,
    stop: async () => {
      await traffic.stop()
      await database.close()
      await endPrograms()
      receiver.close()
      await relay.down()
      await cluster.stop()
    },
  }
}

/** Ports of the workers that have the rows of the tenants. */
async function workersOf(url: string, keys: readonly CallerKey[]): Promise<ReadonlyMap<string, number>> {
  const rows = await ask<{ id: string; port: number }>(
    url,
    `SELECT t.id, n.nodeport AS port FROM unnest('{${keys.map(({ tenantId }) => tenantId)}}'::text[]) AS t (id)
       JOIN pg_dist_placement p ON p.shardid = get_shard_id_for_distribution_column('sandbox.passes', t.id)
       JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'`,
  )
  return new Map(rows.map(({ id, port }) => [id, port]))
}

/** The longest writes, in milliseconds. */
type Pauses = readonly (readonly [when: string, longestMs: number])[]

function pausesOf(before: Figures, figures: Figures, moved: (tenantId: string) => boolean): Pauses {
  const longest = ({ longestMs }: Figures, counts: (tenantId: string) => boolean) =>
    Math.round(Math.max(0, ...[...longestMs].filter(([id]) => counts(id)).map(([, ms]) => ms)))
  const pauses: Pauses = [
    ['before', longest(before, () => true)],
    ['tenants that moved', longest(figures, moved)],
    ['others', longest(figures, (id) => !moved(id))],
  ]
  return pauses.filter(([, ms]) => ms > 0)
}

const HEAD = [
  'check',
  'writes',
  'lost',
  'doubled',
  'answers by status',
  'longest write',
  'events',
  'sent twice',
]

interface Measured {
  readonly figures: Figures
  readonly arrivals: { readonly events: number; readonly twice: number }
  readonly pauses: Pauses
}

function lineOf(check: string, { figures, arrivals, pauses }: Measured): readonly string[] {
  const told = [...figures.answers].map(([what, count]) => `${what}: ${count}`).join(', ')
  const longest = pauses.map(([when, ms]) => `${when}: ${ms} ms`).join(', ')
  const cells = [check, figures.writes, 0, 0, told, longest, arrivals.events, arrivals.twice]
  return [HEAD.join(' | '), cells.join(' | ')]
}
