import type { Registry } from 'prom-client'
import type { QueueWorkerStats } from '../../work/queue-worker.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import { addCounter, addGauge, type Labels } from './series.ts'

/** Workers of this process; empty without the worker role. */
export type WorkSource = () => readonly Pick<DeclaredWorker, 'name' | 'stats'>[]

/** Adds the turns of the workers of this process, the waiting rows, and whether the workers fail. */
export function addWork(registry: Registry, workers: WorkSource): void {
  const series =
    (read: (stats: QueueWorkerStats) => Readonly<Record<string, number>>, label?: string) => () =>
      workers().flatMap(({ name: work, stats }) =>
        Object.entries(stats()).flatMap(([environment, each]) =>
          Object.entries(read(each)).map(([value, count]): readonly [Labels, number] => [
            { environment, work, ...(label && { [label]: value }) },
            count,
          ]),
        ),
      )
  const labels = ['environment', 'work']
  addCounter(
    registry,
    'svc_work_turns_total',
    'Turns of workers by outcome. `failed` counts rows whose work failed.',
    [...labels, 'outcome'],
    series(({ turns }) => turns, 'outcome'),
  )
  addGauge(
    registry,
    'svc_work_waiting',
    'Rows that a worker has found and that wait for a turn.',
    labels,
    series(({ waiting }) => ({ waiting })),
  )
  addGauge(
    registry,
    'svc_work_failing',
    '1 while a worker cannot use the database, otherwise 0.',
    labels,
    series(({ failing }) => ({ failing: failing ? 1 : 0 })),
  )
}
