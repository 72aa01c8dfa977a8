/** Authorization endpoints of merchants: they approve, decline, answer too late or not usably. */
import type { Random } from '../../../runtime/platform/random.ts'
import type { Peer, PeerAnswer } from '../network.ts'

/** The answer that an endpoint has for a question. A question that arrives twice gets the same answer. */
export interface AuthorizationAnswer {
  /** Undefined if the answer is not usable. */
  readonly given:
    | { readonly approved: boolean; readonly amount?: number; readonly decline_reason?: string }
    | undefined
  readonly delayMs: number
}

export interface Authorizers {
  /** Answers by the identifier of the decision. */
  readonly answers: ReadonlyMap<string, AuthorizationAnswer>
  readonly answer: Peer
}

/** Host names of endpoints start with this. */
export const AUTHORIZER_PREFIX = 'authorize.'

/** The stand-in rule of each merchant. */
export const STAND_IN = { default_action: 'approve', default_max_amount: 400 } as const

/** How long an endpoint takes at most: longer than the service waits. */
const SLOW_MS = 9000

interface Question {
  readonly id: string
  readonly data: { readonly card_transaction: { readonly amounts: { readonly requested: number } } }
}

/** @param sleep waits in simulated time. */
export function createAuthorizers(random: Random, sleep: (ms: number) => Promise<void>): Authorizers {
  const answers = new Map<string, AuthorizationAnswer>()
  const decide = ({ data }: Question): AuthorizationAnswer => {
    const { requested } = data.card_transaction.amounts
    const delayMs = random.chance(0.2) ? random.between(1000, SLOW_MS) : 0
    if (random.chance(0.08)) return { given: undefined, delayMs }
    if (random.chance(0.2)) return { given: { approved: false, decline_reason: 'suspected_fraud' }, delayMs }
    const isPartial = requested > 1 && random.chance(0.15)
    const amount = isPartial ? { amount: random.between(1, requested) } : {}
    return { given: { approved: true, ...amount }, delayMs }
  }
  return {
    answers,
    async answer({ body }): Promise<PeerAnswer> {
      const question = JSON.parse(body) as Question
      const known = answers.get(question.id) ?? decide(question)
      answers.set(question.id, known)
      if (known.delayMs > 0) await sleep(known.delayMs)
      return { status: 200, body: JSON.stringify(known.given ?? { approved: 'perhaps' }) }
    },
  }
}
