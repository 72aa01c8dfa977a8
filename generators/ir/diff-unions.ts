/** `oneOf` and `anyOf`: members are matched by tag, by name, by shape, and last by kind. */
import type { Compare } from './diff-schemas.ts'
import {
  BOTH,
  found,
  inside,
  NARROWING,
  places,
  type Spot,
  shapeOf,
  targetOf,
  WIDENING,
} from './diff-sheet.ts'
import type { Schema, UnionSchema } from './model.ts'

/** Either may be no union: it counts as a union of one. */
export function compareUnions(spot: Spot, a: Schema, b: Schema, compare: Compare): void {
  if (a.kind === 'union' && b.kind === 'union') {
    if (a.discriminator && b.discriminator) return compareTagged(spot, a, b, compare)
    if (a.discriminator || b.discriminator) {
      const said = b.discriminator
        ? `is told apart by ${b.discriminator.property} now`
        : 'has no discriminator now'
      found(spot, 'discriminator-changed', b.discriminator ? NARROWING : WIDENING, said, places(a, b))
    } else compareModes(spot, a, b)
  }
  const left = [...membersOf(b)]
  const alone: Schema[] = []
  const take = (match: (other: Schema) => boolean): Schema | undefined => {
    const index = left.findIndex(match)
    return index < 0 ? undefined : left.splice(index, 1)[0]
  }
  for (const one of membersOf(a)) {
    const same = take((other) => alike(spot, one, other))
    if (same) compare(spot, one, same)
    else alone.push(one)
  }
  const removed = alone.filter((one) => {
    const other = take((each) => sameKind(spot, one, each))
    if (other) compare(inside(spot, `|${membersOf(b).indexOf(other)}`), one, other)
    return !other
  })
  report(spot, a, b, removed, left)
}

const membersOf = (schema: Schema): readonly Schema[] => (schema.kind === 'union' ? schema.members : [schema])

const alike = (spot: Spot, one: Schema, other: Schema): boolean =>
  one.kind === 'ref' && other.kind === 'ref'
    ? one.name === other.name || renamed(spot, one.name, other.name)
    : shapeOf(spot.old, one, 3) === shapeOf(spot.next, other, 3)

const renamed = (spot: Spot, old: string, next: string): boolean =>
  !spot.next.schemas.has(old) &&
  !spot.old.schemas.has(next) &&
  shapeOf(spot.old, spot.old.schemas.get(old)!, 2) === shapeOf(spot.next, spot.next.schemas.get(next)!, 2)

/** Worth comparing member with member: of one kind, and not two components that both documents know apart. */
function sameKind(spot: Spot, one: Schema, other: Schema): boolean {
  if (
    one.kind === 'ref' &&
    other.kind === 'ref' &&
    (spot.next.schemas.has(one.name) || spot.old.schemas.has(other.name))
  )
    return false
  return targetOf(spot.old, one).kind === targetOf(spot.next, other).kind
}

const nameOf = (schema: Schema): string => (schema.kind === 'ref' ? schema.name : schema.kind)

function report(
  spot: Spot,
  a: Schema,
  b: Schema,
  removed: readonly Schema[],
  added: readonly Schema[],
): void {
  for (const one of removed) {
    const breaks = added.length > 0 ? BOTH : NARROWING
    found(spot, 'union-member-removed', breaks, `is never ${nameOf(one)} now`, places(one, b))
  }
  for (const other of added) {
    found(spot, 'union-member-added', WIDENING, `may be ${nameOf(other)} now`, places(a, other))
  }
}

/** Exactly one against at least one: the same thing where no value can be two members. */
function compareModes(spot: Spot, a: UnionSchema, b: UnionSchema): void {
  if (a.mode === b.mode) return
  const kinds = a.members.map((member) => targetOf(spot.old, member).kind)
  if (new Set(kinds).size === kinds.length) return
  if (b.mode === 'oneOf')
    found(spot, 'type-narrowed', NARROWING, 'must be exactly one of its members', places(a, b))
  else found(spot, 'type-widened', WIDENING, 'may be several of its members at once', places(a, b))
}

function compareTagged(spot: Spot, a: UnionSchema, b: UnionSchema, compare: Compare): void {
  const [was, is] = [a.discriminator!, b.discriminator!]
  if (was.property !== is.property) {
    const said = `is told apart by ${is.property}, not ${was.property}`
    found(spot, 'discriminator-changed', BOTH, said, places(a, b), { value: was.property })
  }
  const gone = [...was.mapping].filter(([tag]) => !is.mapping.has(tag))
  const come = [...is.mapping].filter(([tag]) => !was.mapping.has(tag))
  for (const [tag, name] of was.mapping) {
    const other = is.mapping.get(tag)
    if (other !== undefined) compare(spot, memberOf(a, name), memberOf(b, other))
  }
  for (const [tag, name] of gone) {
    const retagged = come.find(([, other]) => other === name)
    if (retagged) {
      const said = `${name} is tagged ${retagged[0]}, not ${tag}`
      found(spot, 'union-member-retagged', BOTH, said, places(a, b), { value: tag })
    } else {
      const breaks = come.length > 0 ? BOTH : NARROWING
      found(spot, 'union-member-removed', breaks, `is never ${tag} now`, places(memberOf(a, name), b), {
        value: tag,
      })
    }
  }
  for (const [tag, name] of come) {
    if (gone.some(([, other]) => other === name)) {
      const same = gone.find(([, other]) => other === name)!
      compare(spot, memberOf(a, same[1]), memberOf(b, name))
    } else
      found(spot, 'union-member-added', WIDENING, `may be ${tag} now`, places(a, memberOf(b, name)), {
        value: tag,
      })
  }
}

function memberOf(union: UnionSchema, name: string): Schema {
  return union.members.find((each) => each.kind === 'ref' && each.name === name) ?? union.members[0] ?? union
}
