/** The view that stub templates read: the operations of one tag, and their resource. */
import { isJson } from '../ir/media-type.ts'
import type { Api, ApiOperation, ObjectSchema, Property, Schema } from '../ir/model.ts'
import { camelCase, pascalCase, snakeCase } from '../ir/naming.ts'
import { successOf, successStatus } from '../ir/operations.ts'
import { objectName, recordPrefix } from '../ir/records.ts'

export type OperationKind = 'create' | 'list' | 'get' | 'update' | 'archive' | 'other'

export interface ResourceFieldView {
  readonly name: string
  /** `instant` is a string with the format `date-time`; `json` is any value that is not a scalar. */
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'instant' | 'json'
  readonly list: boolean
  readonly nullable: boolean
  readonly values: readonly string[]
  /** Whether callers set the property on creation. */
  readonly given: boolean
  readonly required: boolean
  /** Whether callers can update the property. */
  readonly changed: boolean
}

export interface ResourceOperationView {
  readonly id: string
  readonly kind: OperationKind
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly status: string
  /** Names of the path parameters. */
  readonly pathParameters: readonly string[]
  readonly hasBody: boolean
  readonly hasQuery: boolean
  /** The event with the same name as the audit action. */
  readonly event: string | undefined
  /** Whether that event includes the previous values. */
  readonly tellsBefore: boolean
  readonly scope: string
  /** OAuth scopes, in document order. */
  readonly oauth: readonly string[]
  readonly extensions: Readonly<Record<string, unknown>>
  /** Names of the equality filters. */
  readonly filters: readonly string[]
  /** The first example of the body's schema, or an empty object. */
  readonly example: unknown
}

export interface ResourceView {
  readonly version: string
  readonly tag: string
  /** The group that contains the tag in the reference. */
  readonly group: string
  /** The tag in the case of a folder, a constant, a variable and a type. */
  readonly dashed: string
  readonly upper: string
  readonly camel: string
  readonly pascal: string
  /** The resource's schema, for example `Coupon`; undefined if no operation returns one record. */
  readonly schema: string | undefined
  readonly object: string
  readonly idPrefix: string
  readonly idName: string
  readonly fields: readonly ResourceFieldView[]
  readonly operations: readonly ResourceOperationView[]
  readonly create: ResourceOperationView | undefined
  readonly list: ResourceOperationView | undefined
  readonly get: ResourceOperationView | undefined
  readonly update: ResourceOperationView | undefined
  readonly archive: ResourceOperationView | undefined
  /** Whether there are operations of other kinds, operations that write, and operations with an event. */
  readonly other: boolean
  readonly writes: boolean
  readonly tells: boolean
}

/**
 * Builds the view of one tag.
 *
 * @param operations the operations to create stubs for, all with this tag.
 */
export function viewResource(api: Api, tag: string, operations: readonly ApiOperation[]): ResourceView {
  const siblings = api.operations.filter((each) => each.tag === tag)
  const all = siblings.length > 0 ? siblings : operations
  const collection = collectionOf(all)
  const kindOf = (operation: ApiOperation): OperationKind => classify(operation, collection)
  const views = operations.map((operation) => viewOperation(api, operation, kindOf(operation)))
  const one = all.find((each) => ['create', 'get'].includes(kindOf(each)))
  const schema = one && successSchema(one)
  const shape = schema === undefined ? undefined : objectOf(api, { kind: 'ref', name: schema })
  const byKind = (kind: OperationKind) => views.find((view) => view.kind === kind)
  const bodyOf = (kind: OperationKind) =>
    bodyShape(
      api,
      all.find((each) => kindOf(each) === kind),
    )
  return {
    version: api.version,
    tag,
    group: groupOf(api, tag),
    dashed: snakeCase(tag).replaceAll('_', '-'),
    upper: snakeCase(tag).toUpperCase(),
    camel: camelCase(tag),
    pascal: pascalCase(tag),
    schema,
    object: (shape && objectName(api, shape)) ?? snakeCase(schema ?? tag),
    idPrefix: recordPrefix(api, shape) ?? '',
    idName: views.flatMap(({ pathParameters }) => pathParameters).at(0) ?? 'id',
    fields: (shape?.properties ?? [])
      .filter(({ name }) => name !== 'object')
      .map((property) => viewField(api, property, bodyOf('create'), bodyOf('update'))),
    operations: views,
    create: byKind('create'),
    list: byKind('list'),
    get: byKind('get'),
    update: byKind('update'),
    archive: byKind('archive'),
    other: byKind('other') !== undefined,
    writes: views.some(({ extensions }) => extensions['x-audit-action'] !== undefined),
    tells: views.some(({ event }) => event !== undefined),
  }
}

interface TagGroup {
  readonly name: string
  readonly tags: readonly string[]
}

const groupsOf = ({ document }: Api): readonly TagGroup[] => (document['x-tagGroups'] ?? []) as TagGroup[]

const groupOf = (api: Api, tag: string): string =>
  groupsOf(api).find(({ tags }) => tags.includes(tag))?.name ?? ''

/** Returns the tags of a group in `x-tagGroups`; empty if there is no such group. */
export const tagsOf = (api: Api, group: string): readonly string[] =>
  groupsOf(api).find(({ name }) => name === group)?.tags ?? []

/** Returns the shortest path of a tag's operations, at which records are created and listed. */
function collectionOf(operations: readonly ApiOperation[]): string {
  const paths = operations.map(({ path }) => path.replace(/\/\{[^}]+\}(\/archive)?$/, ''))
  return paths.toSorted((a, b) => a.length - b.length)[0] ?? ''
}

/** Classifies an operation by its method and its path relative to the collection. */
export function classify(
  { method, path }: Pick<ApiOperation, 'method' | 'path'>,
  collection: string,
): OperationKind {
  const rest = path.startsWith(collection) ? path.slice(collection.length) : '?'
  if (rest === '') return method === 'POST' ? 'create' : method === 'GET' ? 'list' : 'other'
  if (/^\/\{[^}]+\}$/.test(rest)) return method === 'GET' ? 'get' : method === 'PATCH' ? 'update' : 'other'
  return method === 'POST' && /^\/\{[^}]+\}\/archive$/.test(rest) ? 'archive' : 'other'
}

function viewOperation(api: Api, operation: ApiOperation, kind: OperationKind): ResourceOperationView {
  const action = operation.extensions['x-audit-action']
  const event = api.events.find(({ name }) => name === action)
  const payload = event?.payload && objectOf(api, event.payload.schema)
  const named = (where: string) => operation.parameters.filter((parameter) => parameter.in === where)
  return {
    id: operation.id,
    kind,
    method: operation.method,
    path: operation.path,
    summary: operation.summary ?? '',
    status: String(successStatus(operation)),
    pathParameters: named('path').map(({ name }) => name),
    hasBody: operation.body !== undefined,
    hasQuery: named('query').length > 0,
    event: event?.name,
    tellsBefore: payload?.properties.some(({ name }) => name === 'previous_attributes') ?? false,
    scope: String(operation.extensions['x-scope'] ?? ''),
    oauth: operation.security.flatMap(({ oauth }) => oauth ?? []),
    extensions: operation.extensions,
    filters: named('query')
      .filter(({ extensions }) => extensions['x-filter'] !== undefined)
      .map(({ name }) => name),
    example: bodyShape(api, operation)?.examples[0] ?? {},
  }
}

/** Returns the component that the success response contains. */
function successSchema(operation: ApiOperation): string | undefined {
  const schema = successOf(operation)?.contents.find(({ mediaType }) => isJson(mediaType))?.schema
  return schema?.kind === 'ref' ? schema.name : undefined
}

type SchemaReference = Schema | { readonly kind: 'ref'; readonly name: string }

function resolve(api: Api, schema: SchemaReference): Schema | undefined {
  let at: SchemaReference | undefined = schema
  while (at?.kind === 'ref') at = api.schemas.get(at.name)
  return at
}

function objectOf(api: Api, schema: SchemaReference): ObjectSchema | undefined {
  const resolved = resolve(api, schema)
  return resolved?.kind === 'object' ? resolved : undefined
}

function bodyShape(api: Api, operation: ApiOperation | undefined): ObjectSchema | undefined {
  const content = operation?.body?.contents.find(({ mediaType }) => isJson(mediaType))
  return content && objectOf(api, content.schema)
}

function viewField(
  api: Api,
  { name, schema }: Property,
  create: ObjectSchema | undefined,
  update: ObjectSchema | undefined,
): ResourceFieldView {
  const resolved = resolve(api, schema) ?? schema
  const given = create?.properties.find((property) => property.name === name)
  return {
    name,
    type: typeOf(resolved),
    list: resolved.kind === 'array',
    nullable: schema.nullable || resolved.nullable,
    values: resolved.kind === 'enum' ? resolved.values.map(String) : [],
    given: given !== undefined,
    required: given?.required ?? false,
    changed: update?.properties.some((property) => property.name === name) ?? false,
  }
}

function typeOf(schema: Schema): ResourceFieldView['type'] {
  if (schema.kind === 'number') return schema.integer ? 'integer' : 'number'
  if (schema.kind === 'boolean') return 'boolean'
  if (schema.kind === 'string') return schema.format === 'date-time' ? 'instant' : 'string'
  if (schema.kind === 'enum')
    return schema.values.every((value) => typeof value === 'string') ? 'string' : 'json'
  return 'json'
}
