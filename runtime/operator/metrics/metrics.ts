import { collectDefaultMetrics, Registry } from 'prom-client'
import type { RequestLog, Traffic } from '../../api/exchange.ts'
import type { NetworkTally } from '../../cards/processor/tally.ts'
import type { PoolLoad } from '../../database/pool/pool.ts'
import type { LimiterState } from '../../tenants/limits/redis-limiter.ts'
import type { SetAsideCount } from '../../work/set-aside-queries.ts'
import { addDeliveries, type DeliverySources } from './delivery-metrics.ts'
import { addDeployment, type DeploymentReads } from './deployment-metrics.ts'
import { addDurations } from './durations.ts'
import type { Load } from './load.ts'
import { addCertificates, addDisk, addVerification, type CertificateExpiry } from './machine-metrics.ts'
import { addNetwork } from './network-metrics.ts'
import { addPayouts, type HeldUpSource } from './payout-metrics.ts'
import { addCounter, addGauge, tally } from './series.ts'
import { addWallets, type WalletSources } from './wallet-metrics.ts'
import { addWork, type WorkSource } from './work-metrics.ts'

export type NotedRequests = Pick<RequestLog, 'dropped' | 'waitingBytes'>

/** Sources of the metrics. They are read only when the metrics are requested. */
export interface MetricSources {
  readonly traffic: Readonly<Record<string, Traffic>>
  readonly load: Load
  /** Undefined if the node does not share its limits. */
  readonly limiter: (() => LimiterState) | undefined
  readonly pools: Readonly<Record<string, () => PoolLoad>>
  readonly unreadable: () => ReadonlyMap<string, number>
  readonly deliveries: DeliverySources
  readonly wallets: () => WalletSources
  readonly work: WorkSource
  /** Returns the number of pauses that this process started after too many wrong codes. */
  readonly pausedMembers: () => number
  /** Request logs by environment. */
  readonly requestLogs: Readonly<Record<string, NotedRequests>>
  /** Returns how many touched changes were dropped because the buffer was full. */
  readonly droppedTouches: () => number
  /**
   * Returns the rows that workers have set aside in the whole deployment, or undefined if the database does not
   * respond.
   */
  readonly setAside: () => Promise<readonly SetAsideCount[] | undefined>
  /** Whether the disk of the database is full, as far as this process knows. */
  readonly storageFull: () => boolean
  readonly heldUpPayouts: HeldUpSource
  /** Undefined if the process has no network listener. */
  readonly network: () => NetworkTally | undefined
  readonly isReady: () => Promise<boolean>
  readonly deployment: DeploymentReads
  certificates(): readonly CertificateExpiry[]
  /** Absolute path. */
  readonly dataDir: string
}

/** Creates the metrics. Labels never contain tenants, keys or raw request paths. */
export function createMetrics(sources: MetricSources): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  addRequests(registry, sources)
  addLimits(registry, sources)
  addRequestLogs(registry, sources)
  addLoad(registry, sources)
  addDeliveries(registry, sources.deliveries)
  addWallets(registry, sources.wallets)
  addWork(registry, sources.work)
  addPayouts(registry, sources.heldUpPayouts)
  addNetwork(registry, sources.network)
  addDeployment(registry, sources.deployment)
  addVerification(registry, sources.deployment.verifications)
  addCertificates(registry, sources.certificates, sources.deployment.processorCertificates)
  addDisk(registry, sources.dataDir)
  addGauge(
    registry,
    'svc_ready',
    '1 while the process can answer requests, as /readyz does, otherwise 0.',
    [],
    async () => [[{}, (await sources.isReady()) ? 1 : 0]],
  )
  addGauge(
    registry,
    'svc_set_aside_rows',
    'Rows in the whole deployment that workers set aside after a failure.',
    ['environment', 'work'],
    async () => (await sources.setAside())?.map(({ rows, ...labels }) => [labels, rows] as const),
  )
  return registry
}

function addRequests(registry: Registry, { traffic, unreadable, droppedTouches }: MetricSources): void {
  /** Read on each request, because an environment is added when its listener is created. */
  const environments = () => Object.entries(traffic)
  const tallies = () => environments().flatMap(([, each]) => [...each.tallies()])
  addCounter(
    registry,
    'svc_requests_total',
    'Completed requests under /v1.',
    ['environment', 'operation', 'version', 'status'],
    () =>
      tallies().flatMap(({ environment, operation, version, statuses }) =>
        [...statuses].map(([status, count]) => [{ environment, operation, version, status }, count] as const),
      ),
  )
  addDurations(
    registry,
    'svc_request_duration_seconds',
    'Time from the end of the request headers to the start of the response.',
    ['environment', 'operation'],
    () => tallies().map((each) => [{ environment: each.environment, operation: each.operation }, each]),
  )
  addGauge(registry, 'svc_requests_under_way', 'Requests in progress.', ['environment'], () =>
    environments().map(([environment, each]) => [{ environment }, each.underWay.size]),
  )
  addCounter(
    registry,
    'svc_requests_aborted_total',
    'Requests whose client disconnected before the response.',
    ['environment'],
    () => environments().map(([environment, each]) => [{ environment }, each.aborted()]),
  )
  addCounter(
    registry,
    'svc_requests_expired_total',
    'Requests that got 503 because they exceeded their time limit.',
    ['environment'],
    () => environments().map(([environment, each]) => [{ environment }, each.expired()]),
  )
  addCounter(
    registry,
    'svc_unreadable_total',
    'Connections closed because their data was not valid HTTP, too slow or too large.',
    ['reason'],
    () => tally(unreadable(), 'reason'),
  )
  addCounter(
    registry,
    'svc_touched_changes_dropped_total',
    'Version changes that affected requests but were not counted because the buffer was full.',
    [],
    () => [[{}, droppedTouches()]],
  )
}

function addRequestLogs(registry: Registry, { requestLogs }: MetricSources): void {
  addCounter(
    registry,
    'svc_request_log_dropped_total',
    'Requests that were not written to the request log because the tenant sent too many, the buffer was full or the database rejected them.',
    ['environment', 'reason'],
    () =>
      Object.entries(requestLogs).flatMap(([environment, { dropped }]) =>
        tally(dropped, 'reason', { environment }),
      ),
  )
  addGauge(
    registry,
    'svc_request_log_waiting_bytes',
    'Approximate memory of requests that wait to be written to the request log.',
    ['environment'],
    () =>
      Object.entries(requestLogs).map(
        ([environment, each]) => [{ environment }, each.waitingBytes()] as const,
      ),
  )
}

function addLimits(registry: Registry, { traffic, limiter, pausedMembers }: MetricSources): void {
  addCounter(
    registry,
    'svc_factor_pauses_total',
    'Pauses of second factors after too many wrong codes.',
    [],
    () => [[{}, pausedMembers()]],
  )
  addCounter(
    registry,
    'svc_rate_limited_total',
    'Requests rejected because a rate or concurrency limit was exceeded, by bucket.',
    ['environment', 'bucket'],
    () =>
      Object.entries(traffic).flatMap(([environment, { limited }]) =>
        tally(limited, 'bucket', { environment }),
      ),
  )
  if (!limiter) return
  const state = limiter
  const add = (kind: typeof addCounter, name: string, help: string, read: (state: LimiterState) => number) =>
    kind(registry, name, help, [], () => [[{}, read(state())]])
  add(
    addGauge,
    'svc_limits_exact',
    '1 while nodes share limits through Redis, 0 while each node enforces its part.',
    (s) => (s.exact ? 1 : 0),
  )
  add(addGauge, 'svc_limits_nodes', 'Live nodes according to the last read from Redis.', (s) => s.nodes)
  add(
    addCounter,
    'svc_limits_fallbacks_total',
    'Number of times that Redis became unavailable.',
    (s) => s.fallbacks,
  )
  add(
    addCounter,
    'svc_limits_alone_total',
    'Requests checked against the share of this node, because the shared limit was unavailable.',
    (s) => s.alone,
  )
}

function addLoad(registry: Registry, { traffic, load, pools, storageFull }: MetricSources): void {
  addCounter(
    registry,
    'svc_requests_shed_total',
    'Requests rejected because of overload.',
    ['environment', 'reason'],
    () =>
      Object.entries(traffic).flatMap(([environment, { shed }]) => tally(shed, 'reason', { environment })),
  )
  addGauge(
    registry,
    'svc_overloaded',
    '1 while new requests are rejected because of overload, otherwise 0.',
    [],
    () => [[{}, load.overloaded() === undefined ? 0 : 1]],
  )
  addGauge(registry, 'svc_storage_full', '1 while the disk of the database is full, otherwise 0.', [], () => [
    [{}, storageFull() ? 1 : 0],
  ])
  addGauge(registry, 'svc_event_loop_late_seconds', 'Event loop delay of the last sample.', [], () => [
    [{}, load.delayMs() / 1000],
  ])
  addGauge(registry, 'svc_heap_used_ratio', 'Heap usage as a fraction of the V8 limit.', [], () => [
    [{}, load.heap()],
  ])
  addGauge(
    registry,
    'svc_database_pool',
    'Load of a database pool: open connections, connections in transactions (busy), waiting transactions, single statements in progress, long statements in progress and waiting.',
    ['pool', 'of'],
    () =>
      Object.entries(pools).flatMap(([pool, read]) =>
        Object.entries(read()).map(([of, value]) => [{ pool, of }, value] as const),
      ),
  )
}
