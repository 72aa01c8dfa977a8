/** Translations between versions, and those of their changes that made a difference to a request. */
import type { Translate } from 'dateline/runtime'
import { translateNoting } from 'dateline/runtime/touched'
import type { ApiService, Exchange, ReceivedRequest } from './exchange.ts'

/** A value in the other version. What made a difference is counted with the answer. */
export function translate({ touched }: ReceivedRequest, turn: Translate, value: unknown): unknown {
  return translateNoting(turn, value, (change) => touched.add(change))
}

/** The same of values by name, as parameters and headers are. */
export const translateNamed = <Named extends object>(
  exchange: ReceivedRequest,
  turn: Translate | undefined,
  values: Named,
): Named => (turn ? (translate(exchange, turn, values) as Named) : values)

/** Counts what made a difference, as the request is answered. What members do on pages is in the newest version, and not counted. */
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
