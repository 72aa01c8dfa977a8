/** The world around the machines of a universe: everything that the service calls, and devices that call it. */
import type { Sanctions } from '../../runtime/cards/sanctions/list-in-use.ts'
import { openGoogleSigner } from '../../runtime/passes/wallets/render/google/signer.ts'
import type { createRandom } from '../../runtime/platform/random.ts'
import type { Settings } from '../../runtime/platform/settings.ts'
import { AUTHORIZER_PREFIX, type Authorizers, createAuthorizers } from './authorizations/authorizers.ts'
import { createBank, type SimulatedBank } from './bank.ts'
import { type Blocks, createBlocks } from './chain/blocks.ts'
import { accountOf, createNode, NODE_URL, PAYER } from './chain/node.ts'
import { createOddNodes, ODD_NODES } from './chain/odd-nodes.ts'
import type { ClientParts } from './client.ts'
import type { Scheduler } from './clockwork/scheduler.ts'
import type { Peer } from './network.ts'
import { createReceivers, type Receivers } from './peers.ts'
import { createListedWallets, DOOMED, type ListedWallets } from './sanctions.ts'
import { BANK_URL } from './service.ts'
import { createDevices, type Devices, PUSH_URL } from './wallets/devices.ts'
import { createGoogle, GOOGLE_ORIGIN, type SimulatedGoogle } from './wallets/google.ts'
import type { Weather } from './weather.ts'

export interface World {
  readonly bank: SimulatedBank
  readonly receivers: Receivers
  readonly authorizers: Authorizers
  readonly blocks: Blocks
  readonly google: SimulatedGoogle
  readonly devices: Devices
  readonly wallets: ListedWallets
  readonly peerOf: (url: URL) => Peer
}

export interface WorldParts {
  readonly settings: Settings
  readonly sanctions: Sanctions
  /** Names of the merchants. */
  readonly names: readonly string[]
  readonly scheduler: Pick<Scheduler, 'timers' | 'sleep'>
  readonly weather: Weather
  /** Returns the random numbers of a part. */
  readonly random: (what: string) => ReturnType<typeof createRandom>
  /** Called later: clients need the network, which needs the world. */
  readonly clients: () => ClientParts
}

/** A receiver accepts this attempt of a delivery, so that no endpoint is disabled. */
const ACCEPTED_ATTEMPT = 4

export function createWorld({
  settings,
  sanctions,
  names,
  scheduler,
  weather,
  random,
  clients,
}: WorldParts): World {
  const { timers, sleep } = scheduler
  const bank = createBank(timers, random('bank'))
  const receivers = createReceivers(
    timers,
    (attempt) => attempt < ACCEPTED_ATTEMPT && weather.strikes('error'),
  )
  const authorizers = createAuthorizers(random('authorizers'), sleep)
  const blocks = createBlocks(timers, random('blocks'), weather, PAYER)
  const google = createGoogle(openGoogleSigner(settings))
  const devices = createDevices(clients)
  const doomed = new Set(names.map((name) => accountOf(`${name}${DOOMED}`)))
  const wallets = createListedWallets(
    sanctions,
    (account) => doomed.has(account),
    () => timers.now,
  )
  const fixed: Readonly<Record<string, Peer>> = {
    [BANK_URL]: bank.answer,
    [NODE_URL]: createNode(blocks, random('node'), weather, timers),
    [GOOGLE_ORIGIN]: google.answer,
    [PUSH_URL]: devices.push,
  }
  const oddNodes = createOddNodes(fixed[NODE_URL]!)
  return {
    ...{ bank, receivers, authorizers, blocks, google, devices, wallets },
    peerOf: ({ origin, host }) =>
      fixed[origin] ??
      (host.endsWith(ODD_NODES) ? oddNodes(host) : undefined) ??
      (host.startsWith(AUTHORIZER_PREFIX) ? authorizers.answer : receivers.peerOf(host)),
  }
}
