/** Enumerations among the differences: how many members went, and what came. */
import { type Difference, formatLocation } from '../diff/difference.ts'

/** What became of the members of an enumeration, by its place. */
interface List {
  gone: number
  /** Also what breaks nobody, in a list that may grow: it is known from the proposal alone. */
  readonly come: Set<unknown>
  named: boolean
}
export type ProposedLists = ReadonlyMap<string, List>

/** @returns every enumeration that members came to or went from. */
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
