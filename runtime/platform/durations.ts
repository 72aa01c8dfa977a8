/** Counts of durations by bucket, for histograms. */

/** Upper bounds of the histogram buckets, in milliseconds. */
export const DURATIONS_MS = [2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const

/** Plain numbers that are read at a scrape, so that counting costs almost nothing. */
export interface DurationCounts {
  /** Count for each upper bound of `DURATIONS_MS`, and one for longer durations. Not cumulative. */
  readonly durations: number[]
  totalMs: number
}

export function createDurations(): DurationCounts {
  return { durations: Array<number>(DURATIONS_MS.length + 1).fill(0), totalMs: 0 }
}

/** Adds one duration. @param ms milliseconds. */
export function countDuration(counts: DurationCounts, ms: number): void {
  let at = 0
  while (at < DURATIONS_MS.length && ms > DURATIONS_MS[at]!) at += 1
  counts.durations[at]! += 1
  counts.totalMs += ms
}
