import { Histogram, type HistogramConfiguration, type Registry } from 'prom-client'
import { DURATIONS_MS, type DurationCounts } from '../../platform/durations.ts'
import type { Labels } from './series.ts'

type ReadDurations = () => readonly (readonly [Labels, DurationCounts])[]

/** Adds a histogram. Counts with equal labels are summed. */
export function addDurations(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  read: ReadDurations,
): void {
  const buckets = DURATIONS_MS.map((ms) => ms / 1000)
  new TalliedDurations({ name, help, labelNames: [...labelNames], buckets, registers: [registry] }, read)
}

/**
 * A histogram over externally kept counts. Observing each request through prom-client would cost more CPU time than the
 * rate limiter.
 */
class TalliedDurations extends Histogram {
  readonly #name: string
  readonly #blank: Histogram
  readonly #read: ReadDurations

  constructor(description: HistogramConfiguration<string>, read: ReadDurations) {
    super(description)
    this.#name = description.name
    this.#blank = new Histogram({ ...description, registers: [] })
    this.#read = read
  }

  /** The registry calls this method first, although its types do not declare it (prom-client 15.1.3, registry.js). */
  getForPromString() {
    return this.get()
  }

  override async get() {
    const described = await this.#blank.get()
    const groups = Map.groupBy(this.#read(), ([labels]) => JSON.stringify(labels))
    const values = [...groups.values()].flatMap((group) =>
      seriesOf(
        this.#name,
        group[0]![0],
        group.map(([, counts]) => counts),
      ),
    )
    return { ...described, values }
  }
}

function seriesOf(name: string, labels: Labels, counts: readonly DurationCounts[]) {
  const sum = (read: (each: DurationCounts) => number) =>
    counts.reduce((total, each) => total + read(each), 0)
  let count = 0
  const buckets = [...DURATIONS_MS, Number.POSITIVE_INFINITY].map((ms, at) => {
    count += sum(({ durations }) => durations[at] ?? 0)
    const le = ms === Number.POSITIVE_INFINITY ? '+Inf' : ms / 1000
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum(({ totalMs }) => totalMs) / 1000 },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
