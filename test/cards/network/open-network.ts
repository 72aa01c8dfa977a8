import { createCardKeys } from '../../../runtime/cards/card-keys/card-keys.ts'
import { createNetwork } from '../../../runtime/cards/network/create-network.ts'
import type { CardDirectory, Network } from '../../../runtime/cards/network/network.ts'
import { createSeals } from '../../../runtime/platform/secrets.ts'
import { readSettings } from '../../../runtime/platform/settings.ts'
import { createTenantFacts } from '../../../runtime/tenants/keys/tenant-facts.ts'
import type { TestService } from '../../support/service.ts'
import { strictLog } from '../../support/strict-log.ts'

/** Opens the network of a service, in this process. */
export function openNetwork(service: TestService, cards: CardDirectory): Network {
  const { database, clock, outbound } = service
  const { control, pepper } = database
  return createNetwork({
    database,
    clock,
    log: strictLog,
    rates: readSettings({}).rates,
    seals: createSeals(pepper),
    outbound,
    wakeUpChannel: { publish: () => {} },
    cards,
    tenants: createTenantFacts(control),
    fingerprint: createCardKeys(control, pepper, clock).fingerprint,
  })
}
