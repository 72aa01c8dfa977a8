/**
 * Finds records with an identifier (recognized by a pattern such as `^card_…`), and the operations that return
 * them.
 */
import { isJson } from './media-type.ts'
import { partsOf, propertiesNamed } from './members.ts'
import type { Api, ApiOperation, Schema } from './model.ts'
import { successOf } from './operations.ts'

export interface ApiRecord {
  /** The start of its identifiers, before the underscore: `tpl`. */
  readonly prefix: string
  /** The value of the record's `object` property, or else the prefix. */
  readonly object: string
  /** Tag of the operation that reads or lists the record; undefined if there is none. */
  readonly tag: string | undefined
  /** The operation that returns one record by its identifier. */
  readonly read: ApiOperation | undefined
  /** The operation that returns pages of records. */
  readonly list: ApiOperation | undefined
}

/** Returns each kind of record once, in the document order of its first schema. */
export function recordsOf(api: Api): readonly ApiRecord[] {
  const gets = api.operations.filter(({ method }) => method === 'GET')
  const read = firstOf(gets, (operation) =>
    /\}$/.test(operation.path) ? recordPrefix(api, answerOf(operation)) : undefined,
  )
  const list = firstOf(gets, (operation) => recordPrefix(api, itemOf(api, answerOf(operation))))
  const schemas = firstOf([...api.schemas.values()], (schema) => recordPrefix(api, schema))
  return [...schemas].map(([prefix, schema]) => {
    const shown = answerOf(read.get(prefix)) ?? itemOf(api, answerOf(list.get(prefix))) ?? schema
    return {
      prefix,
      object: objectName(api, shown) ?? prefix,
      tag: (read.get(prefix) ?? list.get(prefix))?.tag,
      read: read.get(prefix),
      list: list.get(prefix),
    }
  })
}

/** Returns `tpl` if the pattern of the record's `id` starts with `^tpl_`. */
export function recordPrefix(api: Api, schema: Schema | undefined): string | undefined {
  const id = schema && propertyOf(api, schema, 'id')
  return id?.kind === 'string' ? /^\^([a-z]+)_/.exec(id.pattern ?? '')?.[1] : undefined
}

function firstOf<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string | undefined,
): ReadonlyMap<string, Item> {
  const found = new Map<string, Item>()
  for (const item of items) {
    const key = keyOf(item)
    if (key !== undefined && !found.has(key)) found.set(key, item)
  }
  return found
}

function answerOf(operation: ApiOperation | undefined): Schema | undefined {
  return operation && successOf(operation)?.contents.find(({ mediaType }) => isJson(mediaType))?.schema
}

/** Returns the item schema of a page's `data` array. */
function itemOf(api: Api, page: Schema | undefined): Schema | undefined {
  const data = page && propertyOf(api, page, 'data')
  return data?.kind === 'array' ? data.items : undefined
}

/** Returns the value that records of the schema have in `object`. */
export function objectName(api: Api, schema: Schema): string | undefined {
  const object = propertyOf(api, schema, 'object')
  return object?.kind === 'enum' ? String(object.values[0]) : undefined
}

/** Returns the schema of a property. For a union, uses its first member. */
function propertyOf(api: Api, schema: Schema, name: string): Schema | undefined {
  const [property] = propertiesNamed(api, schema, name)
  return property && partsOf(api, property.schema)[0]
}
