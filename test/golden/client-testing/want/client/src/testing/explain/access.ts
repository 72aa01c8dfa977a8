/**
 * Separates request schemas from response schemas. In the copy of the document, request bodies and parameters use separate
 * components wherever a property is `readOnly` or `writeOnly` (OpenAPI, Schema Object). Requests do not require `readOnly`
 * properties, and responses do not require `writeOnly` ones. The differ and the translations use the original document
 * and check the access of each property.
 */
import { subschemas } from './references.ts'
import { isObject, type Json } from './walk.ts'

type Direction = 'request' | 'answer'

interface Split {
  readonly schemas: Json
  /** Components that contain a property of restricted access, directly or through references. */
  readonly affected: ReadonlySet<string>
  /** Names of the request variants of components. */
  readonly variants: ReadonlyMap<string, string>
  /**
   * Whether the copy is for types. Request types then omit `readOnly` properties; validators accept them if they are
   * sent back.
   */
  readonly forTypes: boolean
}

const PREFIX = '#/components/schemas/'

/**
 * Returns a copy of the document with separate schemas for requests.
 *
 * @param forTypes whether requests omit `readOnly` properties; otherwise the properties are optional.
 * @returns the document itself if no property has restricted access.
 */
export function splitAccess(document: Json, forTypes: boolean): Json {
  if (!mentionsAccess(document)) return document
  const components = isObject(document.components) ? document.components : {}
  const schemas = isObject(components.schemas) ? components.schemas : {}
  const affected = affectedOf(schemas)
  const split: Split = { schemas, affected, variants: variantsOf(schemas, affected), forTypes }
  const own = Object.entries(schemas).map(([name, schema]) => [name, rewrite(schema, 'answer', split)])
  const made = [...split.variants].map(([name, variant]) => [
    variant,
    rewrite(schemas[name], 'request', split),
  ])
  const responses = each((response) => within(response, 'answer', split))
  const requestBodies = each((body) => within(body, 'request', split))
  const parameter = (value: unknown) =>
    mapped(within(value, 'request', split), { schema: (schema) => rewrite(schema, 'request', split) })
  const parameters = (list: unknown) => (Array.isArray(list) ? list.map(parameter) : list)
  const operation = (value: unknown) =>
    mapped(value, { parameters, requestBody: (body) => within(body, 'request', split), responses })
  const item = (value: unknown) =>
    mapped(each(operation)(value), { parameters, additionalOperations: each(operation) })
  return mapped(document, {
    paths: each(item),
    components: (value) =>
      mapped(value, {
        schemas: () => Object.fromEntries([...own, ...made]),
        parameters: each(parameter),
        responses,
        requestBodies,
      }),
  })
}

/** Returns the function that converts a pointer into the copy to the pointer of the original schema. */
export function originalPointers(document: Json): (pointer: string) => string {
  const components = isObject(document.components) ? document.components : {}
  const schemas = isObject(components.schemas) ? components.schemas : {}
  const variants = variantsOf(schemas, affectedOf(schemas))
  const originals = new Map([...variants].map(([name, variant]) => [escapeToken(variant), escapeToken(name)]))
  return (pointer) =>
    pointer.replace(/^(\/components\/schemas\/)([^/]+)/, (whole, start: string, name: string) => {
      const original = originals.get(name)
      return original === undefined ? whole : start + original
    })
}

function mentionsAccess(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(mentionsAccess)
  if (!isObject(value)) return false
  return value.readOnly === true || value.writeOnly === true || Object.values(value).some(mentionsAccess)
}

function affectedOf(schemas: Json): ReadonlySet<string> {
  const refs = new Map(Object.entries(schemas).map(([name, schema]) => [name, namesIn(schema)]))
  const affected = new Set(
    Object.entries(schemas).flatMap(([name, schema]) => (restricts(schema, schemas) ? [name] : [])),
  )
  for (let before = -1; before < affected.size; ) {
    before = affected.size
    for (const [name, names] of refs) if (names.some((each) => affected.has(each))) affected.add(name)
  }
  return affected
}

function variantsOf(schemas: Json, affected: ReadonlySet<string>): ReadonlyMap<string, string> {
  const taken = new Set(Object.keys(schemas))
  const variants = new Map<string, string>()
  for (const name of affected) {
    let variant = `${name}Request`
    for (let n = 2; taken.has(variant); n++) variant = `${name}Request_${n}`
    taken.add(variant)
    variants.set(name, variant)
  }
  return variants
}

/** Returns the names of the components that a schema refers to. */
function namesIn(schema: unknown): string[] {
  if (!isObject(schema)) return []
  const own = componentOf(schema.$ref)
  return [...(own === undefined ? [] : [own]), ...subschemas(schema).flatMap(([, inside]) => namesIn(inside))]
}

function componentOf(ref: unknown): string | undefined {
  if (typeof ref !== 'string' || !ref.startsWith(PREFIX)) return undefined
  const token = ref.slice(PREFIX.length)
  if (token.includes('/')) return undefined
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return token
  }
}

function restricts(schema: unknown, schemas: Json): boolean {
  if (!isObject(schema)) return false
  const names = (['request', 'answer'] as const).flatMap((direction) => hiddenIn(schema, direction, schemas))
  return names.length > 0 || subschemas(schema).some(([, inside]) => restricts(inside, schemas))
}

/**
 * Returns the names of the properties that messages in a direction omit, including those that composed schemas
 * restrict.
 */
function hiddenIn(
  schema: unknown,
  direction: Direction,
  schemas: Json,
  seen: ReadonlySet<unknown> = new Set(),
): string[] {
  if (!isObject(schema) || seen.has(schema)) return []
  const access = direction === 'request' ? 'readOnly' : 'writeOnly'
  const isHidden = (property: unknown): boolean => {
    if (!isObject(property)) return false
    const target = schemas[componentOf(property.$ref) ?? '']
    return property[access] === true || (isObject(target) && target[access] === true)
  }
  const own = Object.entries(isObject(schema.properties) ? schema.properties : {})
  const parts = [
    ...(Array.isArray(schema.allOf) ? schema.allOf : []),
    schemas[componentOf(schema.$ref) ?? ''],
  ]
  const further = new Set([...seen, schema])
  return [
    ...own.filter(([, property]) => isHidden(property)).map(([name]) => name),
    ...parts.flatMap((part) => hiddenIn(part, direction, schemas, further)),
  ]
}

/** Rewrites a schema for one direction. @param outer property names that the enclosing schema hides. */
function rewrite(
  schema: unknown,
  direction: Direction,
  split: Split,
  outer: readonly string[] = [],
): unknown {
  if (!isObject(schema)) return schema
  const hidden = [...outer, ...hiddenIn(schema, direction, split.schemas)]
  const out: Record<string, unknown> = { ...schema }
  for (const [[keyword, name], inside] of subschemas(schema)) {
    const made = rewrite(inside, direction, split, keyword === 'allOf' ? hidden : [])
    if (keyword === undefined) continue
    if (name === undefined) out[keyword] = made
    else if (Array.isArray(out[keyword])) out[keyword] = out[keyword].with(Number(name), made)
    else out[keyword] = { ...(out[keyword] as Json), [name]: made }
  }
  if (Array.isArray(out.required))
    out.required = out.required.filter((name) => !hidden.includes(String(name)))
  if (Array.isArray(out.required) && out.required.length === 0) delete out.required
  if (direction === 'answer') return out
  if (split.forTypes && isObject(out.properties)) {
    out.properties = Object.fromEntries(
      Object.entries(out.properties).filter(([name]) => !hidden.includes(name)),
    )
  }
  const variant = split.variants.get(componentOf(schema.$ref) ?? '')
  if (variant !== undefined) out.$ref = refTo(variant)
  if (isObject(schema.discriminator)) out.discriminator = retagged(schema, schema.discriminator, split)
  return out
}

const escapeToken = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

const refTo = (name: string): string => PREFIX + encodeURIComponent(escapeToken(name))

/** Points discriminator values to request variants. A component without a mapping keeps its own name as its value. */
function retagged(schema: Json, discriminator: Json, { variants, schemas }: Split): Json {
  const given = isObject(discriminator.mapping) ? discriminator.mapping : {}
  const nameOf = (target: unknown) =>
    componentOf(target) ?? (typeof target === 'string' && Object.hasOwn(schemas, target) ? target : '')
  const mapping = Object.entries(given).map(([value, target]) => {
    const variant = variants.get(nameOf(target))
    return [value, variant === undefined ? target : refTo(variant)] as const
  })
  const mapped = new Set(Object.values(given).map(nameOf))
  const members = [schema.oneOf, schema.anyOf].flatMap((list) => (Array.isArray(list) ? list : []))
  const implicit = members.flatMap((member) => {
    const name = isObject(member) ? componentOf(member.$ref) : undefined
    const variant = name === undefined || mapped.has(name) ? undefined : variants.get(name)
    return name === undefined || variant === undefined ? [] : [[name, refTo(variant)] as const]
  })
  const all = [...mapping, ...implicit]
  return all.length === 0 ? discriminator : { ...discriminator, mapping: Object.fromEntries(all) }
}

type Mapping = (value: unknown) => unknown

/** Rewrites the schemas of a request body or a response. */
const within = (holder: unknown, direction: Direction, split: Split): unknown =>
  mapped(holder, {
    content: each((content) => mapped(content, { schema: (schema) => rewrite(schema, direction, split) })),
  })

const each =
  (map: Mapping): Mapping =>
  (value) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(one)])) : value

/** Returns a copy with some members mapped, in the original order. */
function mapped<Value>(value: Value, members: Readonly<Record<string, Mapping>>): Value {
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, one]) => [
    name,
    Object.hasOwn(members, name) ? members[name]!(one) : one,
  ])
  return Object.fromEntries(entries) as Value
}
