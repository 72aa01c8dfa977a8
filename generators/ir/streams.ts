/**
 * Reads streams (OpenAPI 3.2, "Sequential Media Types") into plain schemas, so that other code needs no rules for them.
 * The content of a stream becomes a list of its items. In server-sent events, `data` becomes the value that its text
 * encodes, if `contentSchema` describes it.
 */

import { placeAs } from '../diagnostics/place.ts'
import { escapePointer } from '../document/escape-pointer.ts'
import type { LoadedDocument } from '../document/load.ts'
import { originOf } from '../document/operation-defaults.ts'
import { lookUp } from '../runtime/explain/references.ts'
import { componentOf } from './component-references.ts'
import { framingOf, isJson } from './media-type.ts'
import { isObject, type ObjectValue } from './source.ts'

const streamed = new WeakMap<ObjectValue, LoadedDocument>()

/**
 * Returns the document with its streams as lists.
 *
 * @returns the document itself if it has no streams. Otherwise a copy whose `json` has the schemas of streams at
 *   `schema/items`, and whose places are those of the document.
 */
export function readStreams(document: LoadedDocument): LoadedDocument {
  const known = streamed.get(document.json) ?? rewriteStreams(document)
  streamed.set(document.json, known)
  return known
}

function rewriteStreams(document: LoadedDocument): LoadedDocument {
  const origins = new Map<string, string>()
  const listed = listItems(document.json, '', origins) as ObjectValue
  const json = [...eventDataIn(listed)].reduce((whole, pointer) => {
    origins.set(pointer, `${originOf(pointer, origins)}/contentSchema`)
    return putAt(whole, pointer, (lookUp(whole, pointer) as ObjectValue).contentSchema)
  }, listed)
  if (json === document.json) return document
  const rewritten: LoadedDocument = {
    ...document,
    json,
    dangling: new Map([...document.dangling].map(([pointer, fault]) => [inverse(pointer, origins), fault])),
    place: (pointer) => placeAs(document.place(originOf(pointer, origins)), pointer),
  }
  streamed.set(json, rewritten)
  return rewritten
}

/** Parts of a document in which no media types occur. */
const SILENT = /^(schemas?|examples?|security|securitySchemes|tags|links|x-.*)$/

/** Returns a copy in which `itemSchema` of streams is a list; adds the pointers of its new places to `origins`. */
function listItems(value: unknown, pointer: string, origins: Map<string, string>): unknown {
  if (Array.isArray(value)) {
    const items = value.map((each, at) => listItems(each, `${pointer}/${at}`, origins))
    return items.some((each, at) => each !== value[at]) ? items : value
  }
  if (!isObject(value)) return value
  let copy = value
  for (const [name, member] of Object.entries(value)) {
    if (SILENT.test(name)) continue
    const at = `${pointer}/${escapePointer(name)}`
    const read = listItems(listed(name, member, at, origins), at, origins)
    if (read !== member) copy = { ...copy, [name]: read }
  }
  return copy
}

function listed(mediaType: string, content: unknown, at: string, origins: Map<string, string>): unknown {
  if (!isObject(content) || content.itemSchema === undefined || !framingOf(mediaType)) return content
  const { itemSchema, ...rest } = content
  origins.set(`${at}/schema`, `${at}/itemSchema`)
  origins.set(`${at}/schema/items`, `${at}/itemSchema`)
  return { ...rest, schema: { type: 'array', items: itemSchema } }
}

/** Returns the pointers of the `data` schemas of server-sent events that describe JSON text. */
function eventDataIn(json: ObjectValue): ReadonlySet<string> {
  const found = new Set<string>()
  const seen = new Set<string>()
  const visitEvent = (pointer: string): void => {
    const schema = lookUp(json, pointer)
    if (!isObject(schema) || seen.has(pointer)) return
    seen.add(pointer)
    const component = typeof schema.$ref === 'string' ? componentOf(schema.$ref) : undefined
    if (component !== undefined) visitEvent(`/components/schemas/${escapePointer(component)}`)
    for (const name of ['allOf', 'oneOf', 'anyOf'])
      for (const at of Array.isArray(schema[name]) ? schema[name].keys() : [])
        visitEvent(`${pointer}/${name}/${at}`)
    const data = isObject(schema.properties) ? schema.properties.data : undefined
    if (isObject(data) && encodesJson(json, data)) found.add(`${pointer}/properties/data`)
  }
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (SILENT.test(name)) continue
      const at = `${pointer}/${escapePointer(name)}`
      if (framingOf(name) === 'events') visitEvent(`${at}/schema/items`)
      else visit(member, at)
    }
  }
  visit(json, '')
  return found
}

/** Text that encodes a string remains text, because a reader could not tell the two apart. */
function encodesJson(
  json: ObjectValue,
  { contentMediaType, contentEncoding, contentSchema }: ObjectValue,
): boolean {
  if (typeof contentMediaType !== 'string' || !isJson(contentMediaType)) return false
  if (contentEncoding !== undefined || !isObject(contentSchema)) return false
  const component = typeof contentSchema.$ref === 'string' ? componentOf(contentSchema.$ref) : undefined
  const target =
    component === undefined ? contentSchema : lookUp(json, `/components/schemas/${escapePointer(component)}`)
  return isObject(target) && ![target.type].flat().includes('string')
}

/** Returns a copy with a different value at a pointer. */
function putAt(json: ObjectValue, pointer: string, value: unknown): ObjectValue {
  const [token = '', ...rest] = pointer.split('/').slice(1)
  const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
  const inside = rest.length === 0 ? value : putAt(json[name] as ObjectValue, `/${rest.join('/')}`, value)
  return Array.isArray(json)
    ? (json.with(Number(name), inside) as unknown as ObjectValue)
    : { ...json, [name]: inside }
}

/** Returns the pointer in the copy of a pointer in the document. */
function inverse(pointer: string, origins: ReadonlyMap<string, string>): string {
  const [[copied, origin] = ['', '']] = [...origins]
    .filter(([, each]) => pointer === each || pointer.startsWith(`${each}/`))
    .sort(([a], [b]) => b.length - a.length)
  return copied + pointer.slice(origin.length)
}
