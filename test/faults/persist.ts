import { expect } from 'vitest'
import { until } from '../support/programs.ts'
import type { Answer, Call, Send } from '../support/service.ts'

/** Answers of requests that were, and those for which the same request was sent again. */
export interface Counts {
  answers: number
  repeated: number
}

/** Speaks as a client that persists: it repeats a request that may not have happened, with the same key. Any other answer counts. */
export function persist(send: Send, counts: Counts = { answers: 0, repeated: 0 }): Send {
  return async (path, call: Call = {}) => {
    const headers = { 'Idempotency-Key': crypto.randomUUID(), ...call.headers }
    return until(`an answer of ${path}`, async () => {
      const answer = await send(path, { ...call, headers })
      if (!isPassing(answer)) {
        counts.answers += 1
        expect([path, answer.status < 500, answer.text]).toEqual([path, true, answer.text])
        return answer
      }
      counts.repeated += 1
      expect([path, answer.headers.has('Retry-After')]).toEqual([path, true])
      return undefined
    })
  }
}

const isPassing = ({ status, body }: Answer): boolean =>
  status === 503 || (status === 409 && body.error.code === 'idempotency_in_progress')
