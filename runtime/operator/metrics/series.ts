import { Counter, Gauge, type Registry } from 'prom-client'

export type Labels = Readonly<Record<string, string | number>>

/** Adds a counter whose values are read from elsewhere. */
export function addCounter(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  read: () => Iterable<readonly [Labels, number]>,
): void {
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      this.reset()
      for (const [labels, value] of read()) this.inc(labels, value)
    },
  })
}

/**
 * Adds a gauge whose values are read from elsewhere. @param read returns undefined if the values are unknown; the
 * gauge then has no series.
 */
export function addGauge(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  read: () => Promise<Iterable<readonly [Labels, number]> | undefined> | Iterable<readonly [Labels, number]>,
): void {
  new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    async collect() {
      const series = await read()
      this.reset()
      // A reset gives a gauge without labels the value 0, which is not the same as an unknown value.
      if (labelNames.length === 0) this.remove()
      for (const [labels, value] of series ?? []) this.set(labels, value)
    },
  })
}

/** Returns one series for each value of a label. */
export function tally(counts: ReadonlyMap<string, number>, label: string, more: Labels = {}) {
  return [...counts].map(([value, count]) => [{ ...more, [label]: value }, count] as const)
}
