import { plainAddress } from './address.ts'
import { forbidden } from './errors.ts'
import type { Exchange, Service } from './exchange.ts'
import { fingerprintOf } from './idempotency.ts'

/** Step 11: a fresh second factor where the operation asks for one; for a repeated request too. */
export function requireFactor(exchange: Exchange, service: Service): void | Promise<void> {
  if (exchange.route!.operation.extensions.factor) return demandFactor(exchange, service)
}

async function demandFactor(
  exchange: Exchange,
  { factors, environment, consoleUrl }: Service,
): Promise<void> {
  const { credential, route, request } = exchange
  const subject = {
    tenantId: credential!.tenant.id,
    environment,
    keyId: credential!.key.id,
    operation: route!.operation.id,
    requestHash: fingerprintOf(exchange),
  }
  const sent = request.headers['service-factor']
  const origin = { requestId: exchange.requestId, ip: plainAddress(exchange.address) }
  if (sent !== undefined && (await factors.accept(String(sent), subject, origin))) return
  const message =
    sent === undefined
      ? 'This operation needs a fresh second factor: a code in Service-Factor, or what the page at challenge_url shows.'
      : 'The second factor is wrong, used or not for this request; get another at challenge_url.'
  const token = await factors.challenge(subject)
  throw forbidden('factor_required', message, { challenge_url: `${consoleUrl}/challenges/${token}` })
}
