import type { Environment } from '../platform/environment.ts'
import { parseNetworks } from '../platform/networks.ts'
import type { Settings } from '../platform/settings.ts'
import { createOutbound, type Outbound } from './outbound.ts'

/** The way out of each environment. Private networks are open, where they are at all, to the sandbox alone. */
export function openOutbound({
  webhookAllow,
  dnsServers,
}: Pick<Settings, 'webhookAllow' | 'dnsServers'>): Readonly<Record<Environment, Outbound>> {
  return {
    sandbox: createOutbound({ environment: 'sandbox', dnsServers, allow: parseNetworks(webhookAllow) }),
    live: createOutbound({ environment: 'live', dnsServers }),
  }
}
