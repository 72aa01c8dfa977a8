import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { default as addFormats } from 'ajv-formats'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { parseText } from '../../generators/document/load.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type Node = { [key: string]: Json }
export interface Located {
  /** RFC 6901 pointer into the document. */
  readonly pointer: string
  readonly node: Node
}

const folder = fileURLToPath(new URL('../../openapi/', import.meta.url))

/** Dates of the versions, oldest first. */
export const dates: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.slice(0, -'.yaml'.length))
  .sort()

export function textOf(date: string): string {
  return readFileSync(`${folder}${date}.yaml`, 'utf8')
}

/** As they are read: with the defaults of operations written out. */
const parsed = new Map(
  dates.map((date) => {
    const report = createReport()
    const document = parseText(`openapi/${date}.yaml`, textOf(date), report)
    report.finish()
    return [date, document!.json as Node]
  }),
)

export function documentOf(date: string): Node {
  return parsed.get(date)!
}

export const extensionSchemas = JSON.parse(readFileSync(`${folder}extensions.schema.json`, 'utf8')) as Node

export function isNode(value: Json | undefined): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function at(document: Node, pointer: string): Json | undefined {
  let value: Json | undefined = document
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    value = Array.isArray(value) ? value[Number(name)] : isNode(value) ? value[name] : undefined
  }
  return value
}

export function join(pointer: string, ...steps: (string | number)[]): string {
  return steps.reduce<string>(
    (path, step) => `${path}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`,
    pointer,
  )
}

/** Members of an object that are objects themselves, with their pointers. */
export function members(document: Node, pointer: string): (Located & { readonly name: string })[] {
  const parent = at(document, pointer)
  if (!isNode(parent)) return []
  return Object.entries(parent).flatMap(([name, node]) =>
    isNode(node) ? [{ name, node, pointer: join(pointer, name) }] : [],
  )
}

/** What a `$ref` stands for; a node without one stands for itself. */
export function resolve(document: Node, located: Located): Located {
  const target = located.node.$ref
  if (typeof target !== 'string') return located
  const pointer = target.slice(1)
  const node = at(document, pointer)
  if (!isNode(node)) throw new Error(`${located.pointer}: ${target} leads nowhere`)
  return { pointer, node }
}

export interface Operation extends Located {
  readonly method: string
  readonly path: string
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'options', 'head', 'trace']

function operationsUnder(document: Node, pointer: string): Operation[] {
  return members(document, pointer).flatMap((item) =>
    members(document, item.pointer)
      .filter((member) => METHODS.includes(member.name))
      .map((member) => ({ ...member, method: member.name.toUpperCase(), path: item.name })),
  )
}

export function operationsOf(document: Node): Operation[] {
  return operationsUnder(document, '/paths')
}

/** The entries of `webhooks:`; `path` is the event type. */
export function webhooksOf(document: Node): Operation[] {
  return operationsUnder(document, '/webhooks')
}

/** The requests that the service makes in the course of an operation. */
export function callbacksOf(document: Node): Operation[] {
  return operationsOf(document).flatMap((operation) =>
    members(document, join(operation.pointer, 'callbacks')).flatMap((callback) =>
      operationsUnder(document, callback.pointer),
    ),
  )
}

export function parametersOf(document: Node, operation: Operation): Located[] {
  const list = operation.node.parameters
  if (!Array.isArray(list)) return []
  return list.flatMap((node, index) =>
    isNode(node) ? [resolve(document, { pointer: join(operation.pointer, 'parameters', index), node })] : [],
  )
}

/** Schemas directly below a schema. */
export function subschemas(located: Located): Located[] {
  const found: Located[] = []
  const take = (value: Json | undefined, pointer: string): void => {
    if (isNode(value)) found.push({ pointer, node: value })
  }
  for (const key of ['items', 'additionalProperties', 'propertyNames', 'not', 'contains']) {
    take(located.node[key], join(located.pointer, key))
  }
  for (const key of ['properties', 'patternProperties']) {
    const map = located.node[key]
    if (!isNode(map)) continue
    for (const [name, value] of Object.entries(map)) take(value, join(located.pointer, key, name))
  }
  for (const key of ['oneOf', 'anyOf', 'allOf', 'prefixItems']) {
    const list = located.node[key]
    if (!Array.isArray(list)) continue
    for (const [index, value] of list.entries()) take(value, join(located.pointer, key, index))
  }
  return found
}

/** All schemas that these lead to, through references, each once. */
export function reachable(document: Node, roots: Located[]): Located[] {
  const seen = new Map<string, Located>()
  const left = [...roots]
  for (let next = left.pop(); next; next = left.pop()) {
    if (seen.has(next.pointer)) continue
    seen.set(next.pointer, next)
    if (typeof next.node.$ref === 'string') left.push(resolve(document, next))
    left.push(...subschemas(next))
  }
  return [...seen.values()]
}

/** Schemas of the media types of a body or response. */
export function contentSchemas(document: Node, holder: Located): Located[] {
  return members(document, join(holder.pointer, 'content')).flatMap((media) =>
    isNode(media.node.schema) ? [{ pointer: join(media.pointer, 'schema'), node: media.node.schema }] : [],
  )
}

function bodySchemas(document: Node, operation: Operation): Located[] {
  const body = operation.node.requestBody
  return isNode(body)
    ? contentSchemas(document, { pointer: join(operation.pointer, 'requestBody'), node: body })
    : []
}

function answerSchemas(document: Node, operation: Operation): Located[] {
  return members(document, join(operation.pointer, 'responses')).flatMap((answer) =>
    contentSchemas(document, resolve(document, answer)),
  )
}

/** Schemas of what callers send: bodies, parameters, and answers to the service's own requests. */
export function sentSchemas(document: Node): Located[] {
  const parameters = operationsOf(document).flatMap((operation) =>
    parametersOf(document, operation).flatMap((parameter) =>
      isNode(parameter.node.schema)
        ? [{ pointer: join(parameter.pointer, 'schema'), node: parameter.node.schema }]
        : [],
    ),
  )
  const bodies = operationsOf(document).flatMap((operation) => bodySchemas(document, operation))
  const answers = callbacksOf(document).flatMap((operation) => answerSchemas(document, operation))
  return reachable(document, [...parameters, ...bodies, ...answers])
}

/** Schemas of what callers receive: answers, events, and the bodies of the service's own requests. */
export function receivedSchemas(document: Node): Located[] {
  const answers = operationsOf(document).flatMap((operation) => answerSchemas(document, operation))
  const pushed = [...webhooksOf(document), ...callbacksOf(document)]
  return reachable(document, [...answers, ...pushed.flatMap((operation) => bodySchemas(document, operation))])
}

/** Every schema of a document, whoever uses it. */
export function allSchemas(document: Node): Located[] {
  const inline = ['parameters', 'headers'].flatMap((kind) =>
    members(document, `/components/${kind}`).flatMap((holder) =>
      isNode(holder.node.schema)
        ? [{ pointer: join(holder.pointer, 'schema'), node: holder.node.schema }]
        : [],
    ),
  )
  const seen = new Map<string, Located>()
  const found = [
    ...reachable(document, [...members(document, '/components/schemas'), ...inline]),
    ...sentSchemas(document),
    ...receivedSchemas(document),
  ]
  for (const located of found) seen.set(located.pointer, located)
  return [...seen.values()]
}

const compilers = new Map<string, (pointer: string) => ValidateFunction>()

/** Validator of the schema at a pointer of a version's document; strict, so a misspelt keyword throws. */
export function validatorAt(date: string, pointer: string): ValidateFunction {
  const compile = compilers.get(date) ?? compilerOf(date)
  compilers.set(date, compile)
  return compile(pointer)
}

function compilerOf(date: string): (pointer: string) => ValidateFunction {
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, strictRequired: false })
  addFormats.default(ajv)
  ajv.addVocabulary(['components', 'paths', 'discriminator'])
  ajv.addVocabulary(Object.keys(at(extensionSchemas, '/schema/properties') as Node))
  const name = `urn:openapi:${date}`
  ajv.addSchema(
    { $id: name, components: documentOf(date).components, paths: documentOf(date).paths },
    undefined,
    false,
    false,
  )
  return (pointer) => ajv.compile({ $ref: `${name}#${encodeURI(pointer)}` })
}
