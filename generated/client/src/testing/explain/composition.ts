/** Checks the keywords that combine schemas. */
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
    if (attempt(walk, check, value).length === 0) fault(walk, 'not', 'must not match the schema of `not`')
  }

function makeCondition(known: KnownDocument, rules: Json): Check {
  const [condition, yes, no] = [rules.if, rules.then, rules.else].map((each) => known.checkOf(each))
  return (walk, value) => (attempt(walk, condition, value).length === 0 ? yes : no)?.(walk, value)
}

/** Reports the problems of the member that the tag selects. Without a tag, reports those of the closest member. */
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
      // For anyOf, one match is enough; further checks would only cost time.
      if (mode === 'anyOf') return
      fitting++
    }
    if (fitting === 1) return
    if (fitting > 1)
      return fault(walk, 'oneOf', 'must match only one of the alternatives, but matches several')
    const field = fieldOf(walk.path)
    const closest = attempts.filter(
      (faults) => !faults.some((each) => each.field === field && each.keyword === 'type'),
    )
    if (closest.length === 1) walk.faults.push(...closest[0]!)
    else fault(walk, mode, 'must match one of the alternatives')
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
