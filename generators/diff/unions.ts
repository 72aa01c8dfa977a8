/** `oneOf` and `anyOf`: members are matched by tag, by name, by shape, and last by kind. */

import type { Api, Schema, UnionSchema } from '../ir/model.ts'
import { constantsOf } from '../ir/tags.ts'
import { asEnum, compareEnums } from './enums.ts'
import { pairUp } from './match.ts'
import type { Compare } from './schemas.ts'
import { BOTH, found, inside, NARROWING, places, type Spot, shapeOf, targetOf, WIDENING } from './sheet.ts'

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
  const [old, next] = [membersOf(a), membersOf(b)]
  compareMembers(spot, { a, b, old, next }, compare)
}

interface Members {
  readonly a: Schema
  readonly b: Schema
  readonly old: readonly Schema[]
  readonly next: readonly Schema[]
}

function compareMembers(spot: Spot, { a, b, old, next }: Members, compare: Compare): void {
  const shaped = (one: Schema, other: Schema) => shapeOf(spot.old, one, 3) === shapeOf(spot.next, other, 3)
  const sure = pairUp(old, next, [
    (one, other) => isSameName(spot, one, other) && shaped(one, other),
    shaped,
    (one, other) => isSameName(spot, one, other),
  ])
  for (const [one, other] of sure.pairs) compare(spot, one, other)
  const rest = mergeEnums(spot, sure.alone, sure.left)
  if (rest) compareEnums(spot, ...rest)
  const isMerged = (schema: Schema) => rest !== undefined && targetOf(spot.old, schema).kind === 'enum'
  const alike = pairUp(
    sure.alone.filter((each) => !isMerged(each)),
    sure.left.filter((each) => rest === undefined || targetOf(spot.next, each).kind !== 'enum'),
    [(one, other) => isSameKind(spot, one, other)],
  )
  for (const [one, other] of alike.pairs) compare(inside(spot, `|${next.indexOf(other)}`), one, other)
  report(spot, a, b, alike.alone, alike.left)
}

/** Lists that are written in parts are one list: which part a value stands in says nothing. */
function mergeEnums(spot: Spot, old: readonly Schema[], next: readonly Schema[]) {
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
  const [was, is] = [listOf(spot.old, old), listOf(spot.next, next)]
  if (!was?.list || !is?.list || was.count === is.count) return undefined
  return [was.list, is.list] as const
}

/** A union within a union is its members. */
function membersOf(schema: Schema): readonly Schema[] {
  if (schema.kind !== 'union') return [schema]
  return schema.members.flatMap((member) =>
    schema.mode === 'anyOf' && member.kind === 'union' && member.mode === 'anyOf' && !member.unheld
      ? membersOf(member)
      : [member],
  )
}

const isSameName = (spot: Spot, one: Schema, other: Schema): boolean =>
  one.kind === 'ref' &&
  other.kind === 'ref' &&
  (one.name === other.name || isRenamed(spot, one.name, other.name))

const isRenamed = (spot: Spot, old: string, next: string): boolean =>
  !spot.next.schemas.has(old) &&
  !spot.old.schemas.has(next) &&
  shapeOf(spot.old, spot.old.schemas.get(old)!, 2) === shapeOf(spot.next, spot.next.schemas.get(next)!, 2)

/** Worth comparing member with member: of one kind, and not two components that both documents know apart. */
function isSameKind(spot: Spot, one: Schema, other: Schema): boolean {
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
  const [before, after] = [tagsIn(spot.old, a), tagsIn(spot.next, b)]
  const gone = [...before].filter(([tag]) => !after.has(tag))
  const come = new Map([...after].filter(([tag]) => !before.has(tag)))
  for (const [tag, one] of before) {
    const other = after.get(tag)
    if (other) compare(spot, one, other)
  }
  for (const [tag, one] of gone) {
    const found = retagged(spot, one, come)
    if (found) {
      come.delete(found[0])
      reportRetagged(spot, a, b, { old: tag, next: found[0], name: nameOf(one) })
      compare(spot, one, found[1])
    } else reportTag(spot, 'union-member-removed', tag, come.size > 0 ? BOTH : NARROWING, places(one, b))
  }
  for (const [tag, other] of come) reportTag(spot, 'union-member-added', tag, WIDENING, places(a, other))
  const old = a.members.filter((each) => each.kind !== 'ref')
  const next = b.members.filter((each) => each.kind !== 'ref')
  if (old.length + next.length > 0) compareMembers(spot, { a, b, old, next }, compare)
}

/** Every tag and the member that it names: where no mapping does, its own constant does, or else its name. */
function tagsIn(api: Api, { members, discriminator }: UnionSchema): Map<string, Schema> {
  const tags = new Map<string, Schema>()
  const { mapping, property } = discriminator!
  // A name that stands for itself is what is assumed without a mapping.
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

function retagged(spot: Spot, one: Schema, come: ReadonlyMap<string, Schema>) {
  return [...come].find(([, other]) => isSameName(spot, one, other))
}

function reportRetagged(
  spot: Spot,
  a: Schema,
  b: Schema,
  { old, next, name }: { readonly old: string; readonly next: string; readonly name: string },
): void {
  const said = `${name} is tagged ${next}, not ${old}`
  found(spot, 'union-member-retagged', BOTH, said, places(a, b), { value: old })
}

function reportTag(
  spot: Spot,
  code: 'union-member-removed' | 'union-member-added',
  value: string,
  breaks: number,
  at: ReturnType<typeof places>,
): void {
  const said = code === 'union-member-added' ? `may be ${value} now` : `is never ${value} now`
  found(spot, code, breaks, said, at, { value })
}
