import { plainAddress } from './address.ts'
import { forbidden } from './errors.ts'
import type { Confirmed, Parsed, Service } from './exchange.ts'
import { fingerprintOf } from './idempotency.ts'

/** A fresh second factor where the operation asks for one; for a repeated request too. */
export function requireFactor(exchange: Parsed, service: Service): Confirmed | Promise<Confirmed> {
  return exchange.route.operation.extensions.factor ? checkFactor(exchange, service) : (exchange as Confirmed)
}

async function checkFactor(
  exchange: Parsed,
  { factors, environment, consoleUrl }: Service,
): Promise<Confirmed> {
  const { credential, route, request } = exchange
  const subject = {
    tenantId: credential.tenant.id,
    environment,
    keyId: credential.key.id,
    operation: route.operation.id,
    requestHash: fingerprintOf(exchange),
  }
  const sent = request.headers['service-factor']
  const origin = { requestId: exchange.requestId, ip: plainAddress(exchange.address) }
  if (sent !== undefined && (await factors.accept(String(sent), subject, origin)))
    return exchange as Confirmed
  const message =
    sent === undefined
      ? 'This operation needs a fresh second factor: a code in Service-Factor, or what the page at challenge_url shows.'
      : 'The second factor is wrong, used or not for this request; get another at challenge_url.'
  const token = await factors.challenge(subject)
  throw forbidden('factor_required', message, { challenge_url: `${consoleUrl}/challenges/${token}` })
}
