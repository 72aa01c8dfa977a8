/**
 * Decides from the two documents whether the compiler can prove that a translated value has its target type. The
 * decision is conservative: when in doubt, generated code casts.
 */
import type { Api, Schema } from '../../ir/model.ts'
import type { LensAt, PairFunction, Rewrite, ShapeMember } from '../../translate/model.ts'

/** `fits`: assignable. `overlaps`: some values are assignable. `unknown`: the compiler may reject even a cast. */
export type Certainty = 'fits' | 'overlaps' | 'unknown'

/** The source and the target document of values. */
export interface ComparedVersions {
  readonly from: Api
  readonly to: Api
}

/** Both documents, and the pairs of schemas that are being compared. A cycle fits if all its members fit. */
interface Comparison extends ComparedVersions {
  readonly seen: Map<Schema, Set<Schema>>
}

const ORDER: readonly Certainty[] = ['unknown', 'overlaps', 'fits']

/** Returns the least certain of several results. */
export const least = (all: readonly Certainty[]): Certainty =>
  ORDER[Math.min(2, ...all.map((each) => ORDER.indexOf(each)))]!

/** Returns whether a function's body can use the types of both versions, which requires a name for each of its parts. */
export function isTyped(rewrite: Rewrite): boolean {
  switch (rewrite.kind) {
    case 'same':
    case 'call':
    case 'names':
      return true
    case 'turn':
      return true
    case 'list':
      return isTyped(rewrite.item) && rewrite.item.kind !== 'object'
    case 'object':
      return rewrite.members.every(isTypedMember)
    default:
      return false
  }
}

function isTypedMember(member: ShapeMember): boolean {
  switch (member.kind) {
    case 'remove':
      return true
    case 'change':
      return isTyped(member.rewrite) && (member.rewrite.kind !== 'object' || isInline(member.rewrite))
    case 'fill':
      return isTyped(member.rewrite) && member.rewrite.kind !== 'object'
    case 'move':
      return !member.rewrite || (isTyped(member.rewrite) && member.rewrite.kind !== 'object')
    case 'default':
      return member.known
    default:
      return false
  }
}

/** Returns whether the copy of an object is a single expression. */
const isInline = ({ members }: Extract<Rewrite, { kind: 'object' }>): boolean =>
  members.every((each) => each.kind === 'change' && !each.optional)

/** Returns whether every value of a component has its properties, so that code can read each by name. */
export const isPlainObject = (schema: Schema | undefined): boolean =>
  schema?.kind === 'object' && !schema.untyped && !schema.partial && schema.patterns.length === 0

/** Returns how certain the type of a translated component is. */
export function certaintyOf(
  { rewrite, old, next }: PairFunction,
  sides: ComparedVersions,
  up: boolean,
): Certainty {
  const [from, to] = up ? [old, next] : [next, old]
  const [source, target] = [sides.from.schemas.get(from), sides.to.schemas.get(to)]
  return source && target ? rewritten(rewrite, source, target, { ...sides, seen: new Map() }) : 'unknown'
}

/** Returns how certain the type of an untranslated request parameter is. */
export const certaintyOfSame = (source: Schema, target: Schema, sides: ComparedVersions): Certainty =>
  relate(source, target, { ...sides, seen: new Map() })

function rewritten(rewrite: Rewrite, source: Schema, target: Schema, sides: Comparison): Certainty {
  switch (rewrite.kind) {
    case 'same':
      return relate(source, target, sides)
    case 'call':
      return source.nullable && !target.nullable ? 'overlaps' : 'fits'
    case 'names': {
      if (source.kind !== 'enum' || target.kind !== 'enum') return 'unknown'
      const names = source.values.map((value) => rewrite.names.get(String(value)) ?? value)
      return names.every((name) => target.values.includes(name)) ? 'fits' : 'overlaps'
    }
    case 'turn':
      return turned(rewrite.by, undefined, target, sides)
    case 'list':
      if (source.kind !== 'array' || target.kind !== 'array') return 'unknown'
      if (rewrite.item.kind === 'same') return relateItems(source.items, target.items, sides, rewrite.without)
      return rewritten(rewrite.item, source.items, target.items, sides)
    case 'object':
      return objects(rewrite.members, source, target, sides)
    default:
      return 'unknown'
  }
}

/** Returns how certain the result of a lens function is: it has the type of its property in any component that the lens names. */
function turned({ lens }: LensAt, name: string | undefined, target: Schema, sides: Comparison): Certainty {
  if (!('schemas' in lens) || lens.schemas.length < 2) return 'fits'
  const property = name ?? ('property' in lens ? lens.property : undefined)
  const same = { from: sides.to, to: sides.to, seen: new Map() }
  return least(
    lens.schemas.map((component) => {
      const schema = sides.to.schemas.get(component)
      const own = schema?.kind === 'object' && schema.properties.find((each) => each.name === property)
      return own
        ? relate({ ...own.schema, nullable: own.schema.nullable && target.nullable }, target, same)
        : 'overlaps'
    }),
  )
}

/** Handles lists from which items of a kind that the target lacks are removed. */
function relateItems(
  source: Schema,
  target: Schema,
  sides: Comparison,
  without: Extract<Rewrite, { kind: 'list' }>['without'],
): Certainty {
  if (!without) return relate(source, target, sides)
  const [one, other] = [resolve(source, sides.from), resolve(target, sides.to)]
  if (without.by === undefined && one?.kind === 'enum' && other?.kind === 'enum')
    return one.values.every((value) => without.added.includes(String(value)) || other.values.includes(value))
      ? 'fits'
      : 'overlaps'
  return 'overlaps'
}

function objects(
  members: readonly ShapeMember[],
  source: Schema,
  target: Schema,
  sides: Comparison,
): Certainty {
  const [one, other] = [resolve(source, sides.from), resolve(target, sides.to)]
  if (one?.kind !== 'object' || other?.kind !== 'object') return 'unknown'
  if (typeof other.additional === 'object' || other.patterns.length > 0) return 'unknown'
  return least(
    other.properties.map((property): Certainty => {
      const own = one.properties.find((each) => each.name === property.name)
      const made = members.find((each) => madeBy(each) === property.name)
      if (made?.kind === 'change' && own) {
        const inner = rewritten(made.rewrite, own.schema, property.schema, sides)
        return made.optional && property.required ? least([inner, 'overlaps']) : inner
      }
      if (made?.kind === 'move' && made.by && (!made.optional || !property.required))
        return turned(made.by, property.name, property.schema, sides)
      if (made) return 'overlaps'
      if (!own) return property.required ? 'overlaps' : 'fits'
      const inner = relate(own.schema, property.schema, sides)
      return property.required && !own.required ? least([inner, 'overlaps']) : inner
    }),
  )
}

function madeBy(member: ShapeMember): string | undefined {
  switch (member.kind) {
    case 'move':
      return member.to
    case 'change':
    case 'fill':
    case 'default':
    case 'make':
      return member.name
    default:
      return undefined
  }
}

const resolve = (schema: Schema, api: Api): Schema | undefined =>
  schema.kind === 'ref' ? api.schemas.get(schema.name) : schema

/** Returns how certain it is that a value has the same type in both versions. */
function relate(source: Schema, target: Schema, sides: Comparison): Certainty {
  const seen = sides.seen.get(source) ?? new Set<Schema>()
  if (seen.has(target)) return 'fits'
  sides.seen.set(source, seen.add(target))
  return relateAnew(source, target, sides)
}

function relateAnew(source: Schema, target: Schema, sides: Comparison): Certainty {
  if (target.kind === 'any') return 'fits'
  const nullable: Certainty = source.nullable && !target.nullable ? 'overlaps' : 'fits'
  if (source.kind === 'ref' || target.kind === 'ref') {
    const [one, other] = [resolve(source, sides.from), resolve(target, sides.to)]
    return one && other ? least([nullable, relate(one, other, sides)]) : 'unknown'
  }
  return least([nullable, relateKinds(source, target, sides)])
}

function relateKinds(source: Schema, target: Schema, sides: Comparison): Certainty {
  if (source.untyped || target.untyped || source.partial || target.partial) return 'unknown'
  if (source.kind === 'enum' && target.kind === 'enum') {
    const shared = source.values.filter((value) => target.values.includes(value))
    if (shared.length === source.values.length) return 'fits'
    return shared.length > 0 ? 'overlaps' : 'unknown'
  }
  if (source.kind === 'enum' && target.kind === 'string')
    return source.values.every((value) => typeof value === 'string') ? 'fits' : 'unknown'
  if (source.kind === 'array' && target.kind === 'array')
    return source.prefix.length + target.prefix.length > 0
      ? 'unknown'
      : relate(source.items, target.items, sides)
  if (source.kind === 'object' && target.kind === 'object') {
    if (
      source.additional !== target.additional &&
      (typeof source.additional === 'object') !== (typeof target.additional === 'object')
    )
      return 'unknown'
    const rest: Certainty =
      typeof source.additional === 'object' && typeof target.additional === 'object'
        ? relate(source.additional, target.additional, sides)
        : 'fits'
    return least([rest, objects([], source, { ...target, additional: 'open' }, sides)])
  }
  if (source.kind === 'union' && target.kind === 'union')
    return source.members.length === target.members.length
      ? least(source.members.map((each, index) => relate(each, target.members[index]!, sides)))
      : 'unknown'
  const plain = ['null', 'boolean', 'number', 'string']
  return source.kind === target.kind && plain.includes(source.kind) ? 'fits' : 'unknown'
}
