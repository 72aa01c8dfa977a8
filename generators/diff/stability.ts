/** The stability of differences, and differences in stability itself. */
import type { Api, ApiOperation } from '../ir/model.ts'
import { lowerOf, type Stability, stabilityAt } from '../ir/stability.ts'
import { type ComparisonPosition, type DiffFinding, found, type places } from './position.ts'

/**
 * Returns the stability, in the old version, of the part that a difference is in.
 *
 * @param holders old operations by the ids that differences name.
 */
export function stabilityOf(
  { at, old: place }: DiffFinding,
  old: Api,
  holders: ReadonlyMap<string, ApiOperation>,
): Stability {
  const own = place?.file === old.file ? stabilityAt(old, place.pointer) : 'stable'
  const holder = 'operation' in at ? holders.get(at.operation) : undefined
  return holder ? lowerOf(own, stabilityAt(old, holder.place.pointer)) : own
}

/**
 * Adds a difference if a part declares a different stability than before. A part that becomes alpha breaks its
 * callers: from then on, it may change without a translation.
 *
 * @param breaks the directions that the part is used in.
 */
export function compareStability(
  position: ComparisonPosition,
  was: Stability,
  is: Stability,
  breaks: number,
  at: ReturnType<typeof places>,
): void {
  if (was === is) return
  const said = `is now ${is}; it was ${was}`
  if (lowerOf(was, is) === was) found(position, 'stability-raised', 0, said, at)
  else found(position, 'stability-lowered', is === 'alpha' ? breaks : 0, said, at)
}
