/** Locates the schemas of a document and resolves their references (JSON Schema 2020-12, section 8). */
import { isObject, type Json } from './walk.ts'

export type Holding = 'one' | 'list' | 'named'

/** The keywords that contain schemas: one schema, a list, or a map by name. */
export const SUBSCHEMAS: ReadonlyMap<string, Holding> = new Map<string, Holding>([
  ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((name) => [name, 'list'] as const),
  ...['properties', 'patternProperties', 'dependentSchemas', '$defs'].map((name) => [name, 'named'] as const),
  ...['items', 'contains', 'additionalProperties', 'propertyNames'].map((name) => [name, 'one'] as const),
  ...['unevaluatedItems', 'unevaluatedProperties'].map((name) => [name, 'one'] as const),
  ...['not', 'if', 'then', 'else'].map((name) => [name, 'one'] as const),
])

/** Returns the direct subschemas of a schema, with their pointer tokens. */
export function subschemas(schema: Json): [tokens: readonly string[], schema: unknown][] {
  const found: [tokens: readonly string[], schema: unknown][] = []
  for (const keyword of Object.keys(schema)) {
    const how = SUBSCHEMAS.get(keyword)
    if (how === undefined) continue
    const held = schema[keyword]
    if (how === 'one') found.push([[keyword], held])
    else if (how === 'list' ? Array.isArray(held) : isObject(held))
      for (const name of Object.keys(held as Json)) found.push([[keyword, name], (held as Json)[name]])
  }
  return found
}

export interface References {
  /** Resolves a reference to a pointer (RFC 6901, without `#`); undefined if it leads outside the document. */
  pointerOf(schema: object, ref: string): string | undefined
  /** Returns whether a `$dynamicRef` can lead to different schemas, depending on the dynamic scope. */
  isDynamic(schema: object, ref: string): boolean
}

/** Placeholder for the URI of the document, which is unknown. */
const DOCUMENT = 'https://document.invalid/'

/** Indexes the schemas of a document. @param openapi30 whether it is OpenAPI 3.0, which has no `$id` and no anchors. */
export function indexReferences(document: Json, openapi30: boolean): References {
  const resources = new Map([[DOCUMENT, '']])
  const anchors = new Map<string, string>()
  const dynamic = new Map<string, number>()
  const bases = new WeakMap<object, string>()
  const visit = (schema: unknown, pointer: string, outer: string): void => {
    if (!isObject(schema) || bases.has(schema)) return
    const { $id, $anchor, $dynamicAnchor } = schema
    const base = (typeof $id === 'string' && addressOf($id, outer)) || outer
    if (base !== outer) resources.set(base, pointer)
    bases.set(schema, base)
    if (typeof $anchor === 'string') anchors.set(`${base}#${$anchor}`, pointer)
    if (typeof $dynamicAnchor === 'string') {
      anchors.set(`${base}#${$dynamicAnchor}`, pointer)
      dynamic.set($dynamicAnchor, (dynamic.get($dynamicAnchor) ?? 0) + 1)
    }
    for (const [tokens, each] of subschemas(schema)) visit(each, pointer + pointerTo(tokens), base)
  }
  const components = isObject(document.components) ? document.components.schemas : undefined
  if (!openapi30 && isObject(components)) {
    for (const [name, schema] of Object.entries(components))
      visit(schema, `/components/schemas${pointerTo([name])}`, DOCUMENT)
  }
  const pointerOf = (schema: object, ref: string): string | undefined => {
    const [address, fragment] = split(ref)
    const resource = addressOf(address, bases.get(schema) ?? DOCUMENT)
    const root = resource === undefined ? undefined : resources.get(resource)
    if (resource === undefined || root === undefined) return undefined
    if (fragment === '') return root
    if (!fragment.startsWith('/')) return anchors.get(`${resource}#${fragment}`)
    // Many documents resolve such references from the document root, even inside a schema with an `$id`.
    const inside = root + fragment
    return address !== '' || root === '' || lookUp(document, inside) !== undefined ? inside : fragment
  }
  return {
    pointerOf,
    isDynamic(schema, ref) {
      const [, name] = split(ref)
      const target = pointerOf(schema, ref)
      if (target === undefined || name === '' || name.startsWith('/')) return false
      return own(lookUp(document, target), '$dynamicAnchor') === name && dynamic.get(name)! > 1
    },
  }
}

function split(ref: string): [address: string, fragment: string] {
  const at = ref.indexOf('#')
  if (at < 0) return [ref, '']
  try {
    return [ref.slice(0, at), decodeURIComponent(ref.slice(at + 1))]
  } catch {
    return [ref.slice(0, at), ref.slice(at + 1)]
  }
}

function addressOf(address: string, base: string): string | undefined {
  if (address === '') return base
  try {
    return split(new URL(address, base).href)[0]
  } catch {
    return undefined
  }
}

/** Returns the pointer that the tokens form. */
export const pointerTo = (tokens: readonly string[]): string =>
  tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

const own = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Json)[name]
    : undefined

/**
 * Returns the value at a pointer. @param pointer as returned by `pointerOf`: decoded, with `~0` and `~1` still escaped.
 */
export function lookUp(document: Json, pointer: string): unknown {
  let at: unknown = document
  for (const token of pointer.split('/').slice(1))
    at = own(at, token.replaceAll('~1', '/').replaceAll('~0', '~'))
  return at
}
