import type { Registry } from 'prom-client'

/** A series of a metric at one moment. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

type Wanted = (labels: MetricSample['labels']) => boolean

/** Values of all metrics at one moment. */
export interface MetricReadings {
  of(name: string): readonly MetricSample[]
  /** Returns 0 if there is no series. */
  sum(name: string, wanted?: Wanted): number
  /** Returns undefined if there is no series. */
  max(name: string, wanted?: Wanted): number | undefined
}

/** Reads all metrics. Histograms have the names of their series, such as `…_bucket`. */
export async function readMetrics(registry: Pick<Registry, 'getMetricsAsJSON'>): Promise<MetricReadings> {
  const samples = new Map<string, MetricSample[]>()
  for (const { name, values } of await registry.getMetricsAsJSON()) {
    for (const each of values) {
      const { labels, value } = each
      const series = 'metricName' in each && typeof each.metricName === 'string' ? each.metricName : name
      const sample = { labels: labels as MetricSample['labels'], value }
      const known = samples.get(series)
      if (known) known.push(sample)
      else samples.set(series, [sample])
    }
  }
  const valuesOf = (name: string, wanted: Wanted = () => true) =>
    (samples.get(name) ?? []).filter(({ labels }) => wanted(labels)).map(({ value }) => value)
  return {
    of: (name) => samples.get(name) ?? [],
    sum: (name, wanted) => valuesOf(name, wanted).reduce((total, value) => total + value, 0),
    max: (name, wanted) => {
      const values = valuesOf(name, wanted)
      return values.length === 0 ? undefined : Math.max(...values)
    },
  }
}
