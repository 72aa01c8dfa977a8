import type pg from 'pg'
import type { EventLoopTurns } from '../../fairness/event-loop-turns.ts'
import { createFairQueue, type Tenant } from '../../fairness/fair-queue.ts'
import type { Result, Statement } from '../database.ts'
import { spoilsConnection, translateError } from '../errors.ts'
import { PipelinedClient, send } from './connection.ts'

/** Connections that single statements share: each is sent at once, behind those that are under way. */
export interface Lanes {
  query<Row>(tenant: Tenant, statement: Statement, values?: readonly unknown[]): Promise<Result<Row>>
  /** Whether a slow statement stands in front of every lane that the tenant may use, so that a quick one had better go elsewhere. */
  heldUp(tenant: Tenant): boolean
  /** Connections, and statements under way on them. */
  load(): { readonly connections: number; readonly statements: number }
  /** Ends the connections when all that is under way has been answered. */
  end(): Promise<void>
}

/** A lane that has answered nothing for so long has a slow statement in front; less may be this process being busy. */
const SLOW_MS = 20

/**
 * Statements of one tenant under way at once; the rest wait here. Enough to keep its lanes busy, and what another asks for
 * comes after so many answers at most, each of which this process has to read and to write on.
 */
const MAX_UNDER_WAY = 16

/** As many statements as a held up lane counts for more. */
const HELD_UP_LOAD = 1000

interface Lane {
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

interface Work {
  readonly tenant: Tenant
  readonly statement: Statement
  readonly values: readonly unknown[] | undefined
  readonly resolve: (result: Result<never>) => void
  readonly reject: (error: Error) => void
}

/** Opens lanes as they are needed, at most `max`. A tenant never uses all of them at once, whatever it asks for. */
export function createLanes(
  config: () => pg.ClientConfig,
  max: number,
  prepared: boolean,
  turns: EventLoopTurns,
): Lanes {
  const lanes = new Set<Lane>()
  const queue = createFairQueue({ places: Number.POSITIVE_INFINITY, share: MAX_UNDER_WAY })
  let underWay = 0
  let ended: (() => void) | undefined

  const finish = (lane: Lane, tenant: Tenant) => {
    lane.underWay -= 1
    const left = (lane.tenants.get(tenant) ?? 1) - 1
    if (left === 0) lane.tenants.delete(tenant)
    else lane.tenants.set(tenant, left)
    lane.progress = performance.now()
    underWay -= 1
    queue.release(tenant)
    if (underWay === 0) ended?.()
  }

  /** Nothing new comes to the lane; what is under way on it finishes first. */
  const retire = (lane: Lane) => {
    if (lanes.delete(lane)) lane.client.end()
  }

  const perform = (lane: Lane, { tenant, statement, values, resolve, reject }: Work) => {
    if (lane.refusal) {
      finish(lane, tenant)
      reject(translateError(lane.refusal))
      return
    }
    send(lane.client, prepared, statement, values, (outcome) => {
      if (spoilsConnection(outcome)) retire(lane)
      finish(lane, tenant)
      if (outcome instanceof Error) {
        reject(translateError(outcome))
      } else {
        turns.hand(tenant, outcome.rows.length, () => resolve(outcome))
      }
    })
  }

  const start = (work: Work) => {
    const { tenant } = work
    const lane = pick(lanes, max, tenant) ?? open(lanes, config())
    if (lane.underWay === 0) lane.progress = performance.now()
    lane.underWay += 1
    lane.tenants.set(tenant, (lane.tenants.get(tenant) ?? 0) + 1)
    if (lane.waiting) lane.waiting.push(() => perform(lane, work))
    else perform(lane, work)
  }

  return {
    query: <Row>(tenant: Tenant, statement: Statement, values?: readonly unknown[]) =>
      new Promise<Result<Row>>((resolve, reject) => {
        if (ended) throw new Error('a statement came after the end of its pool')
        underWay += 1
        queue.acquire(tenant, () => start({ tenant, statement, values, resolve, reject }))
      }),
    load: () => ({ connections: lanes.size, statements: underWay }),
    heldUp(tenant) {
      const bound = isBound(lanes, max, tenant)
      if (lanes.size < max && !bound) return false
      for (const lane of lanes) {
        if ((!bound || lane.tenants.has(tenant)) && !isHeldUp(lane)) return false
      }
      return true
    },
    end: async () => {
      await new Promise<void>((resolve) => {
        ended = resolve
        if (underWay === 0) resolve()
      })
      await Promise.all([...lanes].map((lane) => lane.client.end()))
    },
  }
}

function open(lanes: Set<Lane>, config: pg.ClientConfig): Lane {
  const client = new PipelinedClient(config)
  const lane: Lane = { client, waiting: [], refusal: undefined, underWay: 0, tenants: new Map(), progress: 0 }
  lanes.add(lane)
  client.once('end', () => lanes.delete(lane))
  client.connect((error: Error | undefined) => {
    const waiting = lane.waiting ?? []
    lane.waiting = undefined
    lane.refusal = error
    if (error) lanes.delete(lane)
    for (const go of waiting) go()
  })
  return lane
}

function isHeldUp(lane: Lane): boolean {
  return lane.underWay > 0 && performance.now() - lane.progress > SLOW_MS
}

/** Whether the tenant has statements under way on all lanes but one, so that it has to do with those: the last is for others. */
function isBound(lanes: ReadonlySet<Lane>, max: number, tenant: Tenant): boolean {
  if (tenant === undefined || max === 1) return false
  let used = 0
  for (const lane of lanes) if (lane.tenants.has(tenant)) used += 1
  return used >= max - 1
}

/** The lane with the least to do, best one that is not held up; undefined when a new one should take the statement. */
function pick(lanes: ReadonlySet<Lane>, max: number, tenant: Tenant): Lane | undefined {
  const bound = isBound(lanes, max, tenant)
  let best: Lane | undefined
  let least = Number.POSITIVE_INFINITY
  for (const lane of lanes) {
    if (bound && !lane.tenants.has(tenant)) continue
    if (lane.underWay === 0) return lane
    const load = isHeldUp(lane) ? lane.underWay + HELD_UP_LOAD : lane.underWay
    if (load >= least) continue
    best = lane
    least = load
  }
  return lanes.size < max && !bound ? undefined : best
}
