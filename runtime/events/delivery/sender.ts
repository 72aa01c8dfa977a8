import { events as views } from '../../../generated/events.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Seals } from '../../platform/secrets.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import type { Outbound, OutboundResult } from '../outbound/outbound.ts'
import { openSecrets, signBody } from '../outbound/signing.ts'
import { secretContext } from '../webhook-endpoints/secrets.ts'
import type { LeasedAttempt } from './queries/attempts.ts'

export interface SenderOptions {
  readonly environment: Environment
  readonly outbound: Outbound
  readonly seals: Seals
  readonly clock: Clock
}

/** Makes one attempt. Rejects when the signal aborts, or when the endpoint's secret does not open. */
export type Send = (claimed: LeasedAttempt, signal: AbortSignal) => Promise<OutboundResult>

/** The headers of an attempt, under the names that the event's version has for them. */
function headersOf(claimed: LeasedAttempt, signature: string): Record<string, string> {
  const names = views[claimed.event_version]?.[claimed.event_type]?.headers ?? {}
  const named = (name: string) => names[name] ?? name
  return {
    'Content-Type': 'application/json',
    [named('Service-Signature')]: signature,
    [named('Service-Event-Id')]: claimed.event_id,
    [named('Service-Delivery-Attempt')]: String(claimed.attempt),
  }
}

/** Secrets that stay unsealed between attempts. */
const MAX_OPEN_SECRETS = 1000

/** Unseals each value once while it is in use. */
function cacheUnsealed(seals: Seals): Pick<Seals, 'unseal'> {
  const open = new Map<string, string>()
  return {
    unseal(sealed, context) {
      const key = `${context} ${sealed.toString('latin1')}`
      const known = open.get(key)
      if (known !== undefined) return known
      const secret = seals.unseal(sealed, context)
      if (open.size >= MAX_OPEN_SECRETS) open.clear()
      open.set(key, secret)
      return secret
    },
  }
}

/** Sends events as they were rendered, signed with all secrets that sign at the time. */
export function createSender({ environment, outbound, clock, ...options }: SenderOptions): Send {
  const seals = cacheUnsealed(options.seals)
  return async (claimed, signal) => {
    const { tenant_id, endpoint_id, url, body } = claimed
    const context = secretContext(environment, tenant_id, endpoint_id)
    const secrets = openSecrets(seals, context, claimed, clock.service(environment))
    const signature = signBody(secrets, body, Math.floor(clock.machine() / 1000))
    return outbound.post({ url, headers: headersOf(claimed, signature), body, signal })
  }
}
