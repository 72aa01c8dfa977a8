/** The receivers of webhooks that the service calls. */
import type { Timers } from './clockwork/timers.ts'
import type { Peer } from './network.ts'

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
  readonly status: number
  readonly answer: string
}

export interface Receivers {
  /** Deliveries by host name, in order of arrival. */
  readonly received: ReadonlyMap<string, readonly Delivery[]>
  /** Requests by host name, in order of arrival. */
  readonly arrivals: ReadonlyMap<string, readonly Arrival[]>
  readonly peerOf: (host: string) => Peer
}

/** How the receiver of a host answers the attempt of its event with this number, from 0. */
const HABITS: Readonly<Record<string, (event: number, attempt: number) => number>> = {
  /** Fails up to three times, and wants every fifth event never. */
  flaky: (event, attempt) => {
    if (event % 5 === 4) return 400
    return attempt <= event % 4 ? [500, 429, 502][attempt - 1]! : 204
  },
  broken: () => 500,
  /** Fails at times, which blocks later events of the same object. */
  keyed: (event, attempt) => (event % 4 === 1 && attempt === 1 ? 500 : 200),
}

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
        const habit = HABITS[host.split('.')[1]!]
        const status = habit ? habit(known, attempt) : refuses(attempt) ? 500 : 200
        const answer = JSON.stringify({ answer: list.length })
        list.push({ event, body, attempt, headers, at: timers.now, status, answer })
        if (status < 300) listOf(received, host).push({ event, body })
        return { status, body: answer }
      },
  }
}
