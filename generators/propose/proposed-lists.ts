/** Collects added and removed members of enumerations. */
import { type Difference, formatLocation } from '../diff/difference.ts'

/** Added and removed members of an enumeration. */
interface List {
  gone: number
  /** Includes additions that are not breaking; these are known only from proposals. */
  readonly come: Set<unknown>
  named: boolean
}
export type ProposedLists = ReadonlyMap<string, List>

/** Returns every enumeration with added or removed members, by location. */
export function listsIn(differences: readonly Difference[]): ProposedLists {
  const lists = new Map<string, List>()
  for (const { at, code, value, proposal } of differences) {
    if (code !== 'enum-value-removed' && code !== 'enum-value-added') continue
    const list = lists.get(formatLocation(at)) ?? { gone: 0, come: new Set(), named: true }
    if (code === 'enum-value-removed') list.gone += 1
    else list.come.add(value)
    for (const name of proposal?.to ?? []) list.come.add(name)
    list.named &&= typeof value === 'string'
    lists.set(formatLocation(at), list)
  }
  return lists
}
