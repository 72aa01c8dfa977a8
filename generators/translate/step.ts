/**
 * Derives the translation between two adjacent versions from both documents (for example, a property that only the
 * new version has is removed on the way down) and from the lenses between them. Schemas are compared by structure,
 * so renaming or inlining a component has no effect.
 */
import type { LoadedChange } from '../change/load-changes.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import type { Api, ArraySchema, Schema } from '../ir/model.ts'
import { stabilityAt } from '../ir/stability.ts'
import { typeOfSchema } from '../ir/type-mapping.ts'
import {
  type Direction,
  lensesOn,
  namesTable,
  type PairFunction,
  type Rewrite,
  SAME,
  type ShapeMember,
  sidesOf,
  type TranslationStep,
  wholeLens,
} from './model.ts'
import { pairObjects, pairParts } from './objects.ts'
import { shapeOf } from './shape.ts'
import { pairUnions } from './unions.ts'

/**
 * Creates the translation in one direction.
 *
 * @param changes the changes that the newer version introduced.
 */
export function createStep(
  direction: Direction,
  old: Api,
  next: Api,
  changes: readonly LoadedChange[],
): TranslationStep {
  return makeStep(direction, old, next, changes, false)
}

/**
 * Creates the step that makes the values of handlers and callers from the JSON values of one version.
 *
 * @param direction `up` for requests, `down` for responses: which properties may be absent depends on it.
 */
export function createDecoding(direction: Direction, api: Api): TranslationStep {
  return makeStep(direction, api, api, [], false, (schema) => {
    const type = typeOfSchema(api.types, schema)
    return type && { kind: 'decode', type }
  })
}

/**
 * @param isAside whether the step only determines missed rewrites. `aside()` of such a step returns the step itself,
 * which ends the recursion.
 */
function makeStep(
  direction: Direction,
  old: Api,
  next: Api,
  changes: readonly LoadedChange[],
  isAside: boolean,
  scalar?: TranslationStep['scalar'],
): TranslationStep {
  const lenses = changes.flatMap((change) => change.lenses.map((lens, index) => ({ change, index, lens })))
  let aside: TranslationStep | undefined
  const step: TranslationStep = {
    direction,
    old,
    next,
    lenses,
    functions: new Map(),
    missed: [],
    reached: new Set(),
    byHand: new Set(),
    sites: new Set(),
    ...(scalar && { scalar }),
    aside() {
      if (isAside) return step
      aside ??= makeStep(direction, old, next, changes, true, scalar)
      return aside
    },
    pair: (one, other, at) => pair(step, one, other, at),
  }
  return step
}

/** Returns the rewrite of a pair of schemas. Each pair of components gets a function. */
function pair(step: TranslationStep, old: Schema, next: Schema, at: string | undefined): Rewrite {
  if (isAlpha(step, old)) return SAME
  const converted = wholeConversion(step, old, next, new Set(at === undefined ? [] : [at]))
  if (converted) return converted
  if (old.kind !== 'ref' || next.kind !== 'ref') return pairInside(step, old, next, { owners: new Set(), at })
  step.reached.add(sidesOf(step, old, next)[0].place.pointer)
  const key = `${old.name} ${next.name}`
  if (!step.functions.has(key)) {
    const oldTarget = step.old.schemas.get(old.name)
    const nextTarget = step.next.schemas.get(next.name)
    if (!oldTarget || !nextTarget) return SAME
    const whole = wholeLens(step, old.name, next.name)
    const nullable = !whole && (step.direction === 'down' ? nextTarget : oldTarget).nullable
    const base = { key, old: old.name, next: next.name, nullable }
    // A placeholder while the function is built, because a schema may contain itself.
    step.functions.set(key, { ...base, rewrite: SAME })
    const owners = new Set([old.name, next.name])
    const rewrite = pairInside(step, oldTarget, nextTarget, { owners, at: next.name })
    step.functions.set(key, {
      ...base,
      rewrite: whole ? { kind: 'instead', value: whole.lens.value, rewrite, change: whole.change } : rewrite,
    })
  }
  return { kind: 'call', key }
}

/** Returns whether values of a schema are not translated, because it is alpha in the old version. */
const isAlpha = ({ old: { document }, scalar }: TranslationStep, { place: { pointer } }: Schema): boolean =>
  !scalar && stabilityAt({ document }, pointer) === 'alpha'

const NESTED_REFERENCES = 20

/** The location of two schemas, by which lenses find them. */
interface SchemaSite {
  /** Components that the schemas are, or are directly in. */
  readonly owners: ReadonlySet<string>
  readonly at: string | undefined
}

/** Pairs both schemas by structure. Follows a reference that only one side has. */
function pairInside(step: TranslationStep, old: Schema, next: Schema, site: SchemaSite): Rewrite {
  if (isAlpha(step, old)) return SAME
  const { owners, at } = site
  const converted = wholeConversion(step, old, next, owners)
  if (converted) return converted
  if (owners.size > NESTED_REFERENCES) return SAME
  if (old.kind === 'ref' && next.kind === 'ref') return pair(step, old, next, at)
  const [from] = sidesOf(step, old, next)
  if (from.kind === 'ref') step.reached.add(from.place.pointer)
  if (old.kind === 'ref') {
    const target = step.old.schemas.get(old.name)
    return target ? pairInside(step, target, next, { owners: new Set([...owners, old.name]), at }) : SAME
  }
  if (next.kind === 'ref') {
    const target = step.next.schemas.get(next.name)
    return target ? pairInside(step, old, target, { owners: new Set([...owners, next.name]), at }) : SAME
  }
  const decoded = step.scalar?.(from)
  if (decoded) return decoded
  const names = namesOf(step, owners)
  if (names) return names
  if (old.kind === 'array' && next.kind === 'array') {
    // Positions of a tuple may have different schemas, but a list is translated item by item.
    if (old.prefix.length > 0 || next.prefix.length > 0) return missPositions(step, old, next)
    const { nullable } = step.direction === 'down' ? next.items : old.items
    return { kind: 'list', item: pair(step, old.items, next.items, at && `${at}[]`), nullable }
  }
  if (old.kind === 'union' || next.kind === 'union') return pairUnions(step, old, next, at)
  const oldShape = shapeOf(old, step.old, owners)
  const nextShape = shapeOf(next, step.next, owners)
  if (oldShape && nextShape && !holdsMore(from, step)) return pairObjects(step, oldShape, nextShape, at)
  if (old.kind !== 'intersection' && next.kind !== 'intersection') return SAME
  const pairPart = (one: Schema, other: Schema) => pairInside(step, one, other, site)
  return { kind: 'all', parts: pairParts(step, partsOf(old), partsOf(next), pairPart) }
}

/**
 * Returns whether an intersection has a part other than objects that may need translation: a list, or a component
 * of a different kind.
 */
function holdsMore(from: Schema, step: TranslationStep): boolean {
  const [api] = sidesOf(step, step.old, step.next)
  return (
    from.kind === 'intersection' &&
    partsOf(from).some(
      (part) => (part.kind === 'ref' || part.kind === 'array') && !shapeOf(part, api, new Set()),
    )
  )
}

/** Returns all parts of an intersection. */
const partsOf = (schema: Schema): readonly Schema[] =>
  schema.kind === 'intersection' ? schema.members.flatMap(partsOf) : [schema]

function missPositions(step: TranslationStep, old: ArraySchema, next: ArraySchema): Rewrite {
  const length = Math.max(old.prefix.length, next.prefix.length)
  for (let at = 0; at <= length; at++) {
    const [one, other] = [old.prefix[at] ?? old.items, next.prefix[at] ?? next.items]
    step.missed.push({ place: one.place, rewrite: step.aside().pair(one, other) })
  }
  return SAME
}

/** Returns the rewrite of a lens that converts the whole value; its parts need no further translation. */
function wholeConversion(
  step: TranslationStep,
  old: Schema,
  next: Schema,
  places: ReadonlySet<string>,
): Rewrite | undefined {
  const by = lensesOn(step, places).find(({ lens }) => lens.kind === 'convert' && lens.property === undefined)
  if (!by) return undefined
  const [from] = sidesOf(step, old, next)
  step.byHand.add(from.place.pointer)
  return { kind: 'turn', by, nullish: from.nullable }
}

function namesOf(step: TranslationStep, owners: ReadonlySet<string>): Rewrite | undefined {
  const found = lensesOn(step, owners).find(
    ({ lens }) => lens.kind === 'values' && lens.property === undefined,
  )
  if (found?.lens.kind !== 'values') return undefined
  return { kind: 'names', names: namesTable(found.lens, step.direction), change: found.change }
}

/**
 * Returns the functions that change something, reduced to their effect. A function is left out if neither it nor
 * any function that it calls changes a value.
 */
export function touchedFunctions(step: TranslationStep): ReadonlyMap<string, PairFunction> {
  const touched = new Set<string>()
  for (let grew = true; grew; ) {
    grew = false
    for (const each of step.functions.values()) {
      if (touched.has(each.key) || reduce(each.rewrite, touched).kind === 'same') continue
      touched.add(each.key)
      grew = true
    }
  }
  const kept = [...step.functions.values()].filter((each) => touched.has(each.key))
  return new Map(kept.map((each) => [each.key, { ...each, rewrite: reduce(each.rewrite, touched) }]))
}

/** Returns the locations where values must change but no function changes them, without duplicates. */
export function missedPlaces(step: TranslationStep): SourceLocation[] {
  if (step.missed.length === 0) return []
  const touched = touchedFunctions(step.aside())
  const places = step.missed
    .filter(({ rewrite }) => reduce(rewrite, touched).kind !== 'same')
    .map(({ place }) => place)
  return [...new Map(places.map((place) => [place.pointer, place])).values()]
}

/** Returns the rewrite without parts that change nothing. */
export function reduce(rewrite: Rewrite, touched: { has(key: string): boolean }): Rewrite {
  switch (rewrite.kind) {
    case 'call':
      return touched.has(rewrite.key) ? rewrite : SAME
    case 'list': {
      const item = reduce(rewrite.item, touched)
      return item.kind === 'same' && !rewrite.without ? SAME : { ...rewrite, item }
    }
    case 'map': {
      const value = reduce(rewrite.value, touched)
      return value.kind === 'same' ? SAME : { ...rewrite, value }
    }
    case 'object': {
      const members = rewrite.members.flatMap((member) => reduceMember(member, touched))
      return members.length === 0 ? SAME : { kind: 'object', members }
    }
    case 'choice': {
      const cases = rewrite.cases.map((each) => ({ ...each, rewrite: reduce(each.rewrite, touched) }))
      return cases.every((each) => each.rewrite.kind === 'same') ? SAME : { ...rewrite, cases }
    }
    case 'all': {
      const parts = rewrite.parts.map((each) => reduce(each, touched)).filter((each) => each.kind !== 'same')
      return parts.length > 1 ? { kind: 'all', parts } : (parts[0] ?? SAME)
    }
    case 'wrap':
    case 'first':
      return { ...rewrite, inner: reduce(rewrite.inner, touched) }
    case 'instead':
      return { ...rewrite, rewrite: reduce(rewrite.rewrite, touched) }
    case 'relocate': {
      const moves = rewrite.moves.map((each) => ({ ...each, rewrite: reduce(each.rewrite, touched) }))
      return { ...rewrite, inner: reduce(rewrite.inner, touched), moves }
    }
    case 'names':
      return rewrite.names.size === 0 ? SAME : rewrite
    default:
      return rewrite
  }
}

function reduceMember(member: ShapeMember, touched: { has(key: string): boolean }): ShapeMember[] {
  if (member.kind === 'fill') return [{ ...member, rewrite: reduce(member.rewrite, touched) }]
  if (member.kind === 'move' && member.rewrite) {
    const { rewrite: inner, ...bare } = member
    const rewrite = reduce(inner, touched)
    return [rewrite.kind === 'same' ? bare : { ...bare, rewrite }]
  }
  if (member.kind !== 'change') return [member]
  const rewrite = reduce(member.rewrite, touched)
  return rewrite.kind === 'same' ? [] : [{ ...member, rewrite }]
}
