/** The receivers of webhooks that the service calls. */
import type { Timers } from './clockwork/timers.ts'
import { CLOSED, LATE, type Peer, type PeerFailure } from './network.ts'

/** A delivery that a receiver has answered with 2xx. */
export interface Delivery {
  readonly event: string
  readonly body: string
}

/** A request to a receiver, with its answer. */
export interface Arrival extends Delivery {
  readonly attempt: number
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds since the epoch. */
  readonly at: number
  /** 0 without an answer. */
  readonly status: number
  readonly answer: string
  /** What the service must store if there is no answer. */
  readonly failure: string | undefined
}

export interface Receivers {
  /** Deliveries by host name, in order of arrival. */
  readonly received: ReadonlyMap<string, readonly Delivery[]>
  /** Requests by host name, in order of arrival. */
  readonly arrivals: ReadonlyMap<string, readonly Arrival[]>
  readonly peerOf: (host: string) => Peer
}

/** Statuses on both sides of each boundary of what is delivered, repeated or refused, and requests without an answer. */
const CODES: readonly (number | PeerFailure['failure'])[] = [
  ...([200, 201, 299, 300, 307, 399, 400, 404, 'timeout', 407, 408, 409, 410, 411, 'connection'] as const),
  ...[424, 425, 426, 428, 429, 430, 499, 500, 599, 600],
]

/**
 * How the receiver of a host answers an attempt of its event with this number, from 0, which arrived so many `times`
 * before.
 */
type Habit = (event: number, attempt: number, times: number) => number | PeerFailure['failure']

const HABITS: Readonly<Record<string, Habit>> = {
  /** Fails up to three times, and wants every fifth event never. */
  flaky: (event, attempt) => {
    if (event % 5 === 4) return 400
    return attempt <= event % 4 ? [500, 429, 502][attempt - 1]! : 204
  },
  broken: () => 'timeout',
  /** Fails at times, which blocks later events of the same object. */
  keyed: (event, attempt) => (event % 4 === 1 && attempt === 1 ? 500 : 200),
  /** Fails twice at times, which blocks all later events. */
  stuck: (event, attempt) => (event % 5 === 2 && attempt <= 2 ? 500 : 200),
  jammed: (event, attempt) => (event % 5 === 2 && attempt <= 2 ? 500 : 200),
  codes: (event, attempt) => (attempt === 1 ? CODES[event % CODES.length]! : 204),
  /** Says nothing at first. */
  silent: (_, attempt) => (attempt === 1 ? 'timeout' : 204),
  /** Refuses every third event once. */
  mixed: (event, _, times) => (event % 3 === 0 && times === 0 ? 400 : 200),
  patient: () => 500,
  /** Fails at first. */
  own: (event, attempt) => (event === 0 && attempt === 1 ? 500 : 200),
  slow: () => 200,
}

/** How long a slow receiver takes. */
const SLOW_MS = 6000

/** Receivers of webhooks: they answer 200, or as their host is in the habit of. @param refuses whether one fails now. */
export function createReceivers(timers: Timers, refuses: (attempt: number) => boolean): Receivers {
  const received = new Map<string, Delivery[]>()
  const arrivals = new Map<string, Arrival[]>()
  const listOf = <T>(lists: Map<string, T[]>, host: string): T[] => {
    const list = lists.get(host) ?? []
    lists.set(host, list)
    return list
  }
  return {
    received,
    arrivals,
    peerOf:
      (host) =>
      ({ headers, body }) => {
        const attempt = Number(headers['Service-Delivery-Attempt'])
        const event = headers['Service-Event-Id'] ?? (JSON.parse(body) as { id: string }).id
        const list = listOf(arrivals, host)
        const known = [...new Set(list.map((each) => each.event)), event].indexOf(event)
        const kind = host.split('.')[1]!
        const habit = HABITS[kind.replace(/\d+$/, '')]
        const times = list.filter((each) => each.event === event).length
        const given = habit ? habit(known, attempt, times) : refuses(attempt) ? 500 : 200
        const status = typeof given === 'number' ? given : 0
        const answer = JSON.stringify({ answer: list.length })
        const failure = given === 'timeout' ? LATE : given === 'connection' ? CLOSED : undefined
        list.push({ event, body, attempt, headers, at: timers.now, status, answer, failure })
        if (typeof given === 'string') return { failure: given }
        const isExtra = headers['Service-Injected-Fault'] === 'duplicate'
        if (status < 300 && !isExtra) listOf(received, host).push({ event, body })
        return { status, body: answer, ...(kind === 'slow' && { afterMs: SLOW_MS }) }
      },
  }
}
