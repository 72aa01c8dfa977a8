/**
 * Single statements are pipelined on a few shared connections. A statement costs 19 µs of CPU, compared to 79 µs
 * through `pg.Pool`, which cannot share a connection (64 at a time, `node test/bench/queries.ts --only single`).
 */
import type pg from 'pg'
import type { EventLoopTicks } from '../../platform/fairness/event-loop-ticks.ts'
import { createFairQueue, type Tenant } from '../../platform/fairness/fair-queue.ts'
import type { RowResult, Statement } from '../database.ts'
import { spoilsConnection, translateError } from '../errors.ts'
import { PipelinedClient, send } from './connection.ts'

/** Connections that single statements share. Each statement is sent immediately, behind those already in progress. */
export interface SharedConnections {
  query<Row>(tenant: Tenant, statement: Statement, values?: readonly unknown[]): Promise<RowResult<Row>>
  /**
   * Whether a slow statement blocks every connection that the tenant may use, so that a quick statement should use a
   * different one.
   */
  heldUp(tenant: Tenant): boolean
  /** Number of connections, and of statements in progress. */
  load(): { readonly connections: number; readonly statements: number }
  /** Waits for all statements in progress, then ends the connections. */
  end(): Promise<void>
}

/**
 * A connection without a response for this time is blocked by a slow statement. A shorter delay may only mean that this
 * process is busy.
 */
const SLOW_MS = 20

/**
 * Maximum number of concurrent statements of one tenant; further ones queue in this process. 16 keep its connections
 * busy. A statement of a different tenant waits for at most that many responses, each of which this process must read
 * and forward.
 */
const MAX_IN_PROGRESS = 16

/** Added to the load of a held-up connection, in statements. */
const HELD_UP_LOAD = 1000

interface SharedConnection {
  readonly client: PipelinedClient
  /** Statements that wait until the connection is established; undefined afterwards. */
  waiting: (() => void)[] | undefined
  refusal: Error | undefined
  inProgress: number
  /** Number of statements in progress for each tenant. */
  readonly tenants: Map<Tenant, number>
  /** Time of the last response, or of the first statement after an idle period. */
  progress: number
}

interface QueuedStatement {
  readonly tenant: Tenant
  readonly statement: Statement
  readonly values: readonly unknown[] | undefined
  readonly resolve: (result: RowResult<never>) => void
  readonly reject: (error: Error) => void
}

/** Opens connections on demand, at most `max`. Unless `max` is 1, no tenant can occupy all of them. */
export function createSharedConnections(
  config: () => pg.ClientConfig,
  max: number,
  prepared: boolean,
  ticks: EventLoopTicks,
): SharedConnections {
  const connections = new Set<SharedConnection>()
  const queue = createFairQueue({ places: Number.POSITIVE_INFINITY, share: MAX_IN_PROGRESS })
  let inProgress = 0
  let ended: (() => void) | undefined

  const finish = (connection: SharedConnection, tenant: Tenant) => {
    connection.inProgress -= 1
    const left = (connection.tenants.get(tenant) ?? 1) - 1
    if (left === 0) connection.tenants.delete(tenant)
    else connection.tenants.set(tenant, left)
    connection.progress = performance.now()
    inProgress -= 1
    queue.release(tenant)
    if (inProgress === 0) ended?.()
  }

  /** Sends nothing new to the connection; statements in progress still finish. */
  const retire = (connection: SharedConnection) => {
    if (connections.delete(connection)) connection.client.end().catch(() => {}) // already lost
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
    if (connection.inProgress === 0) connection.progress = performance.now()
    connection.inProgress += 1
    connection.tenants.set(tenant, (connection.tenants.get(tenant) ?? 0) + 1)
    if (connection.waiting) connection.waiting.push(() => perform(connection, work))
    else perform(connection, work)
  }

  return {
    query: <Row>(tenant: Tenant, statement: Statement, values?: readonly unknown[]) =>
      new Promise<RowResult<Row>>((resolve, reject) => {
        if (ended) throw new Error('a statement was sent after its pool had ended')
        inProgress += 1
        queue.acquire(tenant, () => start({ tenant, statement, values, resolve, reject }))
      }),
    load: () => ({ connections: connections.size, statements: inProgress }),
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
        if (inProgress === 0) resolve()
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
    inProgress: 0,
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
  return connection.inProgress > 0 && performance.now() - connection.progress > SLOW_MS
}

/**
 * Whether the tenant uses all connections but one. It is then confined to those, because the last is for other tenants.
 */
function isBound(connections: ReadonlySet<SharedConnection>, max: number, tenant: Tenant): boolean {
  if (tenant === undefined || max === 1) return false
  let used = 0
  for (const connection of connections) if (connection.tenants.has(tenant)) used += 1
  return used >= max - 1
}

/**
 * Returns the connection with the least load, preferring those that are not held up. Returns undefined if a new
 * connection should be opened.
 */
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
    if (connection.inProgress === 0) return connection
    const load = isHeldUp(connection) ? connection.inProgress + HELD_UP_LOAD : connection.inProgress
    if (load >= least) continue
    best = connection
    least = load
  }
  return connections.size < max && !bound ? undefined : best
}
