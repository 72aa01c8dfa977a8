import type { RequestListener } from 'node:http'
import type { Network } from '../cards/network/network.ts'
import { createNetworkListener } from '../cards/processor/listener.ts'
import { openRegistry } from '../cards/processor/registry.ts'
import { createNetworkCounter } from '../cards/processor/tally.ts'
import type { Observability } from '../operator/metrics/observability.ts'
import type { Foundation } from './foundation.ts'

export interface NetworkRole {
  readonly listener: RequestListener
  /** Reads certificates and keys again, after a change. */
  refresh(): Promise<void>
}

/** Opens the network listener of a process with the role `network`. */
export async function openNetworkRole(
  { settings, database, clock, log }: Pick<Foundation, 'settings' | 'database' | 'clock' | 'log'>,
  network: Network,
  observability: Observability,
): Promise<NetworkRole> {
  const processors = await openRegistry(database.control, database.pepper)
  const counter = createNetworkCounter()
  observability.watchNetwork(counter)
  const listener = createNetworkListener({
    network,
    processors,
    counter,
    deadlineMs: settings.timeouts.networkMs,
    mostRequests: settings.load.requests,
    overloaded: observability.overloaded,
    isReady: observability.isReady,
    now: clock.machine,
    requestLog: settings.requestLog,
    log,
  })
  return { listener, refresh: processors.refresh }
}
