/** Figures of the bench of deliveries, and who they are measured of. */
import type pg from 'pg'
import type { Contestant } from './webhooks-peers.ts'
import type { Helper } from './webhooks-processes.ts'
import type { Service } from './webhooks-service.ts'
import type { Sink } from './webhooks-sink.ts'

/** What the parts of the bench work with. */
export interface Bench {
  readonly admin: pg.Client
  readonly sink: Helper<Sink>
  readonly service: Helper<Service>
  /** Deliveries of each contestant that may be under way at once. */
  readonly concurrency: string
  /** Path of the server's log. */
  readonly serverLog: string
  readonly contestants: readonly (readonly [name: string, Helper<Contestant>])[]
}

/** One line of the report. */
export const print = (line = '') => void process.stdout.write(`${line}\n`)

/** The value below which the share of the values lies; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: readonly number[]) => quantile(values, 0.5)
/** Milliseconds for people. */
export const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 1)} ms`
