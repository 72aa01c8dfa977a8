/** Translates values between versions, and records the version changes that altered them. */
import type { Translate } from 'dateline/runtime'
import { translateNoting } from 'dateline/runtime/touched'
import type { ApiService, Exchange, ReceivedRequest } from './exchange.ts'

/** Translates a value. Records the changes that altered it, which are counted when the request is answered. */
export function translate({ touched }: ReceivedRequest, turn: Translate, value: unknown): unknown {
  return translateNoting(turn, value, (change) => touched.add(change))
}

/** Translates values by name, such as parameters and headers. Records changes as `translate` does. */
export const translateNamed = <Named extends object>(
  exchange: ReceivedRequest,
  turn: Translate | undefined,
  values: Named,
): Named => (turn ? (translate(exchange, turn, values) as Named) : values)

/** Counts the changes that altered a request. Not for members: pages use the newest version. */
export function countTouched(exchange: Exchange, { usage, environment }: ApiService): void {
  const { touched, credential, route, member } = exchange
  if (touched.size === 0 || !credential || !route || member) return
  usage?.touch(environment, {
    space: credential.space,
    version: exchange.answerVersion.name,
    named: exchange.request.headers['service-version'] !== undefined,
    id: exchange.requestId,
    operation: route.operation.id,
    changes: touched,
    at: exchange.now,
  })
}
