/**
 * Connections of simulated machines. Each statement waits until the scheduler picks it, and only then goes to
 * PostgreSQL. A statement that waits for a lock is parked. PostgreSQL decides this, so the order is the same each time.
 */
import { AsyncResource } from 'node:async_hooks'
import pg from 'pg'
import { currentMachine, type Machine, runOn } from './machines.ts'
import { outsiders } from './watch.ts'

type Settle = (error: Error | null, result?: unknown) => void

/** pg's own members that are used here; pg declares types only for its public interface. */
interface ClientInside {
  readonly processID?: number
  readonly connection: NodeJS.EventEmitter & { readonly stream: { destroy(): void } }
}

/** A statement, or the start of the connection. */
interface Waiting {
  /** Name or text, for people. */
  readonly label: string
  /** Sends it, and calls back when PostgreSQL has answered and has released what it releases. */
  send(answered: Settle): void
  /** Hands the answer to the machine. */
  readonly settle: Settle
  readonly lockMs: number | undefined
  /** Whether it waits for nobody, and changes nothing that other connections can notice. */
  readonly isPrivate: boolean
}

/** A statement in PostgreSQL. */
export interface Parked {
  readonly statement: Waiting
  /** Simulated time at which its wait for a lock ends. */
  until: number
  isLate: boolean
  /** Settles when PostgreSQL answers. */
  readonly answered: Promise<void>
  answer?: { readonly error: Error | null; readonly result: unknown }
}

/** One connection of a machine. */
export interface Lane {
  readonly number: number
  readonly machine: Machine
  readonly queue: Waiting[]
  /** In PostgreSQL, and waits for a lock there. */
  parked: Parked | undefined
  readonly pid: () => number | undefined
  /** How long its transaction waits for a lock, in milliseconds. */
  lockMs: number | undefined
  /** Ends it because its machine is dead. */
  drop(): void
  /** Ends it, and the machine notices. */
  cut(): void
}

const LOCK_TIMEOUT = /(?<=^|; )SET LOCAL lock_timeout = '(\d+)(ms|s)'/
const PRIVATE = /^(?:BEGIN|SET LOCAL|SELECT (?:set_config|pg_logical_emit_message)\()(?!.*\bFROM\b)/s
const IMPURE = /\b(?:clock_timestamp|now)\(\)|\brandom\(\)/
const TIME = "current_setting('simulation.now')::timestamptz"

const lanes = new Map<pg.Client, Lane>()
let numbers = 0

export const allLanes = (): readonly Lane[] => [...lanes.values()]

/** Replaces the time limits of locks and the clock of PostgreSQL, which run in real time, by simulated ones. */
function purify(text: string): {
  readonly text: string
  readonly lockMs?: number
  readonly isImpure: boolean
} {
  const limit = LOCK_TIMEOUT.exec(text)
  const bare = text.replace(LOCK_TIMEOUT, 'SET LOCAL lock_timeout = 0')
  const isImpure = IMPURE.test(bare)
  return {
    text: isImpure ? bare.replaceAll(/\b(?:clock_timestamp|now)\(\)/g, TIME) : bare,
    isImpure,
    ...(limit && { lockMs: Number(limit[1]) * (limit[2] === 's' ? 1000 : 1) }),
  }
}

/** Settles when the connection is ready again: then PostgreSQL has released the locks of a failed statement. */
function whenReady(inside: ClientInside, error: Error, answered: Settle): void {
  const { connection } = inside
  const done = () => {
    connection.off('readyForQuery', done)
    connection.off('end', done)
    answered(error)
  }
  connection.on('readyForQuery', done)
  connection.on('end', done)
}

const labelOf = (name: string | undefined, text: string) => name || text.replaceAll(/\s+/g, ' ').slice(0, 40)

/**
 * Lets the statements of machines wait for the scheduler.
 *
 * @param impurities returns the simulated time and a number from 0 to 1, for a statement that asks PostgreSQL for them.
 * @returns a function that ends this.
 */
export function takeConnections(
  impurities: () => { readonly now: string; readonly chance: number },
): () => void {
  const proto = pg.Client.prototype as unknown as Record<
    'query' | 'connect' | 'end',
    (...given: unknown[]) => unknown
  >
  const { query, connect, end } = proto
  const { Pool } = pg
  // Simulated time passes quickly: idle connections would be closed and opened again and again.
  pg.Pool = class extends Pool {
    constructor(config?: pg.PoolConfig) {
      super({ ...config, idleTimeoutMillis: 0 })
    }
  }

  const laneOf = (client: pg.Client, machine: Machine): Lane => {
    const known = lanes.get(client)
    if (known) return known
    numbers += 1
    const inside = client as unknown as ClientInside
    const lane: Lane = {
      number: numbers,
      machine,
      queue: [],
      parked: undefined,
      pid: () => inside.processID,
      lockMs: undefined,
      drop() {
        lanes.delete(client)
        inside.connection.removeAllListeners()
        inside.connection.on('error', () => {}) // the machine is dead
        inside.connection.stream.destroy()
      },
      cut() {
        lanes.delete(client)
        runOn(machine, () => inside.connection.stream.destroy())
      },
    }
    lanes.set(client, lane)
    client.once('end', () => lanes.delete(client))
    return lane
  }

  proto.connect = function (this: pg.Client, callback?: unknown) {
    if (outsiders.has(this)) return connect.call(this, callback)
    const machine = currentMachine()
    if (!machine) throw new Error('code outside of the machines opens a connection')
    // It would end while the process is suspended, and then end a socket at a moment that no seed decides.
    Object.assign(this, { _connectionTimeoutMillis: 0 })
    const lane = laneOf(this, machine)
    return enqueue(lane, callback as Settle | undefined, {
      label: 'connect',
      send: (answered) => connect.call(this, (error: Error | null) => answered(error, this)),
      ...{ lockMs: undefined, isPrivate: false },
    })
  }

  proto.end = function (this: pg.Client, callback?: unknown) {
    const lane = lanes.get(this)
    if (!lane) return end.call(this, callback)
    const ended = new Promise<void>((resolve) => {
      // A connection that is lost has ended, too.
      enqueue(lane, () => resolve(), {
        label: 'end',
        send: (answered) => end.call(this, () => answered(null)),
        ...{ lockMs: undefined, isPrivate: false },
      })
    })
    return typeof callback === 'function' ? void ended.then(() => callback()) : ended
  }

  proto.query = function (this: pg.Client, config: unknown, values?: unknown, callback?: unknown) {
    const lane = lanes.get(this)
    if (!lane) return query.call(this, config, values, callback)
    const inside = this as unknown as ClientInside
    const given = typeof config === 'string' ? { text: config } : (config as { text: string; name?: string })
    const { text, lockMs, isImpure } = purify(given.text)
    const settle = [values, callback, (config as { callback?: unknown }).callback].find(
      (each) => typeof each === 'function',
    ) as Settle | undefined
    const list = Array.isArray(values) ? values : undefined
    return enqueue(lane, settle, {
      ...{ label: labelOf(given.name, text), lockMs, isPrivate: PRIVATE.test(text) },
      send: (answered) => {
        if (lockMs !== undefined || /^(BEGIN|COMMIT|ROLLBACK)\b/.test(text)) lane.lockMs = lockMs
        const done: Settle = (error, result) =>
          error ? whenReady(inside, error, answered) : answered(null, result)
        const sendIt = () => {
          if (typeof config === 'string') query.call(this, text, list, done)
          else query.call(this, Object.assign(config as object, { text, callback: done }))
        }
        if (isImpure) {
          const { now, chance } = impurities()
          query.call(
            this,
            `SELECT set_config('simulation.now', '${now}', false), setseed(${chance})`,
            () => {},
          )
        }
        sendIt()
      },
    })
  }
  return () => {
    Object.assign(proto, { query, connect, end })
    pg.Pool = Pool
    lanes.clear()
    numbers = 0
  }
}

function enqueue(lane: Lane, settle: Settle | undefined, statement: Omit<Waiting, 'settle'>): unknown {
  if (settle) {
    lane.queue.push({ ...statement, settle: AsyncResource.bind(settle) })
    return undefined
  }
  return new Promise((resolve, reject) => {
    const settled: Settle = (error, result) => (error ? reject(error) : resolve(result))
    lane.queue.push({ ...statement, settle: AsyncResource.bind(settled) })
  })
}
