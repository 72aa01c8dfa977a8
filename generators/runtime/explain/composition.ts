/** Rules that combine schemas. */
import { findNearest } from '../nearest.ts'
import { tagsIn } from './tags.ts'
import {
  attempt,
  type Check,
  type Fault,
  fault,
  fieldOf,
  isObject,
  type Json,
  type KnownDocument,
  listIn,
  own,
  type Walk,
} from './walk.ts'

export function makeComposition(known: KnownDocument, rules: Json): Check | undefined {
  const checks = listIn(rules, 'allOf').flatMap((each) => known.checkOf(each) ?? [])
  for (const mode of ['anyOf', 'oneOf'] as const) {
    const members = rules[mode]
    if (Array.isArray(members)) checks.push(makeUnion(known, rules, mode, members))
  }
  if ('not' in rules) checks.push(makeNot(known.checkOf(rules.not)))
  if ('if' in rules && ('then' in rules || 'else' in rules)) checks.push(makeCondition(known, rules))
  if (checks.length === 0) return undefined
  return (walk, value) => {
    for (const check of checks) check(walk, value)
  }
}

const makeNot =
  (check: Check | undefined): Check =>
  (walk, value) => {
    if (attempt(walk, check, value).length === 0) fault(walk, 'not', 'is what it must not be')
  }

function makeCondition(known: KnownDocument, rules: Json): Check {
  const [condition, yes, no] = [rules.if, rules.then, rules.else].map((each) => known.checkOf(each))
  return (walk, value) => (attempt(walk, condition, value).length === 0 ? yes : no)?.(walk, value)
}

/** The tagged member's own faults where there is a tag, otherwise those of the member that came closest. */
function makeUnion(
  known: KnownDocument,
  rules: Json,
  mode: 'anyOf' | 'oneOf',
  members: readonly unknown[],
): Check {
  const checks = members.map((member) => known.checkOf(member))
  const tag = own(rules.discriminator, 'propertyName')
  let tags: ReadonlyMap<string, number> | undefined
  return (walk, value) => {
    if (typeof tag === 'string') {
      tags ??= tagsIn(rules, members, tag, known.targetOf)
      if (tags.size > 0) return checkTagged(walk, value, tag, tags, checks)
    }
    const attempts: (readonly Fault[])[] = []
    let fitting = 0
    for (const check of checks) {
      const faults = attempt(walk, check, value)
      attempts.push(faults)
      if (faults.length > 0) continue
      // One is enough for anyOf, and the rest costs.
      if (mode === 'anyOf') return
      fitting++
    }
    if (fitting === 1) return
    if (fitting > 1) return fault(walk, 'oneOf', 'fits more than one of the alternatives')
    const field = fieldOf(walk.path)
    const closest = attempts.filter(
      (faults) => !faults.some((each) => each.field === field && each.keyword === 'type'),
    )
    if (closest.length === 1) walk.faults.push(...closest[0]!)
    else fault(walk, mode, 'fits none of the alternatives')
  }
}

function checkTagged(
  walk: Walk,
  value: unknown,
  tag: string,
  tags: ReadonlyMap<string, number>,
  checks: readonly (Check | undefined)[],
): void {
  if (!isObject(value)) return fault(walk, 'type', 'must be an object')
  const given = own(value, tag)
  const index = typeof given === 'string' ? tags.get(given) : undefined
  if (index !== undefined) return checks[index]?.(walk, value)
  const values = [...tags.keys()].map((each) => JSON.stringify(each))
  const meant = typeof given === 'string' ? findNearest(given, tags.keys()) : undefined
  fault(walk, 'discriminator', `must be one of ${values.join(', ')}`, tag, meant)
}
