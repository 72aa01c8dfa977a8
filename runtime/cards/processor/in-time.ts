/** Answers every message of a network in time, even if the part that decides is late or fails. */
import type { Logger } from 'pino'
import { type Network, unavailableAnswer } from '../network/network.ts'
import { outcomeOf } from './message-routes.ts'
import type { NetworkCounter, UnavailableReason } from './tally.ts'

/**
 * Share of the time limit after which a decision must be made and committed. `GRACE_SHARE` of it is for the
 * acknowledgement of a commit that came in time. The rest is for the way of the answer.
 */
export const DECISION_SHARE = 0.9
const GRACE_SHARE = 0.05

export interface InTimeParts {
  readonly counter: Pick<NetworkCounter, 'underWay' | 'countUnavailable'>
  /** Time in which a message is answered, in milliseconds. */
  readonly deadlineMs: number
  /** Number of messages in progress above which further ones are answered with `unavailable` at once. */
  readonly mostRequests: number
  /** Returns why the process is overloaded; undefined if it is not. */
  readonly overloaded: () => string | undefined
  readonly log: Logger
}

/**
 * Wraps a network. The answer is `unavailable` at once if the process is overloaded or the network fails, and shortly
 * after the deadline if the network has not answered by then. Never rejects.
 */
export function answerInTime(network: Network, parts: InTimeParts): Network {
  const { counter, deadlineMs, mostRequests, overloaded, log } = parts
  return {
    exchange: (environment, kind, message, deadline) =>
      new Promise((resolve) => {
        const giveUp = (reason: UnavailableReason) => {
          counter.countUnavailable(reason)
          resolve(unavailableAnswer(kind, message.message_id))
        }
        if (counter.underWay() > mostRequests || overloaded() !== undefined) {
          giveUp('overload')
          return
        }
        let late = false
        const expire = () => {
          late = true
          log.warn({ environment, kind }, 'network message not decided in time')
          giveUp('deadline')
        }
        const timer = setTimeout(expire, deadline + deadlineMs * GRACE_SHARE - performance.now())
        network.exchange(environment, kind, message, deadline).then(
          (answer) => {
            clearTimeout(timer)
            const outcome = outcomeOf(answer)
            if (!late && outcome === 'unavailable') counter.countUnavailable('exchange')
            if (late && outcome !== 'unavailable')
              log.warn({ environment, kind, outcome }, 'network message decided after its deadline')
            resolve(answer)
          },
          (err: unknown) => {
            clearTimeout(timer)
            log.error({ err, environment, kind }, 'network message failed')
            if (!late) giveUp('failed')
          },
        )
      }),
  }
}
