/** The behavior of a version, as handlers, events and jobs read it. */
import type { Behaviour, BehaviourRow } from './contract.ts'

/**
 * Returns the behavior of a version.
 *
 * @param note called with the name of the change each time that code reads behavior which the version does not have yet, as
 *   translations report the changes that affect a request.
 * @example
 * const pinned = versions.find(({ name }) => name === caller.version)!
 * if (behaviourOf(pinned)['archived-in-lists']) …
 */
export function behaviourOf<Names extends string>(
  { behaviour }: { readonly behaviour?: BehaviourRow<Names> | undefined },
  note?: (change: string) => void,
): Behaviour<Names> {
  const read = {}
  for (const [name, since] of Object.entries<true | string>(behaviour ?? {}))
    Object.defineProperty(read, name, {
      enumerable: true,
      get() {
        if (since !== true) note?.(since)
        return since === true
      },
    })
  return read as Behaviour<Names>
}
