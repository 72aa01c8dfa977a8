/** Figures of the bench of fairness: a quantile beside another, and how sure their ratio is. */
import { quantile } from './webhooks-figures.ts'

/** What the quiet tenant asks for. */
export const KINDS = ['GET', 'list', 'POST'] as const
export type Kind = (typeof KINDS)[number]

/** Values in groups: what is near in time is alike, so a group counts as one when it is asked how sure a figure is. */
export type Groups = readonly (readonly number[])[]

export interface Ratio {
  readonly before: number
  readonly after: number
  readonly ratio: number
  /** Nine of ten such measurements give a ratio between these. */
  readonly between: readonly [low: number, high: number]
}

const RESAMPLES = 1000
const TAIL = 0.05

/** Draws as many groups as there are, each from all of them (bootstrap by blocks: Künsch, 1989). */
function resample(groups: Groups): number[] {
  return groups.flatMap(() => groups[Math.floor(Math.random() * groups.length)]!)
}

/** The ratio of a quantile of two sets of measurements. */
export function compare(idle: Groups, loaded: Groups, share: number): Ratio {
  const [before, after] = [quantile(idle.flat(), share), quantile(loaded.flat(), share)]
  const ratios = Array.from(
    { length: RESAMPLES },
    () => quantile(resample(loaded), share) / quantile(resample(idle), share),
  )
  return {
    before,
    after,
    ratio: after / before,
    between: [quantile(ratios, TAIL), quantile(ratios, 1 - TAIL)],
  }
}
