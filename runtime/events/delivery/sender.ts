import { events as views } from '../../../generated/events.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Seals } from '../../platform/secrets.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { currentSpan, type SpanStart } from '../../tracing/span.ts'
import type { Outbound, OutboundResult } from '../outbound/outbound.ts'
import { openSecrets, signBody } from '../outbound/signing.ts'
import { type StandardKeys, standardHeaders, standardKeys } from '../outbound/standard-webhooks.ts'
import { secretContext } from '../webhook-endpoints/secrets.ts'
import type { LeasedAttempt } from './queries/attempts.ts'

export interface SenderOptions {
  readonly environment: Environment
  readonly outbound: Outbound
  readonly seals: Seals
  readonly clock: Clock
}

/**
 * Makes one attempt. Rejects if the signal aborts, or if the endpoint's secret cannot be unsealed.
 *
 * @param injected failure that is simulated, for the header.
 */
export type Send = (claimed: LeasedAttempt, signal: AbortSignal, injected?: string) => Promise<OutboundResult>

/** Returns the headers of an attempt, under the names that they have in the event's version. */
function headersOf(
  claimed: LeasedAttempt,
  signature: string,
  further: Readonly<Record<string, string>>,
  injected: string | undefined,
): Record<string, string> {
  const names = views[claimed.event_version]?.[claimed.event_type]?.headers ?? {}
  // Only the tenant gets back what its request carried.
  const tracestate = currentSpan()?.tracestate
  const named = (name: string) => names[name] ?? name
  return {
    'Content-Type': 'application/json',
    [named('Service-Signature')]: signature,
    [named('Service-Event-Id')]: claimed.event_id,
    [named('Service-Delivery-Attempt')]: String(claimed.attempt),
    ...further,
    ...(tracestate && { tracestate }),
    ...(injected && { 'Service-Injected-Fault': injected }),
  }
}

const MAX_OPEN_SECRETS = 1000

/** Caches values by key. Clears the cache when it is full. */
function createCache<T>(): (key: string, make: () => T) => T {
  const values = new Map<string, T>()
  return (key, make) => {
    const known = values.get(key)
    if (known !== undefined) return known
    const value = make()
    if (values.size >= MAX_OPEN_SECRETS) values.clear()
    values.set(key, value)
    return value
  }
}

/** Creates the function that sends rendered events, signed with every secret that is valid at that time. */
export function createSender({ environment, outbound, clock, ...options }: SenderOptions): Send {
  const { seals } = options
  const [secretOnce, keysOnce] = [createCache<string>(), createCache<StandardKeys>()]
  const cached: Pick<Seals, 'unseal'> = {
    unseal: (sealed, context) =>
      secretOnce(`${context} ${sealed.toString('latin1')}`, () => seals.unseal(sealed, context)),
  }
  return async (claimed, signal, injected) => {
    const { tenant_id, endpoint_id, url, body } = claimed
    const context = secretContext(environment, tenant_id, endpoint_id)
    const secrets = openSecrets(cached, context, claimed, clock.service(environment))
    const seconds = Math.floor(clock.machine() / 1000)
    const keysOf = (secret: string) =>
      keysOnce(`${context} ${secret}`, () => standardKeys(seals, context, secret))
    const further =
      claimed.signature === 'standard_webhooks'
        ? standardHeaders(secrets.map(keysOf), claimed.event_id, body, seconds)
        : {}
    const headers = headersOf(claimed, signBody(secrets, body, seconds), further, injected)
    return outbound.post({ url, headers, body, signal })
  }
}

/** Returns the span of an attempt. */
export const spanOfAttempt = ({
  event_type,
  event_id,
  endpoint_id,
  attempt,
  tenant_id,
}: LeasedAttempt): SpanStart => ({
  name: `deliver ${event_type}`,
  kind: 'consumer',
  attributes: {
    'svc.event_id': event_id,
    'svc.endpoint_id': endpoint_id,
    'svc.delivery_attempt': attempt,
    'svc.tenant_id': tenant_id,
  },
})
