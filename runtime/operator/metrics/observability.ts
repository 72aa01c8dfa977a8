import type { Router } from 'express'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { unreadableRequests } from '../../api/errors/refuse-client.ts'
import type { Traffic } from '../../api/exchange.ts'
import { createTraffic, type TrafficOptions } from '../../api/traffic.ts'
import type { NetworkTally } from '../../cards/processor/tally.ts'
import type { OpenDatabase } from '../../database/open/open-database.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Settings } from '../../platform/settings.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import type { PausedSender } from '../../tenants/factors/wrong-codes.ts'
import type { LimiterState } from '../../tenants/limits/redis-limiter.ts'
import type { UsageMeter } from '../../tenants/usage/meter.ts'
import { countSetAside } from '../../work/set-aside-queries.ts'
import { listHeldUp } from '../held-up-payouts.ts'
import type { DeliverySources } from './delivery-metrics.ts'
import { createDeploymentReads } from './deployment-metrics.ts'
import { watchLoad } from './load.ts'
import { type CertificateSettings, readCertificates } from './machine-metrics.ts'
import { createMetrics, type NotedRequests } from './metrics.ts'
import { createObservabilityPages } from './pages.ts'
import { databasesAnswer } from './readiness.ts'
import { shareRead } from './shared-read.ts'
import { watchStorage } from './storage.ts'
import type { WalletSources } from './wallet-metrics.ts'
import type { WorkSource } from './work-metrics.ts'

export interface ObservabilityParts {
  readonly settings: Pick<Settings, 'load' | 'timeouts' | 'requestLog' | 'operatorToken' | 'dataDir'> &
    CertificateSettings
  readonly clock: Clock
  readonly database: Pick<OpenDatabase, 'control' | 'sandbox' | 'live'>
  readonly log: Logger
  /** Undefined if the node does not share its limits. */
  readonly limiter: (() => LimiterState) | undefined
  readonly deliveries: DeliverySources
  readonly wallets: () => WalletSources
  readonly work: WorkSource
  /** Absent if changes are not counted. */
  readonly usage?: Pick<UsageMeter, 'droppedTouches'> | undefined
  /** Whether the process is about to stop. */
  readonly isLeaving: () => boolean
}

/** Monitoring of a running process. */
export interface Observability {
  /** Starts monitoring the requests of an environment. */
  watch(environment: Environment, refuse: TrafficOptions['refuse']): Traffic
  /** `/metrics` and `/readyz` of the console listener. */
  readonly pages: Router
  readonly registry: Registry
  isReady(): Promise<boolean>
  /** Returns why new requests are shed; undefined if they are accepted. */
  overloaded(): string | undefined
  /** Shows the counts of the network listener. */
  watchNetwork(tally: NetworkTally): void
  /** Counts the requests that an environment's request log drops. */
  watchRequestLog(environment: Environment, requestLog: NotedRequests): void
  /** Counts and logs that the codes of a sender are rejected for a while after too many wrong ones. */
  senderPaused(sender: PausedSender): void
  /** Reads the certificates of the listeners again. */
  renewCertificates(): void
  stop(): void
}

export function createObservability(parts: ObservabilityParts): Observability {
  const { settings, database, log, usage, isLeaving } = parts
  const { control, sandbox, live } = database
  const pools = { control: control.load, sandbox: sandbox.load, live: live.load }
  const load = watchLoad({ limits: settings.load })
  const traffic: Partial<Record<Environment, Traffic>> = {}
  const storage = watchStorage(control, log)
  const isReady = async () =>
    !isLeaving() && (await databasesAnswer([control, sandbox, live])) && (await storage.hasRoom())
  const requestLogs: Partial<Record<Environment, NotedRequests>> = {}
  const share = <T>(what: string, read: () => Promise<T>) => shareRead(what, read, log)
  let pausedSenders = 0
  let network: NetworkTally | undefined
  const { tls: _tls, networkTls: _networkTls, ...wallets } = settings
  const { applePass: _applePass, ...listeners } = settings
  const expiries = (of: CertificateSettings) => readCertificates(of, (words) => log.warn(words))
  const ofWallets = expiries(wallets)
  const readListeners = () => expiries(listeners)
  let ofListeners = readListeners()
  const registry = createMetrics({
    ...parts,
    traffic,
    pausedMembers: () => pausedSenders,
    requestLogs,
    droppedTouches: () => usage?.droppedTouches() ?? 0,
    storageFull: storage.isFull,
    load,
    pools,
    unreadable: unreadableRequests,
    setAside: share('rows that were set aside', () => countSetAside(control)),
    heldUpPayouts: share('payouts that are held up', () => listHeldUp(control)),
    network: () => network,
    isReady,
    deployment: createDeploymentReads(database, parts.clock, share),
    certificates: () => [...ofListeners, ...ofWallets],
    dataDir: settings.dataDir,
  })
  return {
    isReady,
    overloaded: load.overloaded,
    watchNetwork(tally) {
      network = tally
    },
    registry,
    pages: createObservabilityPages({ registry, isReady, token: settings.operatorToken }),
    watch(environment, refuse) {
      const watched = createTraffic({
        environment,
        log,
        requestLog: settings.requestLog,
        mostRequests: settings.load.requests,
        answerMs: settings.timeouts.answerMs,
        overloaded: load.overloaded,
        databaseFailed: storage.failed,
        crowdedBy: (tenantId) =>
          pools[environment]().waiting > settings.load.queue && database[environment].isCrowdedBy(tenantId),
        refuse,
      })
      traffic[environment] = watched
      return watched
    },
    watchRequestLog(environment, requestLog) {
      requestLogs[environment] = requestLog
    },
    senderPaused({ until, ...sender }) {
      pausedSenders += 1
      const pause = { ...sender, until: new Date(until).toISOString() }
      log.warn(pause, 'Too many wrong codes; further codes of the sender are rejected until the given time')
    },
    renewCertificates() {
      ofListeners = readListeners()
    },
    stop() {
      load.stop()
      for (const each of Object.values(traffic)) each.stop()
    },
  }
}
