import type { RequestListener } from 'node:http'
import { ISO_LIMITS } from '../cards/iso8583/connection.ts'
import { DIALECTS } from '../cards/iso8583/dialects.ts'
import { createIsoListener } from '../cards/iso8583/listener.ts'
import type { Network } from '../cards/network/network.ts'
import { createNetworkListener } from '../cards/processor/listener.ts'
import { openRegistry } from '../cards/processor/registry.ts'
import { createNetworkCounter } from '../cards/processor/tally.ts'
import type { Observability } from '../operator/metrics/observability.ts'
import type { Foundation } from './foundation.ts'
import { type IsoPort, openIsoPort } from './iso-port.ts'

export interface NetworkRole {
  readonly listener: RequestListener
  /** The port for ISO 8583 messages. Absent if the setting is. */
  readonly iso: IsoPort | undefined
  /** Reads certificates and keys again, after a change. */
  refresh(): Promise<void>
}

/** Opens the network listener of a process with the role `network`, and the port for ISO 8583 messages if it is set. */
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
  const { isoPort } = settings
  const iso =
    isoPort === undefined
      ? undefined
      : await openIsoPort(
          settings,
          isoPort,
          createIsoListener({
            network,
            processors,
            counter,
            dialect: DIALECTS[settings.isoDialect],
            deadlineMs: settings.timeouts.networkMs,
            limits: ISO_LIMITS,
            now: clock.machine,
            log,
          }),
        )
  return { listener, iso, refresh: processors.refresh }
}
