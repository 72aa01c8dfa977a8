/**
 * Describes how a change of a pass changes the pass counts. Each event of a pass carries the description (`events.pass_move`),
 * and a worker adds it to the counts (account/totals/pass-counts.ts).
 */
import type { PassRow } from './queries.ts'

type CountedFacts = Pick<PassRow, 'template_id' | 'status' | 'archived_at'>

/** The move of an event that leaves the counts unchanged. */
export const NO_MOVE = ''

/** Returns what passes are counted by beside their template, such as `issued` or `archived_revoked`. */
export const stateOf = ({ status, archived_at }: Pick<PassRow, 'status' | 'archived_at'>): string =>
  archived_at === null ? status : `archived_${status}`

/**
 * Returns the template, the state before and the state after, separated by spaces: `tpl_… issued redeemed`. The state before
 * a pass was issued is empty.
 *
 * @param before undefined for a new pass.
 */
export function passMove(before: CountedFacts | undefined, after: CountedFacts): string {
  const [from, to] = [before ? stateOf(before) : '', stateOf(after)]
  return from === to ? NO_MOVE : `${after.template_id} ${from} ${to}`
}
