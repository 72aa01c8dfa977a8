/**
 * Single statements share a few connections and do not wait for each other's answers. A statement costs 19 µs of CPU, and 79 µs
 * through `pg.Pool` (64 at once, `node test/bench/queries.ts --only single`). A pool cannot share a connection.
 */
import type pg from 'pg'
import type { EventLoopTicks } from '../../platform/fairness/event-loop-ticks.ts'
import { createFairQueue, type Tenant } from '../../platform/fairness/fair-queue.ts'
import type { RowResult, Statement } from '../database.ts'
import { spoilsConnection, translateError } from '../errors.ts'
import { PipelinedClient, send } from './connection.ts'

/** Connections that single statements share: each is sent at once, behind those that are under way. */
export interface SharedConnections {
  query<Row>(tenant: Tenant, statement: Statement, values?: readonly unknown[]): Promise<RowResult<Row>>
  /** Whether a slow statement stands in front of every connection that the tenant may use, so that a quick one is better sent elsewhere. */
  heldUp(tenant: Tenant): boolean
  /** Connections, and statements under way on them. */
  load(): { readonly connections: number; readonly statements: number }
  /** Ends the connections when all that is under way has been answered. */
  end(): Promise<void>
}

/** A connection that has answered nothing for so long has a slow statement in front; less may be this process being busy. */
const SLOW_MS = 20

/**
 * Statements of one tenant under way at once; the rest wait here. Enough to keep its connections busy, and what another asks for
 * comes after so many answers at most, each of which this process has to read and to write on.
 */
const MAX_UNDER_WAY = 16

/** As many statements as a held up connection counts for more. */
const HELD_UP_LOAD = 1000

interface SharedConnection {
  readonly client: PipelinedClient
  /** Statements that wait for the connection to be made; undefined once it is, or was refused. */
  waiting: (() => void)[] | undefined
  refusal: Error | undefined
  underWay: number
  /** Of those under way, how many are each tenant's. */
  readonly tenants: Map<Tenant, number>
  /** When it last answered, or got work after having none. */
  progress: number
}

interface QueuedStatement {
  readonly tenant: Tenant
  readonly statement: Statement
  readonly values: readonly unknown[] | undefined
  readonly resolve: (result: RowResult<never>) => void
  readonly reject: (error: Error) => void
}

/** Opens connections as they are needed, at most `max`. A tenant never uses all of them at once, whatever it asks for. */
export function createSharedConnections(
  config: () => pg.ClientConfig,
  max: number,
  prepared: boolean,
  ticks: EventLoopTicks,
): SharedConnections {
  const connections = new Set<SharedConnection>()
  const queue = createFairQueue({ places: Number.POSITIVE_INFINITY, share: MAX_UNDER_WAY })
  let underWay = 0
  let ended: (() => void) | undefined

  const finish = (connection: SharedConnection, tenant: Tenant) => {
    connection.underWay -= 1
    const left = (connection.tenants.get(tenant) ?? 1) - 1
    if (left === 0) connection.tenants.delete(tenant)
    else connection.tenants.set(tenant, left)
    connection.progress = performance.now()
    underWay -= 1
    queue.release(tenant)
    if (underWay === 0) ended?.()
  }

  /** Nothing new comes to the connection; what is under way on it finishes first. */
  const retire = (connection: SharedConnection) => {
    if (connections.delete(connection)) connection.client.end().catch(() => {}) // it is lost already
  }

  const perform = (
    connection: SharedConnection,
    { tenant, statement, values, resolve, reject }: QueuedStatement,
  ) => {
    if (connection.refusal) {
      finish(connection, tenant)
      reject(translateError(connection.refusal))
      return
    }
    send(connection.client, prepared, statement, values, (outcome) => {
      if (spoilsConnection(outcome)) retire(connection)
      finish(connection, tenant)
      if (outcome instanceof Error) {
        reject(translateError(outcome))
      } else {
        ticks.hand(tenant, outcome.rows.length, () => resolve(outcome))
      }
    })
  }

  const start = (work: QueuedStatement) => {
    const { tenant } = work
    const connection = pick(connections, max, tenant) ?? open(connections, config())
    if (connection.underWay === 0) connection.progress = performance.now()
    connection.underWay += 1
    connection.tenants.set(tenant, (connection.tenants.get(tenant) ?? 0) + 1)
    if (connection.waiting) connection.waiting.push(() => perform(connection, work))
    else perform(connection, work)
  }

  return {
    query: <Row>(tenant: Tenant, statement: Statement, values?: readonly unknown[]) =>
      new Promise<RowResult<Row>>((resolve, reject) => {
        if (ended) throw new Error('a statement came after the end of its pool')
        underWay += 1
        queue.acquire(tenant, () => start({ tenant, statement, values, resolve, reject }))
      }),
    load: () => ({ connections: connections.size, statements: underWay }),
    heldUp(tenant) {
      const bound = isBound(connections, max, tenant)
      if (connections.size < max && !bound) return false
      for (const connection of connections) {
        if ((!bound || connection.tenants.has(tenant)) && !isHeldUp(connection)) return false
      }
      return true
    },
    end: async () => {
      await new Promise<void>((resolve) => {
        ended = resolve
        if (underWay === 0) resolve()
      })
      await Promise.all([...connections].map((connection) => connection.client.end()))
    },
  }
}

function open(connections: Set<SharedConnection>, config: pg.ClientConfig): SharedConnection {
  const client = new PipelinedClient(config)
  const connection: SharedConnection = {
    client,
    waiting: [],
    refusal: undefined,
    underWay: 0,
    tenants: new Map(),
    progress: 0,
  }
  connections.add(connection)
  client.once('end', () => connections.delete(connection))
  client.connect((error: Error | undefined) => {
    const waiting = connection.waiting ?? []
    connection.waiting = undefined
    connection.refusal = error
    if (error) connections.delete(connection)
    for (const go of waiting) go()
  })
  return connection
}

function isHeldUp(connection: SharedConnection): boolean {
  return connection.underWay > 0 && performance.now() - connection.progress > SLOW_MS
}

/** Whether the tenant has statements under way on all connections but one, so that it is confined to those: the last is for others. */
function isBound(connections: ReadonlySet<SharedConnection>, max: number, tenant: Tenant): boolean {
  if (tenant === undefined || max === 1) return false
  let used = 0
  for (const connection of connections) if (connection.tenants.has(tenant)) used += 1
  return used >= max - 1
}

/** The connection with the least to do, best one that is not held up; undefined when a new one should take the statement. */
function pick(
  connections: ReadonlySet<SharedConnection>,
  max: number,
  tenant: Tenant,
): SharedConnection | undefined {
  const bound = isBound(connections, max, tenant)
  let best: SharedConnection | undefined
  let least = Number.POSITIVE_INFINITY
  for (const connection of connections) {
    if (bound && !connection.tenants.has(tenant)) continue
    if (connection.underWay === 0) return connection
    const load = isHeldUp(connection) ? connection.underWay + HELD_UP_LOAD : connection.underWay
    if (load >= least) continue
    best = connection
    least = load
  }
  return connections.size < max && !bound ? undefined : best
}
