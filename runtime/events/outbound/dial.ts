/** One request and its answer, within a deadline: with the first of several addresses that takes a connection. */

import { AnswerReader } from './answer-reader.ts'
import type { Connection, Connections, Holder, Place } from './connections.ts'
import type { Destination } from './destination.ts'
import { type Failure, failureOf, lateIn, type Phase } from './failures.ts'
import type { Answered } from './outbound.ts'

/** Addresses of one name that are tried, and how long each but the last has to take a connection. */
const MAX_ADDRESSES = 4
const CONNECT_MS = 2500

/** One request to the first of the addresses, all of them checked, that takes a connection. */
export async function dial(
  connections: Connections,
  destination: Destination,
  addresses: readonly string[],
  message: string,
  deadline: Deadline,
): Promise<Ending> {
  const last = Math.min(addresses.length, MAX_ADDRESSES) - 1
  for (let at = 0; ; at += 1) {
    const connectMs = at < last ? CONNECT_MS : undefined
    const { secure, port, name } = destination
    const place = { secure, port, name, address: addresses[at]! }
    const work = { connections, place, message, deadline, connectMs }
    let ending = await requestOnce({ ...work, fresh: false })
    if (again(ending) === 'fresh') ending = await requestOnce({ ...work, fresh: true })
    if (again(ending) !== 'elsewhere' || at >= last || deadline.passed) return ending
  }
}

function again(ending: Ending): 'fresh' | 'elsewhere' | undefined {
  return 'again' in ending ? ending.again : undefined
}

export interface OneRequest {
  readonly connections: Connections
  readonly place: Place
  /** The request, as it goes on the wire. */
  readonly message: string
  readonly deadline: Deadline
  /** Milliseconds for the connection alone, where another address could be tried. */
  readonly connectMs: number | undefined
  /** Whether a connection that was kept will not do. */
  readonly fresh: boolean
}

/** What came of a request. */
export type Ending =
  | Omit<Answered, 'durationMs'>
  | (Failure & {
      /** Whether to try again, since nothing came of it: on a `fresh` connection, or with another address (`elsewhere`). */
      readonly again: 'fresh' | 'elsewhere' | undefined
    })

/**
 * One request and its answer with one address. Settles when the body of the answer has ended or is cut, when it fails,
 * or when the deadline stops it. A connection whose answer was not read to its end is closed.
 */
export function requestOnce(work: OneRequest): Promise<Ending> {
  const { connections, place, message, deadline, connectMs, fresh } = work
  return new Promise((resolve) => {
    const reader = new AnswerReader()
    let before: Phase | undefined
    let settled = false
    let connecting: NodeJS.Timeout | undefined
    const phase = (): Phase => before ?? (reader.answered ? 'reading' : 'waiting')

    const settle = (ending: Ending, keptSeconds: number) => {
      if (settled) return
      settled = true
      clearTimeout(connecting)
      connections.give(connection, keptSeconds)
      resolve(ending)
    }
    const fail = (failure: Failure, again?: 'fresh' | 'elsewhere') => settle({ ...failure, again }, 0)
    const failWith = (error: Error) => {
      const failure = failureOf(error, phase())
      // A connection that the other end gave up while it lay idle; the request may well not have been seen.
      const stale = kept !== undefined && failure.kind === 'connection' && !reader.begun
      fail(failure, stale ? 'fresh' : phase() === 'connecting' ? 'elsewhere' : undefined)
    }
    const answer = (keptSeconds: number) =>
      settle({ status: reader.status, body: reader.body, ...reader.hints }, keptSeconds)

    const holder: Holder = {
      connected: () => {
        before = place.secure ? 'handshake' : undefined
        clearTimeout(connecting)
      },
      secured: () => {
        before = undefined
      },
      received: (bytes) => {
        const step = reader.read(bytes)
        if (typeof step === 'object') fail(step)
        else if (step !== 'more') answer(step === 'cut' ? 0 : reader.keptSeconds)
      },
      ended: () => {
        if (reader.end() === 'complete') answer(0)
        else if (before === undefined) failWith(new Error('the other end closed the connection'))
      },
      failed: failWith,
      closed: () => failWith(new Error('the connection was closed')),
    }
    const kept = fresh ? undefined : connections.take(place, holder)
    const connection: Connection = kept ?? connections.open(place, holder)
    if (!kept) {
      before = 'connecting'
      if (connectMs !== undefined) {
        connecting = setTimeout(() => fail(lateIn('connecting'), 'elsewhere'), connectMs)
      }
    }
    deadline.stopWith(() => fail(lateIn(phase())))
    if (!settled) connection.socket.write(message)
  })
}
/** One limit of time over several steps, of which one is under way. */
export interface Deadline {
  readonly passed: boolean
  /** Names how the step that begins now is stopped; called at once when it is too late already. */
  stopWith(stop: () => void): void
  /** There is nothing left to stop. */
  end(): void
}

/**
 * Cheaper than an AbortSignal for each step, of which the hot path would need several.
 *
 * @param signal passes the deadline before its time
 */
export function startDeadline(ms: number, signal: AbortSignal | undefined): Deadline {
  let stop = () => {}
  let passed = false
  const pass = () => {
    passed = true
    stop()
  }
  const timer = setTimeout(pass, ms)
  signal?.addEventListener('abort', pass)
  if (signal?.aborted) passed = true
  return {
    get passed() {
      return passed
    },
    stopWith: (next) => {
      stop = next
      if (passed) stop()
    },
    end: () => {
      stop = () => {}
      clearTimeout(timer)
      signal?.removeEventListener('abort', pass)
    },
  }
}
