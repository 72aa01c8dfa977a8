/** Reads the existing resource that a new one is modeled on. */
import { pascalCase } from '../../ir/naming.ts'
import { classify, type OperationKind } from '../resource-view.ts'
import { bodyOf, componentOf, operationsOf, parametersOf, successOf, type YamlNode } from './nodes.ts'
import { fail, type ResourceRequest } from './request.ts'

export interface Neighbour {
  readonly collection: string
  readonly operations: ReadonlyMap<
    OperationKind,
    { readonly path: string; readonly method: string; readonly node: YamlNode }
  >
  readonly schema: string
  readonly list: string | undefined
  readonly create: string | undefined
  readonly update: string | undefined
  readonly object: string
  readonly idParameter: string
  readonly idSchema: string
  readonly idName: string
  readonly prefix: string
  readonly noun: string
  readonly plural: string
  /** Event types and the names of their payload schemas. */
  readonly events: ReadonlyMap<string, string>
}

/**
 * Reads the neighbor.
 *
 * @throws ResourceError if it lacks something that every resource has.
 */
export function readNeighbour(document: YamlNode, like: string): Neighbour {
  const found = operationsOf(document, like)
  if (found.length === 0) fail(`no operation has the tag ${like}`)
  const collection = found
    .map(({ path }) => path.replace(/\/\{[^}]+\}(\/archive)?$/, ''))
    .toSorted(byLength)[0]!
  const operations = new Map(
    found
      .map(
        (each) =>
          [classify({ ...each, method: each.method.toUpperCase() as 'GET' }, collection), each] as const,
      )
      .filter(([kind]) => kind !== 'other'),
  )
  const get = operations.get('get') ?? fail(`${like} has no operation that returns one record`)
  const create = operations.get('create')
  const schemas = (document.components as YamlNode).schemas as Record<string, YamlNode>
  const schema = successOf(get.node) ?? fail(`the response of ${get.node.operationId} is not a component`)
  const parameters = (document.components as YamlNode).parameters as Record<string, YamlNode>
  const idParameter =
    parametersOf(get.node)
      .map((parameter) => componentOf(parameter))
      .filter((name) => name !== undefined && parameters[name]?.in === 'path')
      .at(-1) ?? fail(`${get.node.operationId} has no path parameter that is a component`)
  const idSchema =
    componentOf(parameters[idParameter]!.schema) ?? fail(`the schema of ${idParameter} is not a component`)
  const properties = schemas[schema]!.properties as Record<string, YamlNode>
  const pattern = String(schemas[idSchema]!.pattern)
  const listed = operations.get('list')
  return {
    collection,
    operations,
    schema,
    list: listed && successOf(listed.node),
    create: create && bodyOf(create.node),
    update: operations.has('update') ? bodyOf(operations.get('update')!.node) : undefined,
    object: String(properties.object?.const),
    idParameter,
    idSchema,
    idName: String(parameters[idParameter]!.name),
    prefix:
      pattern.match(/^\^([a-z]+)_/)?.[1] ??
      fail(`the pattern of ${idSchema} does not start with a prefix such as ^cpn_`),
    noun: String(get.node.summary).replace(/^\S+ (an?|the) /, ''),
    plural: String((listed ?? get).node.summary).replace(/^\S+ ((an?|the) )?/, ''),
    events: eventsOf(document, like),
  }
}

const byLength = (a: string, b: string) => a.length - b.length

function eventsOf(document: YamlNode, tag: string): ReadonlyMap<string, string> {
  const webhooks = (document.webhooks ?? {}) as Record<string, { post?: YamlNode }>
  return new Map(
    Object.entries(webhooks).flatMap(([name, { post }]) => {
      const payload = post && (post.tags as string[])?.[0] === tag ? bodyOf(post) : undefined
      return payload === undefined ? [] : [[name, payload] as const]
    }),
  )
}

/** @throws ResourceError if the document already has the new resource, or the neighbor lacks what is requested. */
export function checkRequest(document: YamlNode, neighbour: Neighbour, request: ResourceRequest): void {
  const { name, singular, prefix, like } = request
  if (operationsOf(document, name).length > 0) fail(`${name} already has operations`)
  const schemas = (document.components as YamlNode).schemas as Record<string, YamlNode>
  if (schemas[pascalCase(singular)]) fail(`a schema ${pascalCase(singular)} already exists`)
  const taken = Object.entries(schemas).find(([, schema]) => String(schema.pattern).startsWith(`^${prefix}_`))
  if (taken) fail(`${taken[0]} already has the prefix ${prefix}`)
  const lacking = request.operations.find((kind) => !neighbour.operations.has(kind))
  if (lacking) fail(`${like} has no ${lacking} operation to copy: choose a different --like`)
  if (request.events.length > 0 && neighbour.events.size === 0)
    fail(`${like} has no event to copy for ${request.events[0]}: choose a different --like`)
  const own = schemas[neighbour.schema]!.properties as YamlNode
  const unknown = request.properties.find((property) => own[property] === undefined)
  if (unknown) fail(`${neighbour.schema} has no property ${unknown}`)
}
