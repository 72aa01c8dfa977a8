/** The resource that a new one is made after, as the document describes it. */
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
  /** Names of its event types and of their payloads. */
  readonly events: ReadonlyMap<string, string>
}

/** @throws ResourceError where it lacks what every resource has */
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
  const get = operations.get('get') ?? fail(`${like} has no operation that gives one record`)
  const create = operations.get('create')
  const schemas = (document.components as YamlNode).schemas as Record<string, YamlNode>
  const schema = successOf(get.node) ?? fail(`${get.node.operationId} answers no component`)
  const parameters = (document.components as YamlNode).parameters as Record<string, YamlNode>
  const idParameter =
    parametersOf(get.node)
      .map((parameter) => componentOf(parameter))
      .filter((name) => name !== undefined && parameters[name]?.in === 'path')
      .at(-1) ?? fail(`${get.node.operationId} has no component as parameter of its path`)
  const idSchema =
    componentOf(parameters[idParameter]!.schema) ?? fail(`${idParameter} has no component as schema`)
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
    prefix: pattern.match(/^\^([a-z]+)_/)?.[1] ?? fail(`the pattern of ${idSchema} names no prefix`),
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

/** @throws ResourceError where the document has the new resource already, or the neighbour lacks what it shall have */
export function checkRequest(document: YamlNode, neighbour: Neighbour, request: ResourceRequest): void {
  const { name, singular, prefix, like } = request
  if (operationsOf(document, name).length > 0) fail(`${name} has operations already`)
  const schemas = (document.components as YamlNode).schemas as Record<string, YamlNode>
  if (schemas[pascalCase(singular)]) fail(`there is a schema ${pascalCase(singular)} already`)
  const taken = Object.entries(schemas).find(([, schema]) => String(schema.pattern).startsWith(`^${prefix}_`))
  if (taken) fail(`${taken[0]} has the prefix ${prefix} already`)
  const lacking = request.operations.find((kind) => !neighbour.operations.has(kind))
  if (lacking) fail(`${like} has no operation to make ${lacking} after: name another as --like`)
  if (request.events.length > 0 && neighbour.events.size === 0)
    fail(`${like} has no event to make ${request.events[0]} after: name another as --like`)
  const own = schemas[neighbour.schema]!.properties as YamlNode
  const unknown = request.properties.find((property) => own[property] === undefined)
  if (unknown) fail(`${neighbour.schema} has no property ${unknown}`)
}
