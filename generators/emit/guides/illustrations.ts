/** Finds values that illustrate a change: its examples, or values derived from its lenses. */
import type { Change, Example } from '../../change/change.ts'
import type { VersionPair } from '../../gate/steps.ts'
import { isObject, type PathStep } from './paths.ts'

export interface Illustration extends Example {
  /** Whether the old version could not express the new value. */
  readonly added: boolean
}

/** Maximum length of an illustration, in characters of JSON. */
const LONGEST = 1500

/** Returns one illustration for each component. */
export function illustrationsOf(change: Change, step: VersionPair): readonly Illustration[] {
  const found = new Map<string, Illustration>()
  for (const each of [...shownByExamples(change), ...shownByLenses(change, step)])
    if (!found.has(each.schema)) found.set(each.schema, each)
  return [...found.values()]
}

const shownByExamples = ({ examples = [] }: Change): Illustration[] =>
  examples
    .filter((each) => JSON.stringify(each.old) !== JSON.stringify(each.new))
    .filter((each) => JSON.stringify([each.old, each.new]).length <= LONGEST)
    .map((each) => ({ ...each, added: each.only === 'down' }))

function shownByLenses(change: Change, { old, claimed }: VersionPair): Illustration[] {
  return change.lenses.flatMap((lens): Illustration[] => {
    if (lens.kind === 'values' && lens.property === undefined) {
      const [before, after] = Object.entries(lens.rename)[0] ?? Object.entries(lens.merge)[0]?.reverse() ?? []
      if (before === undefined || after === undefined) return []
      return lens.schemas.map((schema) => ({ schema, old: before, new: after, added: false }))
    }
    if (lens.kind !== 'leave-out') return []
    const come = claimed.find(
      ({ difference: { code, at } }) =>
        code === 'enum-value-added' && at.kind === 'schema' && at.component === lens.unless,
    )?.difference.value
    const known = old.schemas.get(lens.unless)
    const before = known?.kind === 'enum' ? known.values[0] : undefined
    if (come === undefined || before === undefined) return []
    return [{ schema: lens.unless, old: before, new: come, added: true }]
  })
}

interface Leaf {
  readonly path: readonly PathStep[]
  readonly value: unknown
}

/** Returns the location where two values first differ, in each value's property names. */
export function firstDifference(old: unknown, next: unknown, above: readonly PathStep[] = []): [Leaf, Leaf] {
  const whole: [Leaf, Leaf] = [
    { path: above, value: old },
    { path: above, value: next },
  ]
  if (!isObject(old) || !isObject(next)) return whole
  const at = (name: string) => [...above, { name, optional: false }]
  const shared = Object.keys(old).find(
    (name) => name in next && JSON.stringify(old[name]) !== JSON.stringify(next[name]),
  )
  if (shared !== undefined) return firstDifference(old[shared], next[shared], at(shared))
  const gone = Object.keys(old).find((name) => !(name in next))
  const come = Object.keys(next).find((name) => !(name in old))
  if (gone === undefined || come === undefined) return whole
  return [
    { path: at(gone), value: old[gone] },
    { path: at(come), value: next[come] },
  ]
}
