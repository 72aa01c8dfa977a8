/** Finds out which records the operations of a version create, show, list, change and delete. */
import { partsOf } from '../ir/members.ts'
import type { Api, ApiContent, ApiOperation, Property, Schema } from '../ir/model.ts'
import { contentOf } from '../ir/operations.ts'
import { shapeOf } from '../translate/shape.ts'

/** A kind of record: `/books` and `/books/{book_id}`. */
export interface MockResource {
  /** Path template of the collection. */
  readonly path: string
  /** Name of the path parameter that identifies a record. */
  readonly parameter: string
  /** The property of the record that holds the identifier; undefined if there is none. */
  readonly id: Property | undefined
  /** The content that shows a record. */
  readonly shown: ApiContent | undefined
}

export type MockAction =
  /** `wrapped` is the property of the answer that holds the record; undefined if the answer is the record. */
  | { readonly kind: 'create'; readonly of: MockResource; readonly wrapped?: string }
  | {
      readonly kind: 'show' | 'change' | 'replace' | 'delete'
      readonly of: MockResource
      readonly wrapped?: string
    }
  /** `items` is the property that holds the records; undefined if the answer is the list. */
  | { readonly kind: 'list'; readonly of: MockResource; readonly items?: string }
  /** A resource without identifier, such as `/settings`. */
  | { readonly kind: 'show-one' | 'change-one' }
  /** Answers with an example. */
  | { readonly kind: 'example' }

/** Returns the action of each operation, by operation id. */
export function actionsOf(api: Api): ReadonlyMap<string, MockAction> {
  const resources = new Map<string, MockResource>()
  for (const { path } of api.operations) {
    const [, collection, parameter] = ITEM.exec(path) ?? []
    if (collection === undefined || resources.has(collection)) continue
    resources.set(collection, resourceOf(api, collection, parameter!))
  }
  return new Map(api.operations.map((operation) => [operation.id, actionOf(api, operation, resources)]))
}

const ITEM = /^(.*)\/\{([^{}]+)\}$/

function resourceOf(api: Api, path: string, parameter: string): MockResource {
  const ofItem = api.operations.filter((each) => ITEM.exec(each.path)?.[1] === path)
  const methods = ['GET', 'PATCH', 'PUT', 'POST']
  const shown = methods
    .map((method) => contentOf(ofItem.find((each) => each.method === method)))
    .find((content) => content !== undefined)
  const created = contentOf(api.operations.find((each) => each.path === path && each.method === 'POST'))
  const content = shown ?? created
  const record = content && recordIn(api, content.schema, parameter)
  return { path, parameter, id: record?.id, shown: content }
}

interface RecordInside {
  readonly id: Property
  readonly wrapped?: string
}

/** Finds the record in an answer: the answer itself, or its only property that has an identifier. */
function recordIn(api: Api, schema: Schema, parameter: string): RecordInside | undefined {
  const properties = shapeOf(schema, api, new Set())?.properties
  if (!properties) return undefined
  const own = idOf(properties, parameter)
  if (own) return { id: own }
  const inside = [...properties.values()].flatMap(({ name, schema: inner }) => {
    const id = idOf(shapeOf(inner, api, new Set())?.properties ?? new Map(), parameter)
    return id ? [{ id, wrapped: name }] : []
  })
  return inside.length === 1 ? inside[0] : undefined
}

function idOf(properties: ReadonlyMap<string, Property>, parameter: string): Property | undefined {
  return ['id', parameter, parameter.replace(/^.*[_-]/, ''), 'uuid', '_id']
    .map((name) => properties.get(name))
    .find((property) => property !== undefined)
}

function actionOf(
  api: Api,
  operation: ApiOperation,
  resources: ReadonlyMap<string, MockResource>,
): MockAction {
  const { path, method } = operation
  const item = resources.get(ITEM.exec(path)?.[1] ?? '')
  const content = contentOf(operation)
  if (item) {
    const wrapped = content && recordIn(api, content.schema, item.parameter)?.wrapped
    const kind = ITEM_ACTIONS[method]
    return kind ? { kind, of: item, ...(wrapped !== undefined && { wrapped }) } : { kind: 'example' }
  }
  const collection = resources.get(path)
  if (collection && method === 'POST') {
    const found = content && recordIn(api, content.schema, collection.parameter)
    return { kind: 'create', of: collection, ...(found?.wrapped !== undefined && { wrapped: found.wrapped }) }
  }
  if (collection && (method === 'GET' || method === 'HEAD')) return listOf(api, content, collection)
  const acted = actedOn(api, operation, resources)
  if (acted) return acted
  const single = api.operations.filter((each) => each.path === path)
  const isSingle = single.some((each) => each.method === 'GET') && single.length > 1
  if (!isSingle) return { kind: 'example' }
  if (method === 'GET') return { kind: 'show-one' }
  return method === 'PUT' || method === 'PATCH' ? { kind: 'change-one' } : { kind: 'example' }
}

const ITEM_ACTIONS: Readonly<Record<string, 'show' | 'change' | 'replace' | 'delete' | undefined>> = {
  GET: 'show',
  HEAD: 'show',
  PATCH: 'change',
  POST: 'change',
  PUT: 'replace',
  DELETE: 'delete',
}

function listOf(api: Api, content: ApiContent | undefined, of: MockResource): MockAction {
  const parts = content ? partsOf(api, content.schema) : []
  if (parts.some(({ kind }) => kind === 'array')) return { kind: 'list', of }
  const lists = parts.flatMap((part) =>
    part.kind === 'object'
      ? part.properties.filter(({ schema }) => partsOf(api, schema).some(({ kind }) => kind === 'array'))
      : [],
  )
  const items =
    lists.find(({ name }) => name === 'data' || name === 'items' || of.path.endsWith(name)) ?? lists[0]
  return items ? { kind: 'list', of, items: items.name } : { kind: 'example' }
}

/** `POST /books/{book_id}/lend` changes the book if it answers with one. */
function actedOn(
  api: Api,
  { path, method, ...operation }: ApiOperation,
  resources: ReadonlyMap<string, MockResource>,
): MockAction | undefined {
  const [, itemPath] = /^(.*\/\{[^{}]+\})\/[^{}/]+$/.exec(path) ?? []
  const of = itemPath === undefined ? undefined : resources.get(ITEM.exec(itemPath)?.[1] ?? '')
  const schema = contentOf({ path, method, ...operation })?.schema
  const isRecord =
    schema?.kind === 'ref' && of?.shown?.schema.kind === 'ref' && schema.name === of.shown.schema.name
  if (!of || method === 'GET' || method === 'DELETE' || !isRecord) return undefined
  const wrapped = recordIn(api, schema, of.parameter)?.wrapped
  return { kind: 'change', of, ...(wrapped !== undefined && { wrapped }) }
}
