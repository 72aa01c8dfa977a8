/** Translates unions: matches members of both versions, and finds tests that identify the member of a value. */
import { partsOf } from '../ir/members.ts'
import type { Api, Schema, UnionSchema } from '../ir/model.ts'
import { tagsOf } from '../ir/tags.ts'
import { type Case, type Rewrite, sidesOf, type Test, type TranslationStep } from './model.ts'
import { type ObjectShape, shapeOf } from './shape.ts'

/**
 * Returns the rewrite from one union to the other. A schema that is not a union counts as a union with one member.
 */
export function pairUnions(
  step: TranslationStep,
  old: Schema,
  next: Schema,
  at: string | undefined,
): Rewrite {
  const [from, to] = sidesOf(step, old, next)
  const [fromApi, toApi] = sidesOf(step, step.old, step.next)
  const inline = inlineMembers(old, next)
  const sources = membersOf(from)
  const tests = testsOf(sources, from, fromApi)
  const targets = membersOf(to)
  const cases = sources.map((source, index): Case => {
    const target = counterpart(source, index, tests[index], { sources, targets, to, api: toApi })
    const test = tests[index]
    if (!target) return { rewrite: { kind: 'same' }, ...(test && { test }) }
    const [before, after] = sidesOf(step, source, target)
    const inside = at && `${at}|${inline.indexOf(after)}`
    const rewrite = step.pair(before, after, inside)
    return { rewrite, ...(test && { test }) }
  })
  const only = cases.length === 1 ? cases[0] : undefined
  return only ? only.rewrite : { kind: 'choice', cases, union: from }
}

/** Returns the members of the newer union by which differences are located. */
const inlineMembers = (old: Schema, next: Schema): readonly Schema[] =>
  old.kind === 'union' && next.kind === 'union' && old.discriminator && next.discriminator
    ? next.members.filter((each) => each.kind !== 'ref')
    : membersOf(next)

const membersOf = (schema: Schema): readonly Schema[] => (schema.kind === 'union' ? schema.members : [schema])

interface Targets {
  readonly sources: readonly Schema[]
  readonly targets: readonly Schema[]
  readonly to: Schema
  readonly api: Api
}

/** Returns the matching member of the other union: with the same name, tag or kind, or else at the same index. */
function counterpart(
  source: Schema,
  index: number,
  test: Test | undefined,
  { sources, targets, to, api }: Targets,
): Schema | undefined {
  const named = targets.find(
    (each) => each.kind === 'ref' && source.kind === 'ref' && each.name === source.name,
  )
  if (named) return named
  const tests = testsOf(targets, to, api)
  const alike =
    test && targets[tests.findIndex((each) => each && JSON.stringify(each) === JSON.stringify(test))]
  if (alike) return alike
  return sources.length === targets.length ? targets[index] : undefined
}

/**
 * Returns, for each member, a test that holds only for its values. A nested union's test holds if that of any of
 * its members does.
 */
function testsOf(members: readonly Schema[], union: Schema, api: Api): (Test | undefined)[] {
  const declared = union.kind === 'union' ? declaredTags(members, union, api) : undefined
  if (declared?.every((each) => each)) return declared
  const leaves = members.map((member) => leavesOf(member, api, new Set()))
  const tests = testsApart(leaves.flat(), api)
  return members.map((_, index) => {
    if (declared?.[index]) return declared[index]
    const own = leaves[index]!.map((leaf) => tests.get(leaf))
    if (own.length === 1) return own[0]
    return own.every((each) => each !== undefined) ? { kind: 'some', tests: own } : undefined
  })
}

/** Flattens a member that is a union, directly or by name. */
function leavesOf(member: Schema, api: Api, seen: ReadonlySet<string>): readonly Schema[] {
  if (member.kind === 'union') return member.members.flatMap((each) => leavesOf(each, api, seen))
  const target = member.kind === 'ref' && !seen.has(member.name) ? api.schemas.get(member.name) : undefined
  if (member.kind !== 'ref' || (target?.kind !== 'union' && target?.kind !== 'ref')) return [member]
  return leavesOf(target, api, new Set([...seen, member.name]))
}

/** Booleans and numbers have no properties, so they need no test against objects. */
const isNoObject = (type: ReturnType<typeof jsonType>): boolean => type === 'boolean' || type === 'number'

function testsApart(members: readonly Schema[], api: Api): Map<Schema, Test | undefined> {
  const types = members.map((member) => jsonType(member, api))
  const shapes = members.map((member) => shapeOf(member, api, new Set()))
  return new Map(
    members.map((member, index) => {
      const type = types[index]
      if (type && types.filter((each) => each === type || each === undefined).length === 1)
        return [member, { kind: 'type', type }]
      const objects = shapes.filter((shape, other) => other === index || shape || !isNoObject(types[other]))
      const at = objects.indexOf(shapes[index])
      return [member, at < 0 ? undefined : (tagOf(at, objects, api) ?? ownProperty(at, objects))]
    }),
  )
}

/**
 * Returns the tests by tag that validators use. If tags do not identify all members, uses the mapping for those
 * that it names.
 */
function declaredTags(
  members: readonly Schema[],
  union: UnionSchema,
  api: Api,
): (Test | undefined)[] | undefined {
  const { discriminator } = union
  if (!discriminator) return undefined
  const tags = tagsOf(union, api)?.members
  return members.map((member) => {
    const values = tags
      ? [...tags].flatMap(([value, each]) => (each === member ? [value] : []))
      : [...discriminator.mapping].flatMap(([value, name]) =>
          member.kind === 'ref' && name === member.name ? [value] : [],
        )
    return values.length > 0 ? { kind: 'tag', property: discriminator.property, values } : undefined
  })
}

function jsonType(schema: Schema, api: Api): Extract<Test, { kind: 'type' }>['type'] | undefined {
  const target = schema.kind === 'ref' ? api.schemas.get(schema.name) : schema
  switch (target?.kind) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'array':
    case 'object':
      return target.kind
    case 'intersection': {
      // Parts without a type do not determine the type.
      const typed = target.members.filter((member) => !member.untyped)
      const types = new Set(typed.flatMap((member) => jsonType(member, api) ?? []))
      return types.size === 1 ? [...types][0] : 'object'
    }
    case 'enum':
      return target.values.every((value) => typeof value === 'string') ? 'string' : undefined
    default:
      return undefined
  }
}

/**
 * Returns a test on a required property that is an enumeration in every member, with values that no other member
 * has.
 */
function tagOf(index: number, shapes: readonly (ObjectShape | undefined)[], api: Api): Test | undefined {
  for (const property of shapes[index]?.properties.values() ?? []) {
    if (!property.required) continue
    const values = shapes.map((shape) => {
      const { schema } = shape?.properties.get(property.name) ?? {}
      const said = schema ? [schema, ...(shape?.beside.get(property.name) ?? [])] : []
      return said.flatMap((each) => partsOf(api, each)).find((part) => part.kind === 'enum')?.values
    })
    const own = values[index]
    if (!own || values.some((each) => !each)) continue
    const shared = values.some((each, other) => other !== index && each!.some((value) => own.includes(value)))
    if (!shared) return { kind: 'tag', property: property.name, values: own }
  }
  return undefined
}

function ownProperty(index: number, shapes: readonly (ObjectShape | undefined)[]): Test | undefined {
  for (const property of shapes[index]?.properties.values() ?? []) {
    if (!property.required) continue
    if (shapes.every((shape, other) => other === index || (shape && !shape.properties.has(property.name))))
      return { kind: 'has', property: property.name }
  }
  return undefined
}
