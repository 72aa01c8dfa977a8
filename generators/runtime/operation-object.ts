/** Looks up an operation in an OpenAPI document as plain JSON: the schemas of its answers, and what a request uses that is deprecated. */
import type { Operation } from './contract.ts'
import { lookUp, pointerTo } from './explain/references.ts'
import { isObject, type Json } from './explain/walk.ts'

/** An operation of a document, with its location. */
export interface OperationObject {
  readonly pointer: string
  readonly value: Json
  readonly parameters: readonly Json[]
}

/** Follows a reference within the document. */
function resolve(
  document: Json,
  value: unknown,
): { readonly value: Json; readonly pointer?: string } | undefined {
  if (!isObject(value)) return undefined
  const { $ref } = value
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return { value }
  const pointer = decodeURI($ref.slice(1))
  const target = lookUp(document, pointer)
  return isObject(target) ? { value: target, pointer } : undefined
}

/** Returns the operation in the document. */
export function operationObject(document: Json, { path, method }: Operation): OperationObject | undefined {
  const item = isObject(document.paths) ? document.paths[path] : undefined
  const value = isObject(item) ? item[method.toLowerCase()] : undefined
  if (!isObject(item) || !isObject(value)) return undefined
  const parameters: unknown[] = [item.parameters, value.parameters].flatMap((all) =>
    Array.isArray(all) ? all : [],
  )
  return {
    pointer: pointerTo(['paths', path, method.toLowerCase()]),
    value,
    parameters: parameters.flatMap((each) => {
      const found = resolve(document, each)
      return found ? [found.value] : []
    }),
  }
}

/** Returns the pointer to the schema of an operation's JSON answer with a status. */
export function jsonSchemaOf(
  { pointer, value }: OperationObject,
  document: Json,
  status: number,
): string | undefined {
  const { responses } = value
  if (!isObject(responses)) return undefined
  const names = [String(status), `${Math.trunc(status / 100)}XX`, 'default']
  const name = names.find((each) => Object.hasOwn(responses, each))
  const found = name === undefined ? undefined : resolve(document, responses[name])
  return found && mediaPointer(found.value, found.pointer ?? pointer + pointerTo(['responses', name!]))
}

function mediaPointer({ content }: Json, pointer: string): string | undefined {
  if (!isObject(content)) return undefined
  const media = Object.keys(content).find((each) => /^[^/]+\/(?:[^/;]+\+)?json\s*(?:;|$)/i.test(each))
  return media === undefined ? undefined : pointer + pointerTo(['content', media, 'schema'])
}

/** The parts of a request, by name. */
export interface UsedParts {
  readonly path: Json
  readonly query: Json
  readonly headers: Json
  readonly body: unknown
}

interface DeprecatedField {
  readonly field: string
  readonly issue: string
}

const ISSUE = 'is deprecated'

/** Returns the deprecated operation, parameters and body properties that a request uses. */
export function findDeprecated(
  operation: OperationObject | undefined,
  document: Json,
  parts: UsedParts,
): readonly DeprecatedField[] {
  if (!operation) return []
  const found: DeprecatedField[] = []
  if (operation.value.deprecated === true) found.push({ field: 'operation', issue: ISSUE })
  for (const { in: where, name, deprecated } of operation.parameters) {
    if (deprecated !== true) continue
    const used = where === 'header' ? parts.headers : where === 'query' ? parts.query : parts.path
    if (used[where === 'header' ? String(name).toLowerCase() : String(name)] !== undefined)
      found.push({ field: `${String(where)}.${String(name)}`, issue: ISSUE })
  }
  if (parts.body === undefined) return found
  const body = resolve(document, operation.value.requestBody)?.value
  const content = isObject(body?.content) ? Object.values(body.content).find(isObject) : undefined
  if (content && mayDeprecate(document, content.schema))
    walk(document, content.schema, parts.body, 'body', found)
  return found
}

/** Whether a schema has a deprecated part, so that values of most schemas are not walked. */
const known = new WeakMap<Json, boolean>()

function mayDeprecate(document: Json, schema: unknown, seen: Set<Json> = new Set()): boolean {
  if (Array.isArray(schema)) return schema.some((each) => mayDeprecate(document, each, seen))
  if (!isObject(schema) || seen.has(schema)) return false
  const before = known.get(schema)
  if (before !== undefined) return before
  seen.add(schema)
  const target = resolve(document, schema)?.value
  const found =
    schema.deprecated === true ||
    (target !== undefined && target !== schema && mayDeprecate(document, target, seen)) ||
    Object.values(schema).some((each) => mayDeprecate(document, each, seen))
  if (seen.values().next().value === schema || found) known.set(schema, found)
  return found
}

function walk(document: Json, given: unknown, value: unknown, field: string, found: DeprecatedField[]): void {
  const schema = resolve(document, given)?.value
  if (!schema) return
  for (const part of [schema.allOf, schema.anyOf, schema.oneOf])
    if (Array.isArray(part)) for (const each of part) walk(document, each, value, field, found)
  if (Array.isArray(value)) for (const item of value) walk(document, schema.items, item, `${field}[]`, found)
  if (!isObject(value) || !isObject(schema.properties)) return
  for (const [name, property] of Object.entries(schema.properties)) {
    if (value[name] === undefined) continue
    const own = `${field}.${name}`
    const isDeprecated =
      isObject(property) && (property.deprecated ?? resolve(document, property)?.value.deprecated)
    if (isDeprecated === true && !found.some((each) => each.field === own))
      found.push({ field: own, issue: ISSUE })
    walk(document, property, value[name], own, found)
  }
}
