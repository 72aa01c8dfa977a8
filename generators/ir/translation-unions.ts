/** Unions of two versions: which members belong together, and what tells a value of one from the others. */
import type { Api, Schema, UnionSchema } from './model.ts'
import { tagsOf } from './tags.ts'
import type { Case, Rewrite, Step, Test } from './translation-model.ts'
import { type Shape, shapeOf } from './translation-shape.ts'

/** @returns what takes a value of the one to the other; a schema that is no union counts as one of a single member. */
export function pairUnions(step: Step, old: Schema, next: Schema): Rewrite {
  const [from, to] = step.direction === 'down' ? [next, old] : [old, next]
  const [fromApi, toApi] = step.direction === 'down' ? [step.next, step.old] : [step.old, step.next]
  const sources = membersOf(from)
  const tests = testsOf(sources, from, fromApi)
  const targets = membersOf(to)
  const cases = sources.map((source, index): Case => {
    const target = counterpart(source, index, tests[index], { sources, targets, to, api: toApi })
    const test = tests[index]
    if (!target) return { rewrite: { kind: 'same' }, ...(test && { test }) }
    const rewrite = step.direction === 'down' ? step.pair(target, source) : step.pair(source, target)
    return { rewrite, ...(test && { test }) }
  })
  const only = cases.length === 1 ? cases[0] : undefined
  return only ? only.rewrite : { kind: 'choice', cases, union: from }
}

const membersOf = (schema: Schema): readonly Schema[] => (schema.kind === 'union' ? schema.members : [schema])

interface Targets {
  readonly sources: readonly Schema[]
  readonly targets: readonly Schema[]
  readonly to: Schema
  readonly api: Api
}

/** The member of the other union: of the same name, or tag, or kind, or else at the same place. */
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

/** For each member a test that holds for its values and for no other member's. */
function testsOf(members: readonly Schema[], union: Schema, api: Api): (Test | undefined)[] {
  const declared = union.kind === 'union' ? declaredTags(members, union, api) : undefined
  if (declared) return declared
  const types = members.map((member) => jsonType(member, api))
  const shapes = members.map((member) => shapeOf(member, api, new Set())?.properties)
  return members.map((_, index) => {
    const type = types[index]
    if (type && types.filter((each) => each === type || each === undefined).length === 1)
      return { kind: 'type', type }
    return tagOf(index, members, api) ?? ownProperty(index, shapes)
  })
}

/** By what validators decide; where no tag tells all members apart, by the mapping for those that it names. */
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
    case 'intersection':
      return 'object'
    case 'enum':
      return target.values.every((value) => typeof value === 'string') ? 'string' : undefined
    default:
      return undefined
  }
}

/** A required property whose values are listed in every member, and shared by none. */
function tagOf(index: number, members: readonly Schema[], api: Api): Test | undefined {
  const shapes = members.map((member) => shapeOf(member, api, new Set())?.properties)
  for (const property of shapes[index]?.values() ?? []) {
    if (!property.required) continue
    const values = shapes.map((shape) => {
      const schema = shape?.get(property.name)?.schema
      const target = schema?.kind === 'ref' ? api.schemas.get(schema.name) : schema
      return target?.kind === 'enum' ? target.values : undefined
    })
    const own = values[index]
    if (!own || values.some((each) => !each)) continue
    const shared = values.some((each, other) => other !== index && each!.some((value) => own.includes(value)))
    if (!shared) return { kind: 'tag', property: property.name, values: own }
  }
  return undefined
}

type Properties = Shape['properties']

function ownProperty(index: number, shapes: readonly (Properties | undefined)[]): Test | undefined {
  for (const property of shapes[index]?.values() ?? []) {
    if (!property.required) continue
    if (shapes.every((shape, other) => other === index || (shape && !shape.has(property.name))))
      return { kind: 'has', property: property.name }
  }
  return undefined
}
