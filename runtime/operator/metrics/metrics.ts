import { collectDefaultMetrics, Histogram, type HistogramConfiguration, Registry } from 'prom-client'
import type { OperationTally, RequestLog, Traffic } from '../../api/exchange.ts'
import { DURATIONS_MS } from '../../api/traffic.ts'
import type { PoolLoad } from '../../database/pool/pool.ts'
import type { LimiterState } from '../../tenants/limits/redis-limiter.ts'
import type { SetAsideCount } from '../../work/set-aside-queries.ts'
import { addDeliveries, type DeliverySources } from './delivery-metrics.ts'
import type { Load } from './load.ts'
import { addPayouts, type HeldUpSource } from './payout-metrics.ts'
import { addCounter, addGauge, addQueriedGauge, tally } from './series.ts'
import { addWallets, type WalletSources } from './wallet-metrics.ts'
import { addWork, type WorkSource } from './work-metrics.ts'

export type NotedRequests = Pick<RequestLog, 'dropped' | 'waitingBytes'>

/** Where the numbers come from: each is asked when somebody reads the metrics, and not before. */
export interface MetricSources {
  readonly traffic: Readonly<Record<string, Traffic>>
  readonly load: Load
  /** Undefined where this node has the limits to itself. */
  readonly limiter: (() => LimiterState) | undefined
  readonly pools: Readonly<Record<string, () => PoolLoad>>
  readonly unreadable: () => ReadonlyMap<string, number>
  readonly deliveries: DeliverySources
  readonly wallets: () => WalletSources
  readonly work: WorkSource
  /** Pauses that this process began after too many wrong codes. */
  readonly pausedMembers: () => number
  /** What notes requests for their tenants to look at. */
  readonly requestLogs: Readonly<Record<string, NotedRequests>>
  /** How often a change that a request met found no room to be counted. */
  readonly droppedTouches: () => number
  /** Rows that workers have set aside, in the whole deployment; undefined if the database does not answer. */
  readonly setAside: () => Promise<readonly SetAsideCount[] | undefined>
  /** Whether the disk of the database is full, as far as this process knows. */
  readonly storageFull: () => boolean
  readonly heldUpPayouts: HeldUpSource
}

/** No label ever names a tenant, a key or a path as it was sent. */
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
  addQueriedGauge(
    registry,
    'svc_set_aside_rows',
    'Rows that workers have set aside because their work fails, in the whole deployment.',
    ['environment', 'work'],
    async () => (await sources.setAside())?.map(({ rows, ...labels }) => [labels, rows] as const),
  )
  return registry
}

function addRequests(registry: Registry, { traffic, unreadable, droppedTouches }: MetricSources): void {
  /** Asked each time: an environment is watched from when its listener is made. */
  const environments = () => Object.entries(traffic)
  const tallies = () => environments().flatMap(([, each]) => [...each.tallies()])
  addCounter(
    registry,
    'svc_requests_total',
    'Requests answered under /v1.',
    ['environment', 'operation', 'version', 'status'],
    () =>
      tallies().flatMap(({ environment, operation, version, statuses }) =>
        [...statuses].map(([status, count]) => [{ environment, operation, version, status }, count] as const),
      ),
  )
  new TalliedDurations(registry, tallies)
  addGauge(registry, 'svc_requests_under_way', 'Requests that have no answer yet.', ['environment'], () =>
    environments().map(([environment, each]) => [{ environment }, each.underWay.size]),
  )
  addCounter(
    registry,
    'svc_requests_aborted_total',
    'Requests whose client went away before the answer.',
    ['environment'],
    () => environments().map(([environment, each]) => [{ environment }, each.aborted()]),
  )
  addCounter(
    registry,
    'svc_requests_expired_total',
    'Requests that were answered 503 because they took too long.',
    ['environment'],
    () => environments().map(([environment, each]) => [{ environment }, each.expired()]),
  )
  addCounter(
    registry,
    'svc_unreadable_total',
    'Connections given up because what they sent is no HTTP, came too slowly or was too large.',
    ['reason'],
    () => tally(unreadable(), 'reason'),
  )
  addCounter(
    registry,
    'svc_touched_changes_dropped_total',
    'Changes between versions that requests met, and that are not counted: too many waited to be written.',
    [],
    () => [[{}, droppedTouches()]],
  )
}

const DURATION = 'svc_request_duration_seconds'

type DurationLabel = 'environment' | 'operation'

const DESCRIPTION: HistogramConfiguration<DurationLabel> = {
  name: DURATION,
  help: 'From the end of a request’s headers to the beginning of its answer.',
  labelNames: ['environment', 'operation'],
  buckets: DURATIONS_MS.map((ms) => ms / 1000),
}

/** A histogram over numbers that are kept elsewhere: observing through prom-client would cost more than the limiter. */
class TalliedDurations extends Histogram<DurationLabel> {
  readonly #blank = new Histogram<DurationLabel>({ ...DESCRIPTION, registers: [] })
  readonly #tallies: () => readonly OperationTally[]

  constructor(registry: Registry, tallies: () => readonly OperationTally[]) {
    super({ ...DESCRIPTION, registers: [registry] })
    this.#tallies = tallies
  }

  /** What the registry asks for first, although its types do not tell (prom-client 15.1.3, registry.js). */
  getForPromString() {
    return this.get()
  }

  override async get() {
    const described = await this.#blank.get()
    const groups = Map.groupBy(this.#tallies(), ({ environment, operation }) => `${environment} ${operation}`)
    return { ...described, values: [...groups.values()].flatMap(durationsOf) }
  }
}

/** The series of one operation, over all versions. */
function durationsOf(tallies: readonly OperationTally[]) {
  const { environment = '', operation = '' } = tallies[0] ?? {}
  const labels = { environment, operation }
  const sum = (read: (each: OperationTally) => number) =>
    tallies.reduce((total, each) => total + read(each), 0)
  let count = 0
  const buckets = [...DURATIONS_MS, Number.POSITIVE_INFINITY].map((ms, at) => {
    count += sum(({ durations }) => durations[at] ?? 0)
    const le = ms === Number.POSITIVE_INFINITY ? '+Inf' : ms / 1000
    return { metricName: `${DURATION}_bucket`, labels: { ...labels, le }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${DURATION}_sum`, labels, value: sum(({ totalMs }) => totalMs) / 1000 },
    { metricName: `${DURATION}_count`, labels, value: count },
  ]
}

function addRequestLogs(registry: Registry, { requestLogs }: MetricSources): void {
  addCounter(
    registry,
    'svc_request_log_dropped_total',
    'Requests left out of the request log: of a tenant with too many, while too much waits, or refused by the database.',
    ['environment', 'reason'],
    () =>
      Object.entries(requestLogs).flatMap(([environment, { dropped }]) =>
        tally(dropped, 'reason', { environment }),
      ),
  )
  addGauge(
    registry,
    'svc_request_log_waiting_bytes',
    'Memory, about, of requests that wait to be written to the request log.',
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
    'Pauses of members’ second factors after too many wrong codes.',
    [],
    () => [[{}, pausedMembers()]],
  )
  addCounter(
    registry,
    'svc_rate_limited_total',
    'Requests refused for want of a token or a slot, by bucket.',
    ['environment', 'bucket'],
    () =>
      Object.entries(traffic).flatMap(([environment, { limited }]) =>
        tally(limited, 'bucket', { environment }),
      ),
  )
  if (!limiter) return
  const state = limiter
  const add = (kind: typeof addGauge, name: string, help: string, read: (state: LimiterState) => number) =>
    kind(registry, name, help, [], () => [[{}, read(state())]])
  add(
    addGauge,
    'svc_limits_exact',
    '1 while nodes share limits through Redis, 0 while each gives its share.',
    (s) => (s.exact ? 1 : 0),
  )
  add(addGauge, 'svc_limits_nodes', 'Nodes that lived when Redis was last asked.', (s) => s.nodes)
  add(addCounter, 'svc_limits_fallbacks_total', 'How often Redis went away.', (s) => s.fallbacks)
  add(addCounter, 'svc_limits_alone_total', 'Requests checked by the own share.', (s) => s.alone)
}

function addLoad(registry: Registry, { traffic, load, pools, storageFull }: MetricSources): void {
  addCounter(
    registry,
    'svc_requests_shed_total',
    'Requests turned away because there was too much to do.',
    ['environment', 'reason'],
    () =>
      Object.entries(traffic).flatMap(([environment, { shed }]) => tally(shed, 'reason', { environment })),
  )
  addGauge(registry, 'svc_overloaded', '1 while new requests are turned away.', [], () => [
    [{}, load.overloaded() === undefined ? 0 : 1],
  ])
  addGauge(registry, 'svc_storage_full', '1 while the disk of the database is full.', [], () => [
    [{}, storageFull() ? 1 : 0],
  ])
  addGauge(registry, 'svc_event_loop_late_seconds', 'How late the event loop was just now.', [], () => [
    [{}, load.delayMs() / 1000],
  ])
  addGauge(registry, 'svc_heap_used_ratio', 'Part of the heap in use that V8 allows.', [], () => [
    [{}, load.heap()],
  ])
  addGauge(
    registry,
    'svc_database_pool',
    'Connections, those that a transaction uses, transactions that wait, single statements under way, long ones under way and waiting.',
    ['pool', 'of'],
    () =>
      Object.entries(pools).flatMap(([pool, read]) =>
        Object.entries(read()).map(([of, value]) => [{ pool, of }, value] as const),
      ),
  )
}
