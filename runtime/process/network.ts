import type { RequestListener } from 'node:http'
import { createNetwork } from '../cards/network/create-network.ts'
import { isLiveSimulator } from '../cards/network-simulator/identity.ts'
import { answerInTime } from '../cards/processor/in-time.ts'
import { createNetworkListener } from '../cards/processor/listener.ts'
import { openRegistry } from '../cards/processor/registry.ts'
import { createNetworkCounter } from '../cards/processor/tally.ts'
import type { Observability } from '../operator/metrics/observability.ts'
import { createSeals } from '../platform/secrets.ts'
import { createTenantFacts } from '../tenants/keys/tenant-facts.ts'
import type { OpenRoom } from './card-room.ts'
import type { Foundation } from './foundation.ts'
import { type IsoPort, openIsoPort } from './iso-port.ts'

export interface NetworkRole {
  readonly listener: RequestListener
  /** The port for ISO 8583 messages. Absent if the setting is. */
  readonly iso: IsoPort | undefined
  /** Reads certificates, keys and facts about tenants again, after a change. */
  refresh(): Promise<void>
}

/** Opens the network listener of a process with the role `network`, and the port for ISO 8583 messages if it is set. */
export async function openNetworkRole(
  foundation: Foundation,
  { room }: OpenRoom,
  observability: Observability,
): Promise<NetworkRole> {
  const { settings, database, clock, log } = foundation
  if (!room) throw new Error('The role `network` needs the directory of card numbers.')
  const processors = await openRegistry(
    database.control,
    database.pepper,
    log,
    (certificate) => !settings.networkSimulator && isLiveSimulator(certificate),
  )
  const counter = createNetworkCounter()
  observability.watchNetwork(counter)
  const tenants = createTenantFacts(database.control)
  const decided = createNetwork({
    ...foundation,
    tenants,
    digest: room.digest,
    cards: room.directory,
    rates: settings.rates,
    seals: createSeals(database.pepper),
  })
  const network = answerInTime(decided, {
    counter,
    deadlineMs: settings.timeouts.networkMs,
    mostRequests: settings.load.requests,
    overloaded: observability.overloaded,
    log,
  })
  const listener = createNetworkListener({
    network,
    processors,
    counter,
    deadlineMs: settings.timeouts.networkMs,
    isReady: observability.isReady,
    now: clock.machine,
    requestLog: settings.requestLog,
    log,
  })
  const refresh = () => {
    tenants.forget()
    return processors.refresh()
  }
  const iso = await openIsoPort({ settings, network, processors, counter, clock, log })
  return { listener, iso, refresh }
}
