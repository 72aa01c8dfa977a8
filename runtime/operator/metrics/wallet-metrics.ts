import type { Registry } from 'prom-client'
import type { UpdateWorkerStats } from '../../passes/wallets/sync/apple/worker.ts'
import type { FollowerStats } from '../../passes/wallets/sync/google/follower.ts'
import { addCounter, addGauge, type Labels } from './series.ts'

/** What keeps wallets at what passes are, of this process, by environment; none where nothing is sent. */
export interface WalletSources {
  readonly apple: Readonly<Record<string, { stats(): UpdateWorkerStats } | undefined>>
  readonly google: Readonly<Record<string, { stats(): FollowerStats }>>
}

type MetricSeries = readonly (readonly [Labels, number])[]

/** What became of pushes to devices and of resources at Google, and how far behind both are. */
export function addWallets(registry: Registry, wallets: () => WalletSources): void {
  const ofApple =
    (read: (stats: UpdateWorkerStats) => Readonly<Record<string, number>>, label?: string) => () =>
      seriesOf(wallets().apple, read, label)
  const ofGoogle = (read: (stats: FollowerStats) => Readonly<Record<string, number>>, label?: string) => () =>
    seriesOf(wallets().google, read, label)
  const [by, byOutcome] = [['environment'], ['environment', 'outcome']]
  addCounter(
    registry,
    'svc_wallet_pushes_total',
    'Devices of Apple’s told of changes, by how that ended.',
    byOutcome,
    ofApple(({ outcomes }) => outcomes, 'outcome'),
  )
  addGauge(
    registry,
    'svc_wallet_pushes_under_way',
    'Pushes under way.',
    by,
    ofApple(({ underWay }) => ({ underWay })),
  )
  addGauge(
    registry,
    'svc_wallet_push_tenants',
    'Tenants of whom devices were to be told at the last look.',
    by,
    ofApple(({ tenants }) => ({ tenants })),
  )
  addGauge(
    registry,
    'svc_wallet_push_age_seconds',
    'Age of the oldest change of those taken last; 0 while there is nothing to do.',
    by,
    ofApple(({ waitedMs }) => ({ age: waitedMs / 1000 })),
  )
  addGauge(
    registry,
    'svc_wallet_queue_failing',
    '1 while the queue of pushes cannot be read.',
    by,
    ofApple(({ failing }) => ({ failing: failing ? 1 : 0 })),
  )
  addCounter(
    registry,
    'svc_google_resources_total',
    'Classes and objects sent to Google Wallet, by what became of them.',
    byOutcome,
    ofGoogle(({ sent }) => sent, 'outcome'),
  )
  addCounter(
    registry,
    'svc_google_visits_total',
    'Visits to tenants on behalf of Google Wallet, by how they ended.',
    byOutcome,
    ofGoogle(({ visits }) => visits, 'outcome'),
  )
  addGauge(
    registry,
    'svc_google_events_behind',
    'Events that Google Wallet does not know of, of the tenants found at the last look.',
    by,
    ofGoogle(({ behind }) => ({ behind })),
  )
  addGauge(
    registry,
    'svc_google_failing',
    '1 while it cannot be read what to send to Google Wallet.',
    by,
    ofGoogle(({ failing }) => ({ failing: failing ? 1 : 0 })),
  )
}

function seriesOf<Stats>(
  workers: Readonly<Record<string, { stats(): Stats } | undefined>>,
  read: (stats: Stats) => Readonly<Record<string, number>>,
  label?: string,
): MetricSeries {
  return Object.entries(workers).flatMap(([environment, worker]) =>
    worker
      ? Object.entries(read(worker.stats())).map(
          ([name, value]) => [{ environment, ...(label && { [label]: name }) }, value] as const,
        )
      : [],
  )
}
