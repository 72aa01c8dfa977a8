/**
 * Removes direct recursion from unions and `allOf`: TypeScript rejects such types unless the recursion goes through
 * a list or an object.
 */
import { isObject } from '../../ir/source.ts'

const SCHEMAS = '#/components/schemas/'
const DIRECT = ['allOf', 'oneOf', 'anyOf'] as const

type Schemas = Record<string, unknown>

/**
 * Removes references that close a cycle of unions and `allOf` only.
 *
 * @param document is modified.
 */
export function cutRecursion(document: object): void {
  const { components } = document as { readonly components?: { readonly schemas?: unknown } }
  const schemas = components?.schemas
  if (!isObject(schemas)) return
  for (const keywords of [['allOf'], DIRECT])
    for (const [name, schema] of Object.entries(schemas))
      cutDirect(schemas as Schemas, name, schema, keywords)
}

/** Returns the component of a schema that is only a reference. */
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

/** Returns the components that a schema refers to directly or combines. */
function directRefsIn(schema: unknown): string[] {
  const target = targetOf(schema)
  return target === undefined ? membersOf(schema).flatMap(directRefsIn) : [target]
}

/** Returns whether one component leads to the other through at least one reference. */
function reaches(schemas: Schemas, from: string, to: string): boolean {
  const seen = new Set<string>()
  const waiting = own(schemas, from) ? directRefsIn(schemas[from]) : []
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name === to) return true
    if (seen.has(name) || !own(schemas, name)) continue
    seen.add(name)
    waiting.push(...directRefsIn(schemas[name]))
  }
  return false
}

const own = (schemas: Schemas, name: string): boolean => Object.hasOwn(schemas, name)

/** Replaces a member that leads back to the component with a copy of the rest of that member. */
function cutDirect(schemas: Schemas, name: string, schema: unknown, keywords: readonly string[]): void {
  if (!isObject(schema)) return
  for (const keyword of keywords) {
    const members = schema[keyword]
    if (!Array.isArray(members)) continue
    const kept = members.flatMap((member) => {
      const target = targetOf(member)
      if (target === undefined) cutDirect(schemas, name, member, keywords)
      if (target === undefined || (target !== name && !reaches(schemas, target, name))) return [member]
      const rest = target === name ? undefined : withoutUses(schemas, schemas[target], name)
      return rest === undefined ? [] : [rest]
    })
    if (kept.length > 0) (schema as Schemas)[keyword] = kept
    else delete (schema as Schemas)[keyword]
  }
}

/** Returns a copy without the members that lead back, or undefined if nothing remains. */
function withoutUses(schemas: Schemas, schema: unknown, name: string): unknown {
  if (!isObject(schema) || targetOf(schema) !== undefined) return undefined
  const copy: Schemas = { ...schema }
  delete copy.discriminator
  for (const keyword of DIRECT) {
    const members = copy[keyword]
    if (!Array.isArray(members)) continue
    const kept = members.filter((member) =>
      directRefsIn(member).every((target) => target !== name && !reaches(schemas, target, name)),
    )
    if (kept.length > 0) copy[keyword] = kept
    else delete copy[keyword]
  }
  return Object.keys(copy).some((key) => !/^(description|title|x-.*)$/.test(key)) ? copy : undefined
}
