/**
 * Emits one interface for each tag, which the service's handlers implement. It uses the canonical version's types
 * and a generic context.
 */

import { canonicalOperations } from '../../change/canonical.ts'
import type { LoadedChange } from '../../change/load-changes.ts'
import {
  jsonBody,
  rawAnswer,
  rawBodies,
  type StreamContent,
  streamOf,
  validatedArray,
} from '../../ir/bodies.ts'
import { isJson, isText } from '../../ir/media-type.ts'
import type { Api, ApiContent, ApiOperation, OutputFile, Schema } from '../../ir/model.ts'
import { identifier, pascalCase } from '../../ir/naming.ts'
import { successOf, successStatus } from '../../ir/operations.ts'
import { createFile, type TypeScriptFile } from '../../print/file.ts'
import { docComment, propertyKey, stringLiteral } from '../../print/literal.ts'
import { CONTRACT } from '../../print/runtime.ts'
import { queryType, responseKey, schemaTypes, typesFile } from '../types/type-names.ts'
import { formContents, formFields } from '../wire/forms.ts'

/** Returns the name of a tag's interface: `book_lists` → `BookListsHandlers`. */
export const handlersInterface = (tag: string): string => identifier(`${pascalCase(tag)}Handlers`)

/** @param apis oldest first. */
export function emitHandlers(apis: readonly Api[], changes: readonly LoadedChange[] = []): OutputFile[] {
  const newest = apis.at(-1)!
  const operations = canonicalOperations(apis, changes)
  const tags = [
    ...new Set([...newest.tags.map((tag) => tag.name), ...operations.map(({ operation }) => operation.tag)]),
  ]
  const file = createFile([...GLOBAL_TYPES, ...tags.map(handlersInterface), ...operations.flatMap(ownTypes)])
  const interfaces: string[] = []
  const types: Printing['types'] = new Map()
  const schemas = schemaTypes(newest.schemas.keys())
  // Tags that differ only in punctuation share an interface.
  for (const name of new Set(tags.map(handlersInterface))) {
    const own = operations.filter(({ operation }) => handlersInterface(operation.tag) === name)
    if (own.length === 0) continue
    interfaces.push(name)
    file.print(`export interface ${name}<Context> {`)
    for (const { operation, api } of own)
      file.print(printMethod(operation, { api, newest, file, types, schemas }).trimEnd())
    file.print('}', '')
  }
  for (const [name, type] of types) file.print(`export type ${name} = ${type}`)
  if (types.size > 0) file.print('')
  file.print(
    '/** All operations of all versions. */',
    `export type Handlers<Context> = ${interfaces.map((name) => `${name}<Context>`).join(' & ') || '{}'}`,
  )
  return [{ path: 'canonical/handlers.ts', text: file.text() }]
}

/** Types that the file uses. Imports must not hide them. */
const GLOBAL_TYPES = ['Handlers', 'Context', 'Promise', 'NonNullable', 'AsyncIterable', 'Blob']

/** Returns the type names that the file may declare for an operation. */
const ownTypes = ({ operation }: { readonly operation: ApiOperation }): string[] =>
  OWN.map((what) => identifier(`${pascalCase(operation.id)}${what}`))

const OWN = ['Body', 'Form', 'Answer', 'Item'] as const

interface Printing {
  readonly api: Api
  readonly newest: Api
  readonly file: TypeScriptFile
  /** Names and definitions of types for inline bodies and responses. */
  readonly types: Map<string, string>
  /** Types of components by their names. */
  readonly schemas: ReadonlyMap<string, string>
}

function printMethod(operation: ApiOperation, printing: Printing): string {
  const { file } = printing
  const reply = file.use('Reply', CONTRACT, { type: true })
  const input = inputOf(operation, printing)
  const success = successOf(operation)
  const body = success?.contents.find((content) => isJson(content.mediaType))
  const stream = streamOf(operation)
  const raw = rawAnswer(operation)
  const payload = body
    ? answerType(operation, success!.status, body, printing)
    : stream
      ? `AsyncIterable<${streamedType(operation, stream, printing)}>`
      : raw
        ? `${isText(raw.mediaType) ? 'string | ' : ''}${file.use('BinaryBody', CONTRACT, { type: true })}`
        : 'undefined'
  const answer = `${reply}<${successStatus(operation)}, ${payload}>`
  const comment = docComment(
    `${operation.method} ${operation.path}${operation.summary ? `: ${operation.summary}` : ''}`,
    '  ',
  )
  const parameters = ['context: Context', ...(input ? [`input: ${input}`] : [])].join(', ')
  return `${comment}  ${propertyKey(operation.id)}(${parameters}): Promise<${answer}>\n`
}

function inputOf(operation: ApiOperation, printing: Printing): string | undefined {
  const { api, file } = printing
  const members: string[] = []
  for (const where of ['path', 'query'] as const) {
    if (!operation.parameters.some((parameter) => parameter.in === where)) continue
    const type = () => `${operationType(operation, file)}['parameters']['${where}']`
    const name = where === 'query' && api === printing.newest ? queryType(api, operation) : undefined
    if (name !== undefined) members.push(`query: ${useType(name, file)}`)
    else members.push(`${where}: ${where === 'query' ? `NonNullable<${type()}>` : type()}`)
  }
  const body = jsonBody(operation)
  const each = body && validatedArray(api, body.schema)
  if (each) {
    const checked = file.use('CheckedItem', CONTRACT, { type: true })
    const item = nameOf(each.items, printing) ?? itemType(bodyType(operation, body, printing), each.property)
    members.push(`items: readonly ${checked}<${item}>[]`)
  } else {
    const types = [
      ...(body ? [bodyType(operation, body, printing)] : []),
      ...formContents(operation).map(({ content }) => formType(operation, content, printing)),
      ...rawBodies(api, operation).map(({ mediaType }) => (isText(mediaType) ? 'string' : 'Blob')),
    ]
    const all = [...new Set(types)].join(' | ')
    if (all !== '') members.push(`body${operation.body?.required ? '' : '?'}: ${all}`)
  }
  if (streamOf(operation)?.framing === 'events' && streamOf(operation)?.items)
    members.push('lastEventId?: string')
  return members.length === 0 ? undefined : `{ ${members.join('; ')} }`
}

const index = (name: string): string => `[${stringLiteral(name)}]`

const itemType = (body: string, property: string): string => `NonNullable<${body}${index(property)}>[number]`

function operationType({ id }: ApiOperation, file: TypeScriptFile): string {
  return `${file.use('operations', './types.ts', { type: true })}${index(id)}`
}

/**
 * Returns the type of a body: the component's name, or a new name derived from the operation for an inline schema.
 */
function bodyType(operation: ApiOperation, { schema, mediaType }: ApiContent, printing: Printing): string {
  const named = nameOf(schema, printing)
  if (named !== undefined) return named
  const whole = `NonNullable<${operationType(operation, printing.file)}['requestBody']>`
  return declare(printing.types, operation, 'Body', `${whole}['content']${index(mediaType)}`)
}

/** Documents describe files as strings, but handlers get Blobs. */
function formType(operation: ApiOperation, content: ApiContent, printing: Printing): string {
  const { api, file, types } = printing
  const files = formFields(api, content).filter(({ as }) => as.includes('bytes'))
  const type = bodyType(operation, content, printing)
  if (files.length === 0) return type
  const withFiles = file.use('FormWithFiles', CONTRACT, { type: true })
  const names = files.map(({ name }) => stringLiteral(name)).join(' | ')
  return declare(types, operation, 'Form', `${withFiles}<${type}, ${names}>`)
}

function answerType(
  operation: ApiOperation,
  status: string,
  { schema, mediaType }: ApiContent,
  printing: Printing,
): string {
  const named = nameOf(schema, printing)
  if (named !== undefined) return named
  const answer = `${operationType(operation, printing.file)}['responses']${responseKey(status)}['content']${index(mediaType)}`
  return declare(printing.types, operation, 'Answer', answer)
}

/** A stream without described items is text. */
function streamedType(
  operation: ApiOperation,
  { content, items }: StreamContent,
  printing: Printing,
): string {
  if (!items) return 'string'
  const named = nameOf(items.items, printing)
  if (named !== undefined) return named
  const status = responseKey(successOf(operation)!.status)
  const all = `${operationType(operation, printing.file)}['responses']${status}['content']${index(content.mediaType)}`
  return declare(printing.types, operation, 'Item', `${all}[number]`)
}

function declare(
  types: Printing['types'],
  { id }: ApiOperation,
  what: (typeof OWN)[number],
  type: string,
): string {
  const wanted = identifier(`${pascalCase(id)}${what}`)
  let name = wanted
  for (let n = 2; (types.get(name) ?? type) !== type; n++) name = `${wanted}_${n}`
  types.set(name, type)
  return name
}

const useType = (name: string, file: TypeScriptFile): string => file.use(name, './types.ts', { type: true })

/** An operation that newer versions removed has the types of the last version that has it. */
function nameOf(schema: Schema, { api, newest, schemas, file }: Printing): string | undefined {
  if (schema.kind !== 'ref' || schema.nullable) return undefined
  if (api !== newest) {
    const as = identifier(`components_${api.version}`)
    const components = file.use('components', `../${api.version}/${typesFile(api)}`, { type: true, as })
    return `${components}['schemas']${index(schema.name)}`
  }
  const name = schemas.get(schema.name)
  return name === undefined
    ? `${useType('components', file)}['schemas']${index(schema.name)}`
    : useType(name, file)
}
