/** Starts the service on a simulated machine: the same handlers, pipeline and workers as in production. */
import type { RequestListener } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Sanctions } from '../../runtime/cards/sanctions/list-in-use.ts'
import type { CardSignIn } from '../../runtime/database/migrate/card-role.ts'
import { asRole, type Roles } from '../../runtime/database/migrate/roles.ts'
import type { OpenDatabase } from '../../runtime/database/open/open-database.ts'
import { createPool } from '../../runtime/database/pool/pool.ts'
import type { Delivery } from '../../runtime/events/delivery/open-delivery.ts'
import { createWakeUps } from '../../runtime/events/emit/wake-ups.ts'
import { openChains } from '../../runtime/money/chain/open-chains.ts'
import { usdcChainsOf } from '../../runtime/money/chain/usdc-chains.ts'
import { createBank } from '../../runtime/money/payouts/bank-client.ts'
import { openGoogleSigner } from '../../runtime/passes/wallets/render/google/signer.ts'
import type { Environment } from '../../runtime/platform/environment.ts'
import type { Settings } from '../../runtime/platform/settings.ts'
import { createApis } from '../../runtime/process/apis.ts'
import { openRoom } from '../../runtime/process/card-room.ts'
import type { Foundation } from '../../runtime/process/foundation.ts'
import { startWork } from '../../runtime/process/work.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { createLimiter } from '../../runtime/tenants/limits/limiter.ts'
import type { DeclaredWorker } from '../../runtime/work/workers.ts'
import type { Network } from './network.ts'
import { GOOGLE_URLS } from './wallets/google.ts'

/** What all machines of a universe share. */
export interface Installation {
  readonly connection: pg.ClientConfig
  readonly roles: Roles
  readonly cardSignIn: CardSignIn
  readonly pepper: string
  readonly settings: Settings
  readonly log: Logger
  readonly network: Network
  readonly sanctions: Sanctions
  /** Tells the other machines about new work of a tenant; a wake-up may get lost. */
  readonly wakeOthers: (environment: Environment, tenantId: string) => void
}

export interface SimulatedService {
  readonly listeners: Readonly<Record<Environment, RequestListener>>
  readonly wake: (environment: Environment, tenantId: string) => void
  readonly workers: Delivery['workers']
  /** Workers of due work. */
  readonly queue: readonly DeclaredWorker[]
  /** Ends streams, waits for the requests for a while, and stops the workers: what a process does that is told to end. */
  stop(requests: ReadonlySet<Promise<unknown>>): Promise<void>
}

const POOL_SIZE = 12

export function openDatabase({ connection, roles, cardSignIn, pepper }: Installation): OpenDatabase {
  const pool = (name: string, config: pg.ClientConfig, flushTogether: boolean) =>
    createPool({
      connection: () => config,
      max: POOL_SIZE,
      prepared: true,
      applicationName: `svc ${name}`,
      flushTogether,
      writesControl: !flushTogether,
    })
  const control = pool('control', connection, false)
  const of = (environment: Environment) =>
    pool(environment, asRole(connection, roles[environment], pepper), true)
  const [sandbox, live] = [of('sandbox'), of('live')]
  const cards = pool('cards', cardSignIn(connection), false)
  return {
    control: { ...control, listen: () => {} },
    sandbox,
    live,
    pepper,
    cards: {
      pool: cards,
      pepper,
      ownSecret: undefined,
      previousSecret: undefined,
    },
    renew: () => {},
    close: async () => {
      await Promise.all([control, sandbox, live, cards].map((each) => each.end()))
    },
  }
}

/** How long a process that is told to end waits for its requests. */
const DRAIN_MS = 25_000

/** The address at which the simulated bank answers. */
export const BANK_URL = 'https://bank.invalid'

export async function startService(installation: Installation): Promise<SimulatedService> {
  const { settings, log, network, sanctions, wakeOthers } = installation
  let isLeaving = false
  const database = openDatabase(installation)
  const clock = createClock()
  await clock.refresh(database.control)
  const chains = await openChains(settings.chain, database.control, log)
  const wakeUps = createWakeUps()
  const signer = openGoogleSigner(settings)
  const foundation: Foundation = {
    settings,
    database,
    clock,
    log,
    baseUrls: {
      sandbox: 'http://sandbox.invalid',
      live: 'http://live.invalid',
      console: 'http://console.invalid',
    },
    outbound: { sandbox: network.outbound, live: network.outbound },
    google: { signer, outbound: network.outbound, urls: GOOGLE_URLS, close: async () => {} },
    bank: createBank({ url: BANK_URL, token: 'token', outbound: network.outbound }),
    sanctions,
    chains,
    wakeUps,
    wakeUpChannel: {
      publish(environment, tenantId) {
        wakeUps.notify(environment, tenantId)
        wakeOthers(environment, tenantId)
      },
    },
    isLeaving: () => isLeaving,
  }
  const room = await openRoom(foundation)
  const work = startWork(foundation)
  const apis = createApis({
    ...foundation,
    google: { signer },
    usdcChains: usdcChainsOf(chains.of),
    vault: room.vault,
    limiter: createLimiter(() => performance.now()),
  })
  const { workers, queue } = work
  return {
    ...{ listeners: apis.listeners, wake: wakeUps.notify, workers, queue },
    async stop(requests) {
      isLeaving = true
      await Promise.race([Promise.allSettled(requests), wait(DRAIN_MS)])
      await apis.stop()
      await work.stop()
      await room.stop()
      await database.close()
    },
  }
}
