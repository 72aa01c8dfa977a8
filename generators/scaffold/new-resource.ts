/** A resource in a document: made after a neighbour, so that nothing about it is invented. */
import { camelCase, pascalCase } from '../ir/naming.ts'
import { classify, type Kind } from './resource-view.ts'
import {
  type Edit,
  type Insertion,
  indent,
  insertAll,
  type Step,
  writeYaml,
  YamlText,
} from './yaml-blocks.ts'

export interface ResourceRequest {
  /** The tag, in the plural: `coupons`. */
  readonly name: string
  readonly singular: string
  /** Of identifiers: `cpn`. */
  readonly prefix: string
  /** The tag of the neighbour. */
  readonly like: string
  readonly operations: readonly Kind[]
  /** Verbs in the past tense: `created`. */
  readonly events: readonly string[]
  /** Properties of the neighbour that it has too, beside those that most resources have. */
  readonly properties: readonly string[]
  /** Members that all operations get in place of the neighbour's: `x-scope`. */
  readonly extensions: Readonly<Record<string, string>>
}

export interface NewResource {
  readonly text: string
  /** Lines of the new document that were written, from and to. */
  readonly blocks: readonly (readonly [from: number, to: number])[]
  /** Lines with a list that names the neighbour and perhaps goes on. */
  readonly lists: readonly number[]
}

/** A request that the document cannot serve. */
export class ResourceError extends Error {
  override readonly name = 'ResourceError'
}

type Node = Readonly<Record<string, unknown>>

interface Neighbour {
  readonly collection: string
  readonly operations: ReadonlyMap<
    Kind,
    { readonly path: string; readonly method: string; readonly node: Node }
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

/** @throws ResourceError */
export function addResource(source: string, request: ResourceRequest): NewResource {
  const yaml = new YamlText(source)
  const document = yaml.value([]) as Node
  const neighbour = readNeighbour(document, request.like)
  checkRequest(document, neighbour, request)
  const names = namesOf(neighbour, request)
  const insertions = [
    ...insertTag(yaml, document, request, names),
    insertPaths(yaml, neighbour, request, names),
    ...insertEvents(yaml, document, neighbour, request, names),
    ...insertComponents(yaml, document, neighbour, request, names),
  ]
  const text = insertAll(source, insertions)
  return { text, blocks: blocksOf(source, insertions), lists: listsOf(yaml, neighbour) }
}

function fail(message: string): never {
  throw new ResourceError(message)
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

function operationsOf(document: Node, tag: string) {
  return Object.entries(document.paths as Record<string, Record<string, Node>>).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method, node]) => METHODS.includes(method) && (node.tags as string[])?.[0] === tag)
      .map(([method, node]) => ({ path, method, node })),
  )
}

function readNeighbour(document: Node, like: string): Neighbour {
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
  const schemas = (document.components as Node).schemas as Record<string, Node>
  const schema = successOf(get.node) ?? fail(`${get.node.operationId} answers no component`)
  const parameters = (document.components as Node).parameters as Record<string, Node>
  const idParameter =
    parametersOf(get.node)
      .map((parameter) => componentOf(parameter))
      .filter((name) => name !== undefined && parameters[name]?.in === 'path')
      .at(-1) ?? fail(`${get.node.operationId} has no component as parameter of its path`)
  const idSchema =
    componentOf(parameters[idParameter]!.schema) ?? fail(`${idParameter} has no component as schema`)
  const properties = schemas[schema]!.properties as Record<string, Node>
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

function eventsOf(document: Node, tag: string): ReadonlyMap<string, string> {
  const webhooks = (document.webhooks ?? {}) as Record<string, { post?: Node }>
  return new Map(
    Object.entries(webhooks).flatMap(([name, { post }]) => {
      const payload = post && (post.tags as string[])?.[0] === tag ? bodyOf(post) : undefined
      return payload === undefined ? [] : [[name, payload] as const]
    }),
  )
}

function componentOf(node: unknown): string | undefined {
  return (node as { $ref?: string } | undefined)?.$ref?.split('/').at(-1)
}

function jsonOf(node: unknown): string | undefined {
  const content = (node as { content?: Record<string, { schema?: Node }> } | undefined)?.content
  return componentOf(content?.['application/json']?.schema)
}

/** Those that the operation names itself, beside what the document's defaults give it. */
const parametersOf = (operation: Node) => (operation.parameters ?? []) as readonly Node[]

const bodyOf = (operation: Node) => jsonOf(operation.requestBody)

function successOf(operation: Node): string | undefined {
  const responses = (operation.responses ?? {}) as Record<string, Node>
  return jsonOf(responses[Object.keys(responses).find((status) => status.startsWith('2')) ?? ''])
}

function checkRequest(document: Node, neighbour: Neighbour, request: ResourceRequest): void {
  const { name, singular, prefix, like } = request
  if (operationsOf(document, name).length > 0) fail(`${name} has operations already`)
  const schemas = (document.components as Node).schemas as Record<string, Node>
  if (schemas[pascalCase(singular)]) fail(`there is a schema ${pascalCase(singular)} already`)
  const taken = Object.entries(schemas).find(([, schema]) => String(schema.pattern).startsWith(`^${prefix}_`))
  if (taken) fail(`${taken[0]} has the prefix ${prefix} already`)
  const lacking = request.operations.find((kind) => !neighbour.operations.has(kind))
  if (lacking) fail(`${like} has no operation to make ${lacking} after: name another as --like`)
  if (request.events.length > 0 && neighbour.events.size === 0)
    fail(`${like} has no event to make ${request.events[0]} after: name another as --like`)
  const own = schemas[neighbour.schema]!.properties as Node
  const unknown = request.properties.find((property) => own[property] === undefined)
  if (unknown) fail(`${neighbour.schema} has no property ${unknown}`)
}

interface Names {
  readonly pascal: string
  readonly pascals: string
  readonly noun: string
  readonly plural: string
  readonly path: string
  readonly idName: string
  /** Names of components, old and new. */
  readonly references: ReadonlyMap<string, string>
  /** A text about the neighbour, said of the new resource. */
  say(text: string): string
}

function namesOf(neighbour: Neighbour, { name, singular, prefix, like }: ResourceRequest): Names {
  const pascal = pascalCase(singular)
  const noun = singular.replaceAll('_', ' ')
  const plural = name.replaceAll('_', ' ')
  const idName = `${singular}_id`
  const segment = neighbour.collection.split('/').at(-1)!
  const path =
    neighbour.collection.slice(0, -segment.length) +
    (segment.includes('-') ? name.replaceAll('_', '-') : name)
  const article = /^[aeiou]/.test(noun) ? 'an' : 'a'
  const replacements: readonly (readonly [RegExp, string])[] = [
    [word(like), name],
    [word(neighbour.object), singular],
    [word(neighbour.idName), idName],
    [new RegExp(`\\b${neighbour.prefix}_`, 'g'), `${prefix}_`],
    [word(like.replaceAll('_', ' ')), plural],
    [word(neighbour.plural), plural],
    [
      new RegExp(`\\ban? (${neighbour.object.replaceAll('_', ' ')}|${neighbour.noun})\\b`, 'g'),
      `${article} ${noun}`,
    ],
    [
      new RegExp(`\\bAn? (${neighbour.object.replaceAll('_', ' ')}|${neighbour.noun})\\b`, 'g'),
      `${upper(article)} ${noun}`,
    ],
    [word(neighbour.object.replaceAll('_', ' ')), noun],
    [word(neighbour.noun), noun],
  ]
  return {
    pascal,
    pascals: pascalCase(name),
    noun,
    plural,
    path,
    idName,
    references: new Map([
      [neighbour.schema, pascal],
      [neighbour.idSchema, `${pascal}Id`],
      ...(neighbour.create === undefined ? [] : [[neighbour.create, `${pascal}Create`] as const]),
      ...(neighbour.update === undefined ? [] : [[neighbour.update, `${pascal}Update`] as const]),
      ...(neighbour.list === undefined ? [] : [[neighbour.list, `${pascal}List`] as const]),
      [neighbour.idParameter, `${pascal}Id`],
    ]),
    say: (text) => replacements.reduce((said, [from, to]) => said.replaceAll(from, to), text),
  }
}

const word = (text: string) => new RegExp(`(?<![\\w])${text}(?![\\w])`, 'g')
const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** What every copied scalar goes through: references by name, the rest in other words. */
function editOf({ references, say }: Names, more: Edit = () => undefined): Edit {
  return (value, path, isKey) => {
    const own = more(value, path, isKey)
    if (own !== undefined) return own
    if (typeof value !== 'string') return undefined
    if (path.at(-1) !== '$ref' || isKey) return say(value)
    const [, where, name = ''] = value.match(/^(.*\/)([^/]+)$/) ?? []
    return references.has(name) ? `${where}${references.get(name)}` : undefined
  }
}

function insertTag(
  yaml: YamlText,
  document: Node,
  { name, like }: ResourceRequest,
  { plural, noun }: Names,
): Insertion[] {
  const insertions: Insertion[] = []
  const tags = document.tags as { name: string }[]
  const index = tags.findIndex((tag) => tag.name === like)
  if (index !== -1) {
    const edit: Edit = (value, path, isKey) => {
      if (isKey) return undefined
      const key = path.at(-1)
      return key === 'name'
        ? name
        : key === 'x-displayName'
          ? upper(plural)
          : key === 'description'
            ? `What is said of each ${noun}.`
            : value
    }
    insertions.push({ at: yaml.range(['tags', index]).end, text: `\n${yaml.copy(['tags', index], edit)}` })
  }
  const groups = (document['x-tagGroups'] ?? []) as { tags: string[] }[]
  for (const [group, { tags: members }] of groups.entries()) {
    const place = members.indexOf(like)
    if (place === -1) continue
    const path: Step[] = ['x-tagGroups', group, 'tags']
    if (yaml.isFlow(path)) insertions.push({ at: yaml.scalarEnd([...path, place]), text: `, ${name}` })
    else
      insertions.push({
        at: yaml.range([...path, place]).end,
        text: `\n${yaml.copy([...path, place], () => name)}`,
      })
  }
  return insertions
}

function insertPaths(
  yaml: YamlText,
  neighbour: Neighbour,
  request: ResourceRequest,
  names: Names,
): Insertion {
  const items = new Map<string, string[]>()
  for (const kind of KINDS.filter((each) => request.operations.includes(each))) {
    const { path, method, node } = neighbour.operations.get(kind)!
    const at = ['paths', path, method]
    const success = Object.keys((node.responses ?? {}) as Node).find((status) => status.startsWith('2'))
    const edit = editOf(names, (value, where, isKey) => {
      if (isKey) return undefined
      const key = where.slice(at.length).join('/')
      if (key === 'operationId') return operationId(String(value), kind, names)
      if (key === 'description') return describe(kind, names)
      if (success !== undefined && key === `responses/${success}/description`) return names.say(String(value))
      return request.extensions[key]
    })
    const parameters = parametersOf(node)
    const filters = parameters.flatMap((parameter, index) =>
      isFilter(yaml, parameter) ? [[...at, 'parameters', index]] : [],
    )
    // A key without items would be null; the defaults of operations may give it others.
    const removed =
      filters.length > 0 && filters.length === parameters.length ? [[...at, 'parameters']] : filters
    const target = path
      .replace(neighbour.collection, names.path)
      .replace(`{${neighbour.idName}}`, `{${names.idName}}`)
    items.set(target, [...(items.get(target) ?? []), yaml.copy(at, edit, removed)])
  }
  const text = [...items].map(([path, methods]) => `\n\n  ${path}:\n${methods.join('\n\n')}`).join('')
  const ends = [...neighbour.operations.values()].map(({ path }) => yaml.range(['paths', path]).end)
  return { at: Math.max(...ends), text }
}

const KINDS: readonly Kind[] = ['create', 'list', 'get', 'update', 'archive']

function operationId(id: string, kind: Kind, { pascal, pascals }: Names): string {
  return camelCase(`${id.match(/^[a-z]+/)?.[0] ?? kind} ${kind === 'list' ? pascals : pascal}`)
}

function describe(kind: Kind, { noun, plural }: Names): string {
  const article = /^[aeiou]/.test(noun) ? 'an' : 'a'
  if (kind === 'create') return `Makes ${article} ${noun}.`
  if (kind === 'list') return `${upper(plural)}, newest first.`
  if (kind === 'get') return `One ${noun}.`
  if (kind === 'update') return 'Changes what is given.'
  return `Takes ${article} ${noun} out of use. Archiving is final.`
}

/** Filters are of the neighbour's own properties. */
function isFilter(yaml: YamlText, parameter: Node): boolean {
  const name = componentOf(parameter)
  const node = name === undefined ? parameter : (yaml.value(['components', 'parameters', name]) as Node)
  return node['x-filter'] !== undefined
}

function insertEvents(
  yaml: YamlText,
  document: Node,
  neighbour: Neighbour,
  request: ResourceRequest,
  names: Names,
): Insertion[] {
  if (request.events.length === 0) return []
  const known = [...neighbour.events]
  const [last, lastPayload] = known.at(-1)!
  const webhooks: string[] = []
  const payloads: string[] = []
  for (const verb of request.events) {
    const [model, payload] = known.find(([name]) => name.endsWith(`.${verb}`)) ?? known[0]!
    const event = `${request.singular}.${verb}`
    const schema = `${names.pascal}${pascalCase(verb)}Event`
    const edit = editOf(
      { ...names, references: new Map([...names.references, [payload, schema]]) },
      (value, path, isKey) => {
        if (isKey && value === model) return event
        if (isKey && value === payload) return schema
        if (isKey) return undefined
        const key = path.at(-1)
        if (key === 'operationId') return `on${names.pascal}${pascalCase(verb)}`
        if (value === model) return event
        if (key === 'description' && path[0] === 'webhooks') return sentenceOf(verb, names)
        return typeof value === 'string' && key !== '$ref'
          ? names.say(value.replaceAll(model, event))
          : undefined
      },
    )
    webhooks.push(`\n\n${yaml.copy(['webhooks', model], edit)}`)
    payloads.push(`\n\n${yaml.copy(['components', 'schemas', payload], edit)}`)
  }
  return [
    { at: yaml.range(['webhooks', last]).end, text: webhooks.join('') },
    { at: yaml.range(['components', 'schemas', lastPayload]).end, text: payloads.join('') },
    ...enumerations(yaml, document, last, request, names),
  ]
}

const sentenceOf = (verb: string, { noun }: Names): string =>
  `${upper(/^[aeiou]/.test(noun) ? 'an' : 'a')} ${noun} was ${verb.replaceAll(/[._]/g, ' ')}.`

/** Enumerations of event types, and what they say of each. */
function enumerations(
  yaml: YamlText,
  document: Node,
  last: string,
  { singular, events }: ResourceRequest,
  names: Names,
): Insertion[] {
  const insertions: Insertion[] = []
  const schemas = (document.components as Node).schemas as Record<string, Node>
  for (const [name, schema] of Object.entries(schemas)) {
    const path = ['components', 'schemas', name]
    const place = ((schema.enum ?? []) as unknown[]).indexOf(last)
    if (place === -1) continue
    const at = [...path, 'enum', place]
    for (const verb of events)
      insertions.push({ at: yaml.range(at).end, text: `\n${yaml.copy(at, () => `${singular}.${verb}`)}` })
    const described = [...path, 'x-enumDescriptions', last]
    if ((schema['x-enumDescriptions'] as Node | undefined)?.[last] === undefined) continue
    for (const verb of events) {
      const edit: Edit = (_, __, isKey) => (isKey ? `${singular}.${verb}` : sentenceOf(verb, names))
      insertions.push({ at: yaml.range(described).end, text: `\n${yaml.copy(described, edit)}` })
    }
  }
  return insertions
}

function insertComponents(
  yaml: YamlText,
  document: Node,
  neighbour: Neighbour,
  request: ResourceRequest,
  names: Names,
): Insertion[] {
  const wants = (kind: Kind) => request.operations.includes(kind)
  const longer = request.prefix.length - neighbour.prefix.length
  const renamed = (from: string) => (value: unknown, path: readonly Step[], isKey: boolean) => {
    if (isKey) return value === from ? names.references.get(from) : undefined
    return /^m(in|ax)Length$/.test(String(path.at(-1))) ? Number(value) + longer : undefined
  }
  const parameter = ['components', 'parameters', neighbour.idParameter]
  const id = ['components', 'schemas', neighbour.idSchema]
  const taken = [
    ...commonProperties(document),
    ...request.properties,
    ...(wants('archive') ? ['status'] : []),
  ]
  const shapes = [
    wants('create') ? neighbour.create : undefined,
    wants('update') ? neighbour.update : undefined,
    neighbour.schema,
  ].flatMap((name) => (name === undefined ? [] : [shape(yaml, name, taken, names)]))
  if (wants('list') && neighbour.list !== undefined) {
    const { list } = neighbour
    shapes.push(yaml.copy(['components', 'schemas', list], editOf(names, renamed(list))))
  }
  const ends = [neighbour.schema, neighbour.list, neighbour.create, neighbour.update].flatMap((name) =>
    name === undefined ? [] : [yaml.range(['components', 'schemas', name]).end],
  )
  return [
    {
      at: yaml.range(parameter).end,
      text: `\n\n${yaml.copy(parameter, editOf(names, renamed(neighbour.idParameter)))}`,
    },
    { at: yaml.range(id).end, text: `\n\n${yaml.copy(id, editOf(names, renamed(neighbour.idSchema)))}` },
    { at: Math.max(...ends), text: shapes.map((block) => `\n\n${block}`).join('') },
  ]
}

/** Names that most records of the document have, of the same type: `id`, `object`, `created`. */
function commonProperties(document: Node): string[] {
  const schemas = Object.values((document.components as Node).schemas as Record<string, Node>)
  const records = schemas
    .map((schema) => (schema.properties ?? {}) as Record<string, Node>)
    .filter(({ id, object }) => id !== undefined && object?.const !== undefined && object.const !== 'event')
  const counts = new Map<string, number>()
  for (const record of records) {
    for (const [name, node] of Object.entries(record)) {
      const type = `${name} ${['id', 'object'].includes(name) ? '' : JSON.stringify(node.$ref ?? node.type)}`
      counts.set(type, (counts.get(type) ?? 0) + 1)
    }
  }
  const common = [...counts].filter(([, count]) => count * 2 > records.length)
  return common.map(([type]) => type.slice(0, type.indexOf(' ')))
}

/** A schema with some of its properties. */
function shape(yaml: YamlText, name: string, taken: readonly string[], names: Names): string {
  const path = ['components', 'schemas', name]
  const schema = yaml.value(path) as Node
  const properties = Object.keys(schema.properties as Node)
  const kept = properties.filter((property) => taken.includes(property))
  const copied = kept.map((property) => yaml.copy([...path, 'properties', property], editOf(names)))
  const isPatch = name.endsWith('Update')
  const description = isPatch
    ? `Changes to ${names.say(`a ${names.noun}`)}, as a merge patch.`
    : schema.required !== undefined && (schema.properties as Node).id !== undefined
      ? `${upper(/^[aeiou]/.test(names.noun) ? 'an' : 'a')} ${names.noun}.`
      : `${upper(/^[aeiou]/.test(names.noun) ? 'an' : 'a')} ${names.noun} to be made.`
  const required = ((schema.required ?? []) as string[]).filter((each) => kept.includes(each))
  const [example] = (schema.examples ?? []) as Node[]
  const shown = Object.entries(example ?? {}).filter(([member]) => kept.includes(member))
  const rest = Object.keys(schema).filter(
    (key) => !['type', 'description', 'required', 'properties', 'examples'].includes(key),
  )
  return [
    `    ${names.references.get(name)}:`,
    '      type: object',
    `      description: ${writeYaml(description)}`,
    ...rest.map((key) => yaml.copy([...path, key], editOf(names))),
    ...(required.length > 0 ? [`      required: [${required.join(', ')}]`] : []),
    ...(copied.length > 0 ? ['      properties:', ...copied] : []),
    ...(shown.length > 0 ? ['      examples:', indent(writeYaml([Object.fromEntries(shown)]), 8)] : []),
  ].join('\n')
}

/** Lists of other schemas that name the neighbour's kind of record. */
function listsOf(yaml: YamlText, { object }: Neighbour): number[] {
  return [...yaml.find('enum')].flatMap(({ path, node }) => {
    const values = yaml.value(path)
    const [offset = 0] = node.range ?? []
    return Array.isArray(values) && values.includes(object) ? [yaml.line(offset)] : []
  })
}

/** First and last lines of what was put in, in the text that has all of it. */
function blocksOf(source: string, insertions: readonly Insertion[]): (readonly [number, number])[] {
  let added = 0
  return insertions
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, text }) => {
      const before = source.slice(0, at).split('\n').length + added
      const lines = text.split('\n').length - 1
      added += lines
      const blank = text.match(/^\n*/)![0].length
      return [before + blank, before + lines] as const
    })
}
