/** Translates objects: properties are removed, renamed, converted or made. */
import type { SchemaLens, Wrapped } from '../change/change.ts'
import { propertyStep, targetOf } from '../diff/position.ts'
import type { Api, Property, Schema } from '../ir/model.ts'
import {
  type LensAt,
  lensesOn,
  namesTable,
  type Rewrite,
  SAME,
  type ShapeMember,
  sidesOf,
  type TranslationStep,
  wholeLens,
} from './model.ts'
import { goneWith, movesOf, type Objects } from './moves.ts'
import type { ObjectShape } from './shape.ts'
import { pairUnions } from './unions.ts'

/** Returns the rewrite from one object to the other. */
export function pairObjects(
  step: TranslationStep,
  old: ObjectShape,
  next: ObjectShape,
  at: string | undefined,
): Rewrite {
  const members: ShapeMember[] = []
  const settled = new Set<string>()
  const [from, to] = sidesOf(step, old, next)
  for (const pointer of from.refs) step.reached.add(pointer)
  if (at !== undefined) step.sites.add(at)
  const pair: Objects = { step, old, next, at }
  const found = lensesOn(step, new Set([...old.owners, ...next.owners, ...(at ? [at] : [])]))
  // A value for null comes after a value for an absent property, which leaves null as it is.
  for (const lens of found.toSorted((a, b) => Number(isForNull(a.lens)) - Number(isForNull(b.lens)))) {
    for (const member of membersFor(lens, pair)) members.push(member)
    for (const name of namedBy(lens.lens)) settled.add(name)
    noteByHand(lens.lens, pair)
  }
  const moves = movesOf(pair)
  for (const name of goneWith(moves, to)) {
    if (settled.has(name)) continue
    members.push({ kind: 'remove', name })
    settled.add(name)
  }
  for (const { source } of moves) if (source.length === 1) settled.add(source[0]!)
  const names = new Set([...from.properties.keys(), ...(from.rest ? to.properties.keys() : [])])
  for (const name of names) {
    if (settled.has(name)) continue
    const property = from.properties.get(name)
    const isKnown = to.properties.has(name) || to.rest !== undefined
    if (isKnown) members.push(...changeOf(pair, name))
    else if (property && step.direction === 'down' && isListed(to)) {
      members.push({ kind: 'remove', name })
      step.byHand.add(property.schema.place.pointer)
    }
  }
  const parts: Rewrite[] = [{ kind: 'object', members: members.filter(isFirst) }]
  if (old.patterns.size > 0 || next.patterns.size > 0) missPatterns(step, old, next)
  else if (old.rest && next.rest) {
    const { nullable } = step.direction === 'down' ? next.rest : old.rest
    const value = step.pair(old.rest, next.rest, at && `${at}{}`)
    parts.push({ kind: 'map', value, nullable, except: [...names] })
  }
  for (const [index, union] of from.unions.entries()) {
    const target = to.unions[index]
    if (target) parts.push(pairUnions(step, ...sidesOf(step, union, target), at))
  }
  const inner: Rewrite = { kind: 'all', parts }
  return moves.length > 0 ? { kind: 'relocate', inner, moves } : inner
}

/** Returns whether no other member already keeps the property: two lenses can fill in the same one. */
const isFirst = (member: ShapeMember, index: number, all: readonly ShapeMember[]): boolean =>
  member.kind !== 'change' ||
  !all.some(
    (each, at) =>
      (each.kind === 'fill' || (each.kind === 'change' && at < index)) && each.name === member.name,
  )

const isForNull = ({ kind }: SchemaLens): boolean => kind === 'nullable' || kind === 'non-null'

/** Records properties whose values lens functions make: their contents need no further translation. */
function noteByHand(lens: SchemaLens, { step, old, next }: Objects): void {
  const isTurned =
    lens.kind === 'rename' ? lens.up !== undefined : /^(convert|replace|values|drop)$/.test(lens.kind)
  const [from] = sidesOf(step, old, next)
  for (const name of isTurned ? namedBy(lens) : []) {
    const property = from.properties.get(name)
    if (property) step.byHand.add(property.schema.place.pointer)
  }
}

/** Returns all schemas of a property, if several parts declare it. */
const saidOf = (shape: ObjectShape, name: string): readonly Schema[] => {
  const property = shape.properties.get(name)
  if (!property) return shape.rest ? [shape.rest] : []
  return [property.schema, ...(shape.beside.get(name) ?? [])]
}

/**
 * Returns the rewrites for a value with several schemas. Schemas are matched by name, or else by kind; schemas
 * without a match are skipped.
 */
export function pairParts(
  step: TranslationStep,
  old: readonly Schema[],
  next: readonly Schema[],
  pair: (old: Schema, next: Schema) => Rewrite,
): Rewrite[] {
  const [sources, targets] = sidesOf(step, old, next)
  const called = new Set<string>()
  return sources.flatMap((source) => {
    const target =
      targets.find((each) => each.kind === 'ref' && source.kind === 'ref' && each.name === source.name) ??
      targets.find((each) => each.kind === source.kind) ??
      targets.find((each) => each.kind === 'ref' || source.kind === 'ref')
    if (!target) return []
    const rewrite = pair(...sidesOf(step, source, target))
    if (rewrite.kind === 'call' && called.has(rewrite.key)) return []
    if (rewrite.kind === 'call') called.add(rewrite.key)
    return [rewrite]
  })
}

/** Records pattern properties as missed: which schema applies depends on the name, which functions do not check. */
function missPatterns(step: TranslationStep, old: ObjectShape, next: ObjectShape): void {
  for (const [pattern, one] of [...old.patterns, ...(old.rest ? [['', old.rest] as const] : [])]) {
    const other = next.patterns.get(pattern) ?? next.rest
    if (other) step.missed.push({ place: one.place, rewrite: step.aside().pair(one, other) })
  }
}

/** Returns whether an object declares its properties; an object that declares none may hold anything. */
const isListed = (shape: ObjectShape): boolean =>
  !shape.rest && (shape.properties.size > 0 || shape.closed) && shape.unions.length === 0

/** Returns the rewrite of a property that keeps its name; empty if only one side declares it. */
function changeOf(pair: Objects, name: string): Extract<ShapeMember, { kind: 'change' }>[] {
  const rewrite = rewriteOf(pair, name, name)
  if (!rewrite) return []
  const [from] = sidesOf(pair.step, pair.old, pair.next)
  const property = from.properties.get(name)
  const components = [pair.old, pair.next].flatMap(
    ({ properties }) => componentOf(properties.get(name)?.schema) ?? [],
  )
  // Null that the property allows stays null; null that the component allows is rewritten.
  const takesNull = !property?.schema.nullable && wholeLens(pair.step, ...components) !== undefined
  return [
    {
      kind: 'change',
      name,
      optional: mayLack(pair.step, property),
      nullable: property?.schema.nullable === true,
      rewrite,
      ...(takesNull && { takesNull }),
    },
  ]
}

/** Requests, which are translated up, may lack read-only properties; responses may lack write-only ones. */
const mayLack = ({ direction }: TranslationStep, property: Property | undefined): boolean =>
  !property?.required || (direction === 'up' ? property.readOnly : property.writeOnly)

const componentOf = (schema: Schema | undefined): string | undefined =>
  schema?.kind === 'ref' ? schema.name : undefined

/** Returns the rewrite of a property's value, under its old and new name. */
function rewriteOf({ step, old, next, at }: Objects, oldName: string, newName: string): Rewrite | undefined {
  const [before, after] = [saidOf(old, oldName), saidOf(next, newName)]
  const home = next.homes.get(newName)
  const outside = home !== undefined && home === old.homes.get(oldName) ? home : at
  const inside = outside === undefined ? undefined : outside + propertyStep(newName)
  const [one, other] = [before[0], after[0]]
  if (!one || !other) return undefined
  if (before.length + after.length === 2) return step.pair(one, other, inside)
  return { kind: 'all', parts: pairParts(step, before, after, (a, b) => step.pair(a, b, inside)) }
}

function namedBy(lens: SchemaLens): readonly string[] {
  switch (lens.kind) {
    case 'rename':
      return [lens.from, lens.to]
    case 'wrapped':
      return [lens.from, lens.to]
    case 'replace':
      return [...lens.old, ...lens.new]
    case 'values':
    case 'convert':
    case 'nullable':
    case 'non-null':
      return lens.property === undefined ? [] : [lens.property]
    case 'moved':
      return []
    default:
      return [lens.property]
  }
}

function membersFor(at: LensAt<SchemaLens>, pair: Objects): ShapeMember[] {
  const { lens, change: made } = at
  const { step, old, next } = pair
  const down = step.direction === 'down'
  const from = down ? next : old
  const optional = (name: string) => mayLack(step, from.properties.get(name))
  const nullable = (name: string) => from.properties.get(name)?.schema.nullable === true
  const change = (name: string, rewrite: Rewrite): ShapeMember[] =>
    from.properties.has(name)
      ? [{ kind: 'change', name, optional: optional(name), nullable: nullable(name), rewrite }]
      : []
  switch (lens.kind) {
    case 'convert':
      if (lens.property === undefined) return []
      return change(lens.property, {
        kind: 'turn',
        by: at,
        nullish: optional(lens.property) || nullable(lens.property),
      })
    case 'values':
      if (lens.property === undefined) return []
      return change(lens.property, {
        kind: 'names',
        names: namesTable(lens, step.direction),
        change: made,
      })
    case 'rename': {
      const [source, target] = down ? [lens.to, lens.from] : [lens.from, lens.to]
      if (!from.properties.has(source)) return []
      const rewrite = lens.up ? undefined : rewriteOf(pair, lens.from, lens.to)
      const how = lens.up ? { by: at } : rewrite && { rewrite }
      return [
        {
          kind: 'move',
          from: source,
          to: target,
          optional: mayLack(step, from.properties.get(source)),
          change: made,
          ...how,
        },
      ]
    }
    case 'wrapped': {
      const [source, target] = down ? [lens.to, lens.from] : [lens.from, lens.to]
      if (!from.properties.has(source)) return []
      const rewrite = wrapping(lens, pair)
      return [{ kind: 'move', from: source, to: target, optional: optional(source), change: made, rewrite }]
    }
    case 'replace': {
      const names = down ? lens.new : lens.old
      return names.some((name) => from.properties.has(name)) ? [{ kind: 'group', from: names, by: at }] : []
    }
    case 'drop':
      if (!down)
        return from.properties.has(lens.property)
          ? [{ kind: 'remove', name: lens.property, change: made }]
          : []
      return lens.down && old.properties.has(lens.property)
        ? [{ kind: 'make', name: lens.property, by: at }]
        : []
    case 'default': {
      // A property that both versions have is kept; requests that lack it get the default.
      const kept = listChange(lens.property, pair)
      if (down)
        return kept.length > 0 || !from.properties.has(lens.property)
          ? kept
          : [{ kind: 'remove', name: lens.property }]
      return next.properties.has(lens.property)
        ? [
            ...kept,
            {
              kind: 'default',
              name: lens.property,
              value: lens.value,
              known: kept.length > 0,
              change: made,
            },
          ]
        : []
    }
    case 'moved':
      return []
    case 'optional':
    case 'nullable':
    case 'non-null': {
      if (lens.property === undefined) return []
      const of = lens.kind === 'optional' ? 'absent' : 'null'
      const mayFill = down === (lens.kind !== 'non-null')
      return listChange(lens.property, pair).map(
        (each): ShapeMember =>
          mayFill && (of === 'null' || each.optional)
            ? { ...each, kind: 'fill', of, value: lens.value, change: made }
            : each,
      )
    }
    case 'leave-out':
      return down ? change(lens.property, leaveOut(at, pair)) : listChange(lens.property, pair)
  }
}

/** Returns the rewrite between a value and a list of values. */
function wrapping({ from, to, list, empty }: Wrapped, { step, old, next, at }: Objects): Rewrite {
  const [one, other] = [old.properties.get(from)?.schema, next.properties.get(to)?.schema]
  const itemsOf = (api: Api, schema: Schema | undefined): Schema | undefined => {
    const target = schema && targetOf(api, schema)
    return target?.kind === 'array' ? target.items : undefined
  }
  const [before, after] = list === 'new' ? [one, itemsOf(step.next, other)] : [itemsOf(step.old, one), other]
  const inside = at && `${at}${propertyStep(to)}${list === 'new' ? '[]' : ''}`
  for (const each of [one, other]) if (each?.kind === 'ref') step.reached.add(each.place.pointer)
  const inner = before && after ? step.pair(before, after, inside) : SAME
  return { kind: (list === 'new') === (step.direction === 'up') ? 'wrap' : 'first', inner, empty }
}

const listChange = (name: string, pair: Objects) =>
  pair.old.properties.has(name) && pair.next.properties.has(name) ? changeOf(pair, name) : []

function leaveOut(at: LensAt<SchemaLens>, pair: Objects): Rewrite {
  const { lens } = at
  const { step } = pair
  if (lens.kind !== 'leave-out') return SAME
  const inner = rewriteOf(pair, lens.property, lens.property) ?? SAME
  const known = new Set(enumValues(step.old, lens.unless))
  return {
    kind: 'list',
    nullable: false,
    item: inner.kind === 'list' ? inner.item : SAME,
    without: {
      kinds: lens.unless,
      added: enumValues(step.next, lens.unless).filter((value) => !known.has(value)),
      change: at.change,
      ...(lens.by !== undefined && { by: lens.by }),
    },
  }
}

function enumValues(api: Api, component: string): string[] {
  const schema = api.schemas.get(component)
  return schema?.kind === 'enum' ? schema.values.map(String) : []
}
