import type { Registry } from 'prom-client'
import type { WorkerStats } from '../../events/delivery/worker.ts'
import { addCounter, addGauge, type Labels } from './series.ts'

/** The delivery workers of this process, by environment; none in a process without the role. */
export type DeliverySources = () => Readonly<Record<string, { stats(): WorkerStats }>>

/** What became of deliveries, and how far behind they are. */
export function addDeliveries(registry: Registry, workers: DeliverySources): void {
  const read = (value: (stats: WorkerStats) => number) => (): (readonly [Labels, number])[] =>
    Object.entries(workers()).map(([environment, worker]) => [{ environment }, value(worker.stats())])
  addCounter(
    registry,
    'svc_webhook_attempts_total',
    'Attempts to deliver an event, by how they were recorded.',
    ['environment', 'outcome'],
    () =>
      Object.entries(workers()).flatMap(([environment, worker]) =>
        Object.entries(worker.stats().attempts).map(
          ([outcome, count]) => [{ environment, outcome }, count] as const,
        ),
      ),
  )
  const add = (kind: typeof addGauge, name: string, help: string, value: (stats: WorkerStats) => number) =>
    kind(registry, name, help, ['environment'], read(value))
  add(addGauge, 'svc_webhook_attempts_under_way', 'Attempts under way.', (stats) => stats.underWay)
  add(addGauge, 'svc_webhook_capacity', 'Attempts that may be under way at once.', (stats) => stats.capacity)
  add(
    addCounter,
    'svc_webhook_claims_total',
    'Looks at the queue that claimed attempts.',
    (stats) => stats.claims,
  )
  add(
    addGauge,
    'svc_webhook_lateness_seconds',
    'How long after it was due the attempt claimed last was claimed.',
    (stats) => stats.latenessMs / 1000,
  )
  add(addGauge, 'svc_webhook_queue_failing', '1 while the queue cannot be read.', (stats) =>
    stats.failing ? 1 : 0,
  )
}
