/** Exchanges messages within their time limit, for all listeners of card networks. */
import type { Logger } from 'pino'
import type { Environment } from '../../platform/environment.ts'
import type { Network } from '../network/network.ts'
import {
  type NetworkAnswer,
  type NetworkKind,
  type NetworkMessage,
  outcomeOf,
  unavailableAnswer,
} from './message-routes.ts'
import type { NetworkCounter, UnavailableReason } from './tally.ts'

/**
 * Shares of the time limit after which the exchange must have ended, and after which `unavailable` is sent. The time
 * between them is for the acknowledgement of a commit that came in time; the rest is for the way of the answer.
 */
export const EXCHANGE_SHARE = 0.9
const ANSWER_SHARE = 0.95

export interface TimelyParts {
  readonly network: Network
  readonly counter: Pick<NetworkCounter, 'underWay'>
  /** Time in which a message is answered, in milliseconds. */
  readonly deadlineMs: number
  /** Number of messages in progress above which further ones are answered with `unavailable` at once. */
  readonly mostRequests: number
  /** Returns why the process is overloaded; undefined if it is not. */
  readonly overloaded: () => string | undefined
  readonly log: Logger
}

/** An answer, and why it is `unavailable`. */
export interface TimelyAnswer {
  readonly answer: NetworkAnswer
  readonly reason?: UnavailableReason
}

/** @param beganAt arrival of the message on the clock of `performance.now()`. */
export type TimelyExchange = (
  environment: Environment,
  kind: NetworkKind,
  message: NetworkMessage,
  beganAt: number,
) => Promise<TimelyAnswer>

/** Creates an exchange that never rejects, and resolves before the deadline in every case. */
export function createTimelyExchange(parts: TimelyParts): TimelyExchange {
  return (environment, kind, message, beganAt) => {
    const unavailable = (reason: UnavailableReason) => ({
      answer: unavailableAnswer(kind, message.message_id),
      reason,
    })
    if (parts.counter.underWay() > parts.mostRequests || parts.overloaded() !== undefined)
      return Promise.resolve(unavailable('overload'))
    return new Promise((resolve) => {
      const at = (share: number) => beganAt + parts.deadlineMs * share
      let late = false
      const timer = setTimeout(() => {
        late = true
        resolve(unavailable('deadline'))
      }, at(ANSWER_SHARE) - performance.now())
      parts.network.exchange(environment, kind, message, at(EXCHANGE_SHARE)).then(
        (answer) => {
          clearTimeout(timer)
          const outcome = outcomeOf(answer)
          if (outcome === 'unavailable') resolve({ answer, reason: 'exchange' })
          else resolve({ answer })
          if (late && outcome !== 'unavailable')
            parts.log.warn({ environment, kind, outcome }, 'network message decided after its deadline')
        },
        (err: unknown) => {
          clearTimeout(timer)
          resolve(unavailable('failed'))
          parts.log.error({ err, environment, kind }, 'network message failed')
        },
      )
    })
  }
}
