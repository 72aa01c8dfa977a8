/** The card network's side of a test service: its messages, without the door. */
import { createCardKeys } from '../../../runtime/cards/card-keys/card-keys.ts'
import { createCardDirectory } from '../../../runtime/cards/card-keys/directory.ts'
import { createNetwork } from '../../../runtime/cards/network/create-network.ts'
import type { Network, NetworkMessages } from '../../../runtime/cards/network/network.ts'
import type { Environment } from '../../../runtime/platform/environment.ts'
import { createSeals } from '../../../runtime/platform/secrets.ts'
import { createTenantFacts } from '../../../runtime/tenants/keys/tenant-facts.ts'
import type { Tracer } from '../../../runtime/tracing/span.ts'
import type { TestService } from '../../support/service.ts'
import { strictLog } from '../../support/strict-log.ts'

/** Longer than any test takes. */
const PATIENCE_MS = 60_000

export type NetworkSend = <Kind extends keyof NetworkMessages>(
  kind: Kind,
  message: NetworkMessages[Kind][0],
  leftMs?: number,
) => Promise<NetworkMessages[Kind][1]>

/** The network as a process of its own would make it. @param outbound sends requests to tenants’ servers. */
export function createTestNetwork(
  service: TestService,
  outbound = service.outbound,
  tracer?: Tracer,
): Network {
  const { database, clock, wakeUps } = service
  const keys = createCardKeys(database.cards!, clock)
  return createNetwork({
    database,
    clock,
    outbound,
    tracer,
    log: strictLog,
    rates: { interchange: 150, networkFee: 10 },
    seals: createSeals(database.pepper),
    wakeUpChannel: { publish: wakeUps.notify },
    cards: createCardDirectory(database.cards!.pool, keys),
    tenants: createTenantFacts(database.control),
    digest: keys.digest,
  })
}

/** Speaks as the processor of an environment. */
export function openTestNetwork(service: TestService, environment: Environment = 'sandbox'): NetworkSend {
  const network = createTestNetwork(service)
  return (kind, message, leftMs = PATIENCE_MS) =>
    network.exchange(environment, kind, message, performance.now() + leftMs)
}
