import type pg from 'pg'
import { PipelinedClient, send } from './connection.ts'
import type { Result, Statement } from './database.ts'
import { isUnavailable, spoilsConnection, translateError } from './errors.ts'

/** Connections that single statements share: each is sent at once, behind those that are under way. */
export interface Lanes {
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Result<Row>>
  /** Whether a slow statement stands in front of every lane, so that a quick one had better go elsewhere. */
  heldUp(): boolean
  /** Connections, and statements under way on them. */
  load(): { readonly connections: number; readonly statements: number }
  /** Ends the connections when all that is under way has been answered. */
  end(): Promise<void>
}

/** A lane that has answered nothing for so long has a slow statement in front; less may be this process being busy. */
const SLOW_MS = 20

/** As many statements as a held up lane counts for more. */
const HELD_UP_LOAD = 1000

interface Lane {
  readonly client: PipelinedClient
  /** Statements that wait for the connection to be made; undefined once it is, or was refused. */
  waiting: (() => void)[] | undefined
  refusal: Error | undefined
  underWay: number
  /** When it last answered, or got work after having none. */
  progress: number
}

interface Work {
  readonly statement: Statement
  readonly values: readonly unknown[] | undefined
  readonly resolve: (result: Result<never>) => void
  readonly reject: (error: Error) => void
}

/** Opens lanes as they are needed, at most `max`. */
export function createLanes(config: () => pg.ClientConfig, max: number, prepared: boolean): Lanes {
  const lanes = new Set<Lane>()
  let underWay = 0
  let ended: (() => void) | undefined

  const finish = (lane: Lane) => {
    lane.underWay -= 1
    lane.progress = performance.now()
    underWay -= 1
    if (underWay === 0) ended?.()
  }

  /** Nothing new comes to the lane; what is under way on it finishes first. */
  const retire = (lane: Lane) => {
    if (lanes.delete(lane)) lane.client.end()
  }

  const perform = (lane: Lane, { statement, values, resolve, reject }: Work) => {
    if (lane.refusal) {
      finish(lane)
      reject(translateError(lane.refusal))
      return
    }
    send(lane.client, prepared, statement, values, (outcome) => {
      finish(lane)
      if (outcome instanceof Error) {
        if (spoilsConnection(outcome) || isUnavailable(outcome)) retire(lane)
        reject(translateError(outcome))
      } else {
        resolve(outcome)
      }
    })
  }

  return {
    query: <Row>(statement: Statement, values?: readonly unknown[]) =>
      new Promise<Result<Row>>((resolve, reject) => {
        if (ended) throw new Error('a statement came after the end of its pool')
        const lane = pick(lanes, max) ?? open(lanes, config())
        if (lane.underWay === 0) lane.progress = performance.now()
        lane.underWay += 1
        underWay += 1
        const work = { statement, values, resolve, reject }
        if (lane.waiting) lane.waiting.push(() => perform(lane, work))
        else perform(lane, work)
      }),
    load: () => ({ connections: lanes.size, statements: underWay }),
    heldUp: () => lanes.size >= max && [...lanes].every(isHeldUp),
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
  const lane: Lane = { client, waiting: [], refusal: undefined, underWay: 0, progress: 0 }
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

/** The lane with the least to do, best one that is not held up; undefined when a new one should take the statement. */
function pick(lanes: ReadonlySet<Lane>, max: number): Lane | undefined {
  let best: Lane | undefined
  let least = Number.POSITIVE_INFINITY
  for (const lane of lanes) {
    if (lane.underWay === 0) return lane
    const load = isHeldUp(lane) ? lane.underWay + HELD_UP_LOAD : lane.underWay
    if (load >= least) continue
    best = lane
    least = load
  }
  return lanes.size < max ? undefined : best
}
