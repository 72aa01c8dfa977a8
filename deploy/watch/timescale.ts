/** Durations of rules. A proof divides all of them by a factor, so that the same rules fire in seconds. */
export interface Timescale {
  /** Formats a range or a `for` clause. @param text duration as in PromQL with one unit, such as `5m`. */
  readonly window: (text: string) => string
  /** Divides a threshold. @param value seconds. */
  readonly seconds: (value: number) => number
}

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 }

function readSeconds(text: string): number {
  const [, amount = '', unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  const factor = SECONDS[unit as keyof typeof SECONDS]
  if (factor === undefined) throw new Error(`${text} is not a duration: expected a number and s, m, h or d`)
  return Number(amount) * factor
}

/** @param divisor 1 for the rules of production. */
export function createTimescale(divisor: number): Timescale {
  if (divisor === 1) return { window: (text) => text, seconds: (value) => value }
  return {
    window: (text) => `${Math.round((readSeconds(text) * 1000) / divisor)}ms`,
    seconds: (value) => value / divisor,
  }
}
