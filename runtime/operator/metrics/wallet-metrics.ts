import type { Registry } from 'prom-client'
import type { UpdateWorkerStats } from '../../passes/wallets/sync/apple/worker.ts'
import type { FollowerStats } from '../../passes/wallets/sync/google/follower.ts'
import { addCounter, addGauge, type Labels } from './series.ts'

/** Workers of this process that update wallets, by environment; empty if nothing is sent. */
export interface WalletSources {
  readonly apple: Readonly<Record<string, { stats(): UpdateWorkerStats } | undefined>>
  readonly google: Readonly<Record<string, { stats(): FollowerStats }>>
}

type MetricSeries = readonly (readonly [Labels, number])[]

/** Adds the outcomes and the lag of pushes to Apple devices and of resources sent to Google. */
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
    'Push notifications to Apple devices by outcome.',
    byOutcome,
    ofApple(({ outcomes }) => outcomes, 'outcome'),
  )
  addGauge(
    registry,
    'svc_wallet_pushes_under_way',
    'Push notifications in progress.',
    by,
    ofApple(({ underWay }) => ({ underWay })),
  )
  addGauge(
    registry,
    'svc_wallet_push_tenants',
    'Tenants with pending push notifications at the last poll.',
    by,
    ofApple(({ tenants }) => ({ tenants })),
  )
  addGauge(
    registry,
    'svc_wallet_push_age_seconds',
    'Age of the oldest change in the last batch; 0 while there is nothing to do.',
    by,
    ofApple(({ waitedMs }) => ({ age: waitedMs / 1000 })),
  )
  addGauge(
    registry,
    'svc_wallet_queue_failing',
    '1 while the push queue cannot be read, otherwise 0.',
    by,
    ofApple(({ failing }) => ({ failing: failing ? 1 : 0 })),
  )
  addCounter(
    registry,
    'svc_google_resources_total',
    'Classes and objects sent to Google Wallet by outcome.',
    byOutcome,
    ofGoogle(({ sent }) => sent, 'outcome'),
  )
  addCounter(
    registry,
    'svc_google_visits_total',
    'Visits to tenants for Google Wallet updates by outcome.',
    byOutcome,
    ofGoogle(({ visits }) => visits, 'outcome'),
  )
  addGauge(
    registry,
    'svc_google_events_behind',
    'Events not yet sent to Google Wallet, for the tenants found at the last poll.',
    by,
    ofGoogle(({ behind }) => ({ behind })),
  )
  addGauge(
    registry,
    'svc_google_failing',
    '1 while the events for Google Wallet cannot be read, otherwise 0.',
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
