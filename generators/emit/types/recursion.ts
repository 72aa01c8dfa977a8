/**
 * Components that are themselves a list or a union of themselves. As members of an interface, which openapi-typescript
 * makes of them, the compiler refuses such types; as aliases it takes those that go through a list.
 */
import { identifier } from '../../ir/naming.ts'
import { isObject, type ObjectValue } from '../../ir/source.ts'

const SCHEMAS = '#/components/schemas/'
/** Marks a schema that is printed as an alias. */
const ALIAS = 'x-dateline-alias'
const DIRECT = ['allOf', 'oneOf', 'anyOf'] as const

type Schemas = Record<string, unknown>

/** A schema without a type is not asked about. */
const mark = (alias: string) => ({ type: 'object', [ALIAS]: alias })

/** A component that is printed as an alias of its own. */
export interface Alias {
  readonly name: string
  /** Pointer of the component, as a reference has it. */
  readonly path: string
  readonly schema: ObjectValue
}

/** @returns the alias that is to be printed in the place of a schema. */
export const aliasOf = (schema: object): string | undefined =>
  isObject(schema) && typeof schema[ALIAS] === 'string' ? schema[ALIAS] : undefined

/**
 * @param document is changed: circles through unions and `allOf` alone are cut where they close, and what is left of
 * circles refers to aliases.
 * @returns the aliases.
 */
export function cutRecursion(document: object): readonly Alias[] {
  const { components } = document as { readonly components?: { readonly schemas?: unknown } }
  const schemas = components?.schemas
  if (!isObject(schemas)) return []
  const all = schemas as Schemas
  for (const keywords of [['allOf'], DIRECT])
    for (const [name, schema] of Object.entries(all)) cutDirect(all, name, schema, keywords)
  const recursive = Object.keys(all).filter((name) => reaches(all, name, name, refsIn))
  const taken = new Set<string>()
  const names = new Map(
    recursive.map((name) => {
      const base = `Recursive_${identifier(name)}`
      let alias = base
      for (let n = 2; taken.has(alias); n++) alias = `${base}_${n}`
      taken.add(alias)
      return [name, alias]
    }),
  )
  return recursive.map((name) => {
    const schema = withAliases(all[name], names) as ObjectValue
    const { description } = schema
    all[name] = { ...mark(names.get(name)!), ...(description !== undefined && { description }) }
    return { name: names.get(name)!, path: referenceTo(name), schema }
  })
}

const referenceTo = (name: string): string => `${SCHEMAS}${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The component that a schema refers to and is nothing beside. */
function targetOf(schema: unknown): string | undefined {
  if (!isObject(schema) || typeof schema.$ref !== 'string' || !schema.$ref.startsWith(SCHEMAS))
    return undefined
  return decoded(schema.$ref.slice(SCHEMAS.length)).replaceAll('~1', '/').replaceAll('~0', '~')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const membersOf = (schema: unknown, keywords: readonly string[] = DIRECT): unknown[] =>
  isObject(schema)
    ? keywords.flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : []))
    : []

/** Components that a schema is, or is combined of. */
function directRefsIn(schema: unknown): string[] {
  const target = targetOf(schema)
  return target === undefined ? membersOf(schema).flatMap(directRefsIn) : [target]
}

/** The same, and components that it is a list of. */
function refsIn(schema: unknown): string[] {
  const target = targetOf(schema)
  if (target !== undefined) return [target]
  if (!isObject(schema)) return []
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  return [...membersOf(schema), ...prefix, schema.items].flatMap(refsIn)
}

/** Whether one component leads to another by one reference at least. */
function reaches(schemas: Schemas, from: string, to: string, refsOf: (schema: unknown) => string[]): boolean {
  const seen = new Set<string>()
  const waiting = own(schemas, from) ? refsOf(schemas[from]) : []
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name === to) return true
    if (seen.has(name) || !own(schemas, name)) continue
    seen.add(name)
    waiting.push(...refsOf(schemas[name]))
  }
  return false
}

const own = (schemas: Schemas, name: string): boolean => Object.hasOwn(schemas, name)

/** What a component says by way of another that is made of it, it says already: the rest of the other stands there. */
function cutDirect(schemas: Schemas, name: string, schema: unknown, keywords: readonly string[]): void {
  if (!isObject(schema)) return
  for (const keyword of keywords) {
    const members = schema[keyword]
    if (!Array.isArray(members)) continue
    const kept = members.flatMap((member) => {
      const target = targetOf(member)
      if (target === undefined) cutDirect(schemas, name, member, keywords)
      if (target === undefined || (target !== name && !reaches(schemas, target, name, directRefsIn)))
        return [member]
      const rest = target === name ? undefined : withoutUses(schemas, schemas[target], name)
      return rest === undefined ? [] : [rest]
    })
    if (kept.length > 0) (schema as Schemas)[keyword] = kept
    else delete (schema as Schemas)[keyword]
  }
}

/** A copy without the members that lead back; undefined where nothing is left. */
function withoutUses(schemas: Schemas, schema: unknown, name: string): unknown {
  if (!isObject(schema) || targetOf(schema) !== undefined) return undefined
  const copy: Schemas = { ...schema }
  delete copy.discriminator
  for (const keyword of DIRECT) {
    const members = copy[keyword]
    if (!Array.isArray(members)) continue
    const kept = members.filter((member) =>
      directRefsIn(member).every(
        (target) => target !== name && !reaches(schemas, target, name, directRefsIn),
      ),
    )
    if (kept.length > 0) copy[keyword] = kept
    else delete copy[keyword]
  }
  return Object.keys(copy).some((key) => !/^(description|title|x-.*)$/.test(key)) ? copy : undefined
}

/** A copy in which the components are named by their aliases, where the compiler looks at once. */
function withAliases(schema: unknown, names: ReadonlyMap<string, string>): unknown {
  const target = targetOf(schema)
  if (target !== undefined) return names.has(target) ? mark(names.get(target)!) : schema
  if (!isObject(schema)) return schema
  const copy: Schemas = { ...schema }
  for (const keyword of [...DIRECT, 'prefixItems']) {
    const members = copy[keyword]
    if (Array.isArray(members)) copy[keyword] = members.map((each) => withAliases(each, names))
  }
  if (isObject(copy.items)) copy.items = withAliases(copy.items, names)
  return copy
}
