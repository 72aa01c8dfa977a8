import type { Registry } from 'prom-client'
import type { WorkerStats } from '../../events/delivery/worker.ts'
import { addDurations } from './durations.ts'
import { addCounter, addGauge, type Labels } from './series.ts'

/** The delivery workers of this process by environment; empty without the worker role. */
export type DeliverySources = () => Readonly<Record<string, { stats(): WorkerStats }>>

/** Adds the outcomes and the lag of deliveries. */
export function addDeliveries(registry: Registry, workers: DeliverySources): void {
  const read = (value: (stats: WorkerStats) => number) => (): (readonly [Labels, number])[] =>
    Object.entries(workers()).map(([environment, worker]) => [{ environment }, value(worker.stats())])
  addCounter(
    registry,
    'svc_webhook_attempts_total',
    'Webhook delivery attempts by outcome.',
    ['environment', 'outcome'],
    () =>
      Object.entries(workers()).flatMap(([environment, worker]) =>
        Object.entries(worker.stats().attempts).map(
          ([outcome, count]) => [{ environment, outcome }, count] as const,
        ),
      ),
  )
  const add = (kind: typeof addCounter, name: string, help: string, value: (stats: WorkerStats) => number) =>
    kind(registry, name, help, ['environment'], read(value))
  add(
    addGauge,
    'svc_webhook_attempts_under_way',
    'Webhook delivery attempts in progress.',
    (stats) => stats.underWay,
  )
  add(
    addGauge,
    'svc_webhook_capacity',
    'Maximum number of concurrent webhook delivery attempts.',
    (stats) => stats.capacity,
  )
  add(
    addCounter,
    'svc_webhook_claims_total',
    'Queue polls that claimed at least one attempt.',
    (stats) => stats.claims,
  )
  add(
    addGauge,
    'svc_webhook_lateness_seconds',
    'Delay between the due time and the claim of the last claimed attempt.',
    (stats) => stats.latenessMs / 1000,
  )
  addDurations(
    registry,
    'svc_webhook_delay_seconds',
    'Time from the due time of a webhook delivery attempt to its claim by a worker.',
    ['environment'],
    () =>
      Object.entries(workers()).map(
        ([environment, worker]) => [{ environment }, worker.stats().lateness] as const,
      ),
  )
  add(
    addGauge,
    'svc_webhook_queue_failing',
    '1 while the delivery queue cannot be read, otherwise 0.',
    (stats) => (stats.failing ? 1 : 0),
  )
}
