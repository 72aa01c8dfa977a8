/** Compares `oneOf` and `anyOf`. Members are matched by tag, then by name, by shape and by kind. */

import type { Api, Schema, UnionSchema } from '../ir/model.ts'
import { constantsOf, tagsOf } from '../ir/tags.ts'
import { asEnum, compareEnums } from './enums.ts'
import { pairUp } from './match.ts'
import { mayOverlap } from './overlap.ts'
import {
  BOTH,
  type Compare,
  type ComparisonPosition,
  found,
  HARMLESS,
  inside,
  NARROWING,
  places,
  shapeOf,
  targetOf,
  WIDENING,
} from './position.ts'
import { unwrap } from './unwrap.ts'

/** Compares unions. A schema that is not a union counts as a union with one member. */
export function compareUnions(position: ComparisonPosition, a: Schema, b: Schema, compare: Compare): void {
  if (a.kind === 'union' && b.kind === 'union') {
    if (a.discriminator && b.discriminator) return compareTagged(position, a, b, compare)
    if (a.discriminator || b.discriminator) {
      const { property } = (b.discriminator ?? a.discriminator)!
      const said = b.discriminator ? `now has the discriminator ${property}` : 'no longer has a discriminator'
      const breaks = b.discriminator ? NARROWING : WIDENING
      const isStated = statesTags(position.old, a, property) && statesTags(position.next, b, property)
      found(position, 'discriminator-changed', isStated ? HARMLESS : breaks, said, places(a, b))
    } else compareModes(position, a, b)
  }
  const [old, next] = [membersOf(position.old, a), membersOf(position.next, b)]
  compareMembers(position, { a, b, old, next }, compare)
}

/** Returns whether each member declares its own tag values, so that the discriminator adds no information. */
function statesTags(api: Api, { members }: UnionSchema, property: string): boolean {
  const tags = members.map((member) => constantsOf(api, member, property))
  const all = tags.flat()
  return tags.every((each) => each.length > 0) && new Set(all).size === all.length
}

interface Members {
  readonly a: Schema
  readonly b: Schema
  readonly old: readonly Schema[]
  readonly next: readonly Schema[]
}

function compareMembers(position: ComparisonPosition, { a, b, old, next }: Members, compare: Compare): void {
  const shaped = (one: Schema, other: Schema) =>
    shapeOf(position.old, one, 3) === shapeOf(position.next, other, 3)
  const sure = pairUp(old, next, [
    (one, other) => isSameName(position, one, other) && shaped(one, other),
    shaped,
    (one, other) => isSameName(position, one, other),
  ])
  for (const [one, other] of sure.pairs) compare(position, one, other)
  const rest = mergeEnums(position, sure.alone, sure.left)
  if (rest) compareEnums(position, ...rest)
  const isMerged = (schema: Schema) => rest !== undefined && targetOf(position.old, schema).kind === 'enum'
  const alike = pairUp(
    sure.alone.filter((each) => !isMerged(each)),
    sure.left.filter((each) => rest === undefined || targetOf(position.next, each).kind !== 'enum'),
    [(one, other) => isSameKind(position, one, other)],
  )
  for (const [one, other] of alike.pairs) compare(inside(position, `|${next.indexOf(other)}`), one, other)
  report(position, { a, b, old, next }, alike.alone, alike.left)
  if (isExclusive(a) && isExclusive(b)) compareOverlaps(position, a, b, [...sure.pairs, ...alike.pairs])
}

/** Returns whether values that match two members are rejected. A discriminator selects one member instead. */
const isExclusive = (schema: Schema): schema is UnionSchema =>
  schema.kind === 'union' && schema.mode === 'oneOf' && !schema.discriminator

/** Reports members of `oneOf` that a value can match together now, or no longer. */
function compareOverlaps(
  position: ComparisonPosition,
  a: Schema,
  b: Schema,
  pairs: readonly (readonly [Schema, Schema])[],
): void {
  const { old, next } = position
  const isChanged = ([one, other]: readonly [Schema, Schema]) =>
    shapeOf(old, one, 3) !== shapeOf(next, other, 3)
  for (const [index, pair] of pairs.entries())
    for (const each of pairs.slice(index + 1)) {
      if (!isChanged(pair) && !isChanged(each)) continue
      const did = (closed: boolean) => mayOverlap(old, pair[0], each[0], closed)
      const does = mayOverlap(next, pair[1], each[1], false)
      const both = `values that match two members (${nameOf(pair[1])}, ${nameOf(each[1])})`
      if (does && !did(false))
        found(position, 'type-narrowed', NARROWING, `now rejects ${both}`, places(a, b))
      if (did(true) && !does)
        found(position, 'type-widened', WIDENING, `no longer rejects ${both}`, places(a, b))
    }
}

/** Merges the enumerations in a union, because it does not matter which of them lists a value. */
function mergeEnums(position: ComparisonPosition, old: readonly Schema[], next: readonly Schema[]) {
  const listOf = (api: Api, all: readonly Schema[]) => {
    const lists = all.filter((each) => targetOf(api, each).kind === 'enum')
    const [first] = lists
    if (!first) return undefined
    const { place, deprecated, extensions, examples } = first
    const base = { place, deprecated, extensions, examples, nullable: false }
    return {
      count: lists.length,
      list: asEnum(api, { ...base, kind: 'union', mode: 'anyOf', members: lists }),
    }
  }
  const [was, is] = [listOf(position.old, old), listOf(position.next, next)]
  if (!was?.list || !is?.list || was.count === is.count) return undefined
  return [was.list, is.list] as const
}

/** Returns the members of a union. In `anyOf`, flattens nested unions and leaves out members that another one includes. */
function membersOf(api: Api, schema: Schema): readonly Schema[] {
  if (schema.kind !== 'union') return [schema]
  const members = schema.members.map(unwrap)
  if (schema.mode !== 'anyOf') return members
  const flat = members.flatMap((member) =>
    member.kind === 'union' && member.mode === 'anyOf' && !member.unheld ? membersOf(api, member) : [member],
  )
  const targets = flat.map((member) => targetOf(api, member))
  // Without constraints, a string or a number includes all values of its type.
  const isFree = (each: Schema) =>
    /^(string|number)$/.test(each.kind) && shapeOf(api, each, 0) === JSON.stringify([['kind', each.kind]])
  const free = new Set<string>(targets.filter(isFree).map(({ kind }) => kind))
  return flat.filter((_, index) => isFree(targets[index]!) || !isWithin(targets[index]!, free))
}

/** Returns whether one of the types includes all values of a schema. */
function isWithin(schema: Schema, types: ReadonlySet<string>): boolean {
  if (schema.nullable) return false
  if (schema.kind === 'enum') return schema.values.every((value) => types.has(typeof value))
  return types.has(schema.kind) && !schema.untyped && !schema.unheld?.untyped
}

const isSameName = (position: ComparisonPosition, one: Schema, other: Schema): boolean =>
  one.kind === 'ref' &&
  other.kind === 'ref' &&
  (one.name === other.name || isRenamed(position, one.name, other.name))

const isRenamed = (position: ComparisonPosition, old: string, next: string): boolean =>
  !position.next.schemas.has(old) &&
  !position.old.schemas.has(next) &&
  shapeOf(position.old, position.old.schemas.get(old)!, 2) ===
    shapeOf(position.next, position.next.schemas.get(next)!, 2)

/**
 * Returns whether two members are worth comparing: they are of the same kind, and not two components that exist in
 * both documents.
 */
function isSameKind(position: ComparisonPosition, one: Schema, other: Schema): boolean {
  if (
    one.kind === 'ref' &&
    other.kind === 'ref' &&
    (position.next.schemas.has(one.name) || position.old.schemas.has(other.name))
  )
    return false
  return targetOf(position.old, one).kind === targetOf(position.next, other).kind
}

const nameOf = (schema: Schema): string => (schema.kind === 'ref' ? schema.name : schema.kind)

/** A value that matches an added member of `oneOf` and another one is no longer valid, and becomes valid if it is removed. */
function report(
  position: ComparisonPosition,
  { a, b, old, next }: Members,
  removed: readonly Schema[],
  added: readonly Schema[],
): void {
  const clashes = (api: Api, union: Schema, member: Schema, others: readonly Schema[], closed: boolean) =>
    isExclusive(union) ? others.find((each) => mayOverlap(api, each, member, closed)) : undefined
  const [before, after] = [
    old.filter((each) => !removed.includes(each)),
    next.filter((each) => !added.includes(each)),
  ]
  for (const one of removed) {
    const isFreed = clashes(position.old, a, one, before, true) !== undefined
    const breaks = added.length > 0 || isFreed ? BOTH : NARROWING
    found(position, 'union-member-removed', breaks, `is no longer ${nameOf(one)}`, places(one, b))
  }
  for (const other of added) {
    const clash = clashes(position.next, b, other, after, false)
    const said = clash ? `, and values that are also ${nameOf(clash)} are rejected` : ''
    const breaks = clash ? BOTH : WIDENING
    found(position, 'union-member-added', breaks, `may now be ${nameOf(other)}${said}`, places(a, other))
  }
}

/** Compares `oneOf` with `anyOf`. They are equivalent if no value can match two members. */
function compareModes(position: ComparisonPosition, a: UnionSchema, b: UnionSchema): void {
  if (a.mode === b.mode) return
  const [api, { members }] = b.mode === 'oneOf' ? [position.next, b] : [position.old, a]
  const isApart = (member: Schema, index: number) =>
    members.slice(index + 1).every((other) => !mayOverlap(api, member, other, false))
  if (members.every(isApart)) return
  if (b.mode === 'oneOf')
    found(position, 'type-narrowed', NARROWING, 'must now match exactly one member', places(a, b))
  else found(position, 'type-widened', WIDENING, 'may now match several members', places(a, b))
}

function compareTagged(position: ComparisonPosition, a: UnionSchema, b: UnionSchema, compare: Compare): void {
  const [was, is] = [a.discriminator!, b.discriminator!]
  if (was.property !== is.property) {
    const said = `now has the discriminator ${is.property}; it was ${was.property}`
    found(position, 'discriminator-changed', BOTH, said, places(a, b), { value: was.property })
  }
  compareTagging(position, a, b)
  const [before, after] = [tagsIn(position.old, a), tagsIn(position.next, b)]
  const gone = [...before].filter(([tag]) => !after.has(tag))
  const come = new Map([...after].filter(([tag]) => !before.has(tag)))
  for (const [tag, one] of before) {
    const other = after.get(tag)
    if (other) compare(position, one, other)
  }
  for (const [tag, one] of gone) {
    const found = retagged(position, one, come)
    if (found) {
      come.delete(found[0])
      reportRetagged(position, a, b, { old: tag, next: found[0], name: nameOf(one) })
      compare(position, one, found[1])
    } else reportTag(position, 'union-member-removed', tag, come.size > 0 ? BOTH : NARROWING, places(one, b))
  }
  for (const [tag, other] of come) reportTag(position, 'union-member-added', tag, WIDENING, places(a, other))
  const old = a.members.filter((each) => each.kind !== 'ref')
  const next = b.members.filter((each) => each.kind !== 'ref')
  if (old.length + next.length > 0) compareMembers(position, { a, b, old, next }, compare)
}

/** Compares whether the constants of all members are the tags; one member without a constant makes names the tags of all. */
function compareTagging(position: ComparisonPosition, a: UnionSchema, b: UnionSchema): void {
  const [was, is] = [tagsOf(a, position.old), tagsOf(b, position.next)]
  if (!was || !is) return
  const areConstants = (api: Api, { members }: UnionSchema, property: string) =>
    members.every((each) => constantsOf(api, each, property).length > 0)
  const [did, does] = [
    areConstants(position.old, a, was.property),
    areConstants(position.next, b, is.property),
  ]
  if (did === does) return
  const [constants, names] = did ? [was.members, is.members] : [is.members, was.members]
  const kept = new Set([...names.values()].map(nameOf))
  if ([...constants].every(([tag, member]) => names.has(tag) || !kept.has(nameOf(member)))) return
  const [now, before] = did ? ['names', 'constants'] : ['constants', 'names']
  const said = `${is.property} now selects members by their ${now}; it was by their ${before}`
  found(position, 'discriminator-changed', did ? NARROWING : WIDENING, said, places(a, b))
}

/** Returns every tag with its member. Without a mapping, the tag is the member's constant, or else its name. */
function tagsIn(api: Api, { members, discriminator }: UnionSchema): Map<string, Schema> {
  const tags = new Map<string, Schema>()
  const { mapping, property } = discriminator!
  // A mapping from a name to itself is the default.
  const stated = [...mapping].filter(([tag, name]) => tag !== name)
  const mapped = new Set(stated.map(([, name]) => name))
  for (const [tag, name] of stated) {
    const member = members.find((each) => each.kind === 'ref' && each.name === name)
    if (member) tags.set(tag, member)
  }
  for (const member of members)
    if (member.kind === 'ref' && !mapped.has(member.name))
      tags.set(constantsOf(api, member, property)[0] ?? member.name, member)
  return tags
}

function retagged(position: ComparisonPosition, one: Schema, come: ReadonlyMap<string, Schema>) {
  return [...come].find(([, other]) => isSameName(position, one, other))
}

function reportRetagged(
  position: ComparisonPosition,
  a: Schema,
  b: Schema,
  { old, next, name }: { readonly old: string; readonly next: string; readonly name: string },
): void {
  const said = `${name} now has the tag ${next}; it was ${old}`
  found(position, 'union-member-retagged', BOTH, said, places(a, b), { value: old })
}

function reportTag(
  position: ComparisonPosition,
  code: 'union-member-removed' | 'union-member-added',
  value: string,
  breaks: number,
  at: ReturnType<typeof places>,
): void {
  const said = code === 'union-member-added' ? `may now be ${value}` : `is no longer ${value}`
  found(position, code, breaks, said, at, { value })
}
