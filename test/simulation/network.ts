/** The network between machines and their peers: requests and answers get lost, come late or come twice. */
import type {
  Outbound,
  OutboundRequest,
  OutboundResult,
  PeerOutbound,
} from '../../runtime/events/outbound/outbound.ts'
import type { Random } from '../../runtime/platform/random.ts'
import { currentMachine, runOn, runOutside } from './clockwork/machines.ts'
import type { Scheduler } from './clockwork/scheduler.ts'
import { STALL_MS, type Weather } from './weather.ts'

export interface PeerAnswer {
  readonly status: number
  readonly body: string
  /** How long the peer takes, in milliseconds. Default: no time. */
  readonly afterMs?: number
}

/** A peer that does not answer: it says nothing, or it closes the connection. */
export interface PeerFailure {
  readonly failure: 'timeout' | 'connection'
}

/** Answers a request of a machine, in the world. */
export type Peer = (request: OutboundRequest) => PeerAnswer | PeerFailure | Promise<PeerAnswer | PeerFailure>

/** Deadline of a request, and how long a slow answer takes. */
const DEADLINE_MS = 10_000

/** What the service stores of a request without an answer. */
export const LATE = 'no answer in time'
export const CLOSED = 'the connection was closed'

/** Longest way to the node, in milliseconds. A round asks it several questions, and rests afterwards. */
const NEAR_MS = 10

export interface Network {
  readonly outbound: Outbound & PeerOutbound
  /** Delay of one way, in milliseconds. */
  latency(): number
}

/** @param isNode whether a peer is the node of the chain: it is near, and machines hold a lease while they ask it. */
export function createNetwork(
  { sleep, timers, note }: Pick<Scheduler, 'sleep' | 'timers' | 'note'>,
  random: Random,
  weather: Weather,
  peerOf: (url: URL) => Peer | undefined,
  isNode: (url: URL) => boolean,
): Network {
  const latency = (mostMs = 60) =>
    weather.strikes('slow') ? random.between(200, 9000) : random.between(1, mostMs)

  const exchange = async (request: OutboundRequest): Promise<OutboundResult> => {
    const began = timers.now
    const url = new URL(request.url)
    const peer = peerOf(url)
    const delay = () => latency(isNode(url) ? NEAR_MS : undefined)
    const failure = async (what: string): Promise<OutboundResult> => {
      await sleep(Math.max(0, began + DEADLINE_MS - timers.now))
      note(`network: ${request.method} ${url.hostname} ${what}`)
      return { kind: 'timeout', error: LATE, durationMs: DEADLINE_MS }
    }
    const refusal = (): OutboundResult => {
      note(`network: ${url.hostname} closed the connection`)
      return { kind: 'connection', error: CLOSED, durationMs: Math.round(timers.now - began) }
    }
    await sleep(delay())
    if (!peer || weather.strikes('lost')) return failure('lost')
    if (weather.strikes('error')) {
      note(`network: ${url.hostname} is busy`)
      return { status: 503, body: '', durationMs: Math.round(timers.now - began) }
    }
    const answer = await peer(request)
    if (weather.strikes('doubled')) await peer(request)
    if ('failure' in answer) return answer.failure === 'timeout' ? failure('silent') : refusal()
    if (answer.afterMs) await sleep(answer.afterMs)
    if (weather.strikes('answerLost')) return failure('answer lost')
    await sleep(delay())
    const durationMs = Math.round(timers.now - began)
    if (durationMs > DEADLINE_MS) return failure('late')
    note(`network: ${request.method} ${url.hostname} ${answer.status}`)
    return { status: answer.status, body: answer.body, durationMs }
  }

  /** Hands the answer to the machine that asked, as soon as it may run. */
  const send = (request: OutboundRequest): Promise<OutboundResult> => {
    const machine = currentMachine()
    return new Promise((resolve, reject) => {
      const arrive = (act: () => void) => {
        if (!machine) return act()
        if (isNode(new URL(request.url)) && weather.strikes('caught')) {
          const ms = random.between(1000, STALL_MS)
          note(`${machine.name} is suspended for ${ms} ms as an answer arrives`)
          machine.stalledUntil = timers.now + ms
        }
        runOn(machine, () => {
          const timer = timers.add(() => {
            timers.remove(timer)
            act()
          }, 0)
        })
      }
      runOutside(() => exchange(request)).then(
        (answer) => arrive(() => resolve(answer)),
        (error) => arrive(() => reject(error)),
      )
    })
  }
  return {
    outbound: {
      check: async () => undefined,
      post: (request) => send({ ...request, method: 'POST' }),
      send,
      close: () => {},
    },
    latency: () => latency(),
  }
}
