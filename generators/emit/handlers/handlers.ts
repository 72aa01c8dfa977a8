/** What the runtime has to implement: one interface per tag, in the canonical version's types, over whatever context the service gives its handlers. */

import { canonicalOperations } from '../../change/canonical.ts'
import type { LoadedChange } from '../../change/load-changes.ts'
import { isStream, jsonBody, validatedArray } from '../../ir/bodies.ts'
import { isJson } from '../../ir/media-type.ts'
import type { Api, Operation, OutputFile, Schema } from '../../ir/model.ts'
import { identifier, pascalCase } from '../../ir/naming.ts'
import { createFile } from '../../print/file.ts'
import { docComment, propertyKey, stringLiteral } from '../../print/literal.ts'
import { CONTRACT } from '../../print/runtime.ts'

/** Name of the interface of a tag: `book_lists` → `BookListsHandlers`. */
export const handlersInterface = (tag: string): string => identifier(`${pascalCase(tag)}Handlers`)

/** @param apis oldest first. */
export function emitHandlers(apis: readonly Api[], changes: readonly LoadedChange[] = []): OutputFile[] {
  const newest = apis.at(-1)!
  const operations = canonicalOperations(apis, changes)
  const tags = [
    ...new Set([...newest.tags.map((tag) => tag.name), ...operations.map(({ operation }) => operation.tag)]),
  ]
  const file = createFile(['Schemas', 'Handlers', 'Context'])
  file.use('components', './types.ts', { type: true })
  file.print("type Schemas = components['schemas']", '')
  const interfaces: string[] = []
  // Tags that differ in no letter or digit are implemented together.
  for (const name of new Set(tags.map(handlersInterface))) {
    const own = operations.filter(({ operation }) => handlersInterface(operation.tag) === name)
    if (own.length === 0) continue
    interfaces.push(name)
    file.print(`export interface ${name}<Context> {`)
    for (const { operation, api } of own) file.print(printMethod(operation, api, file).trimEnd())
    file.print('}', '')
  }
  file.print(
    '/** Every operation that any version has. */',
    `export type Handlers<Context> = ${interfaces.map((name) => `${name}<Context>`).join(' & ') || '{}'}`,
  )
  return [{ path: 'canonical/handlers.ts', text: file.text() }]
}

function printMethod(operation: Operation, api: Api, file: ReturnType<typeof createFile>): string {
  const reply = file.use('Reply', CONTRACT, { type: true })
  const input = inputOf(operation, api, file)
  const success = operation.responses.find((response) => /^2\d\d$/.test(response.status))
  const body = success?.contents.find((content) => isJson(content.mediaType))
  const payload = body ? typeOf(body.schema) : isStream(operation) ? 'AsyncIterable<string>' : 'undefined'
  const answer = `${reply}<${success?.status ?? 200}, ${payload}>`
  const comment = docComment(
    `${operation.method} ${operation.path}${operation.summary ? `: ${operation.summary}` : ''}`,
    '  ',
  )
  const parameters = ['context: Context', ...(input ? [`input: ${input}`] : [])].join(', ')
  return `${comment}  ${propertyKey(operation.id)}(${parameters}): Promise<${answer}>\n`
}

function inputOf(operation: Operation, api: Api, file: ReturnType<typeof createFile>): string | undefined {
  const members: string[] = []
  for (const where of ['path', 'query'] as const) {
    if (!operation.parameters.some((parameter) => parameter.in === where)) continue
    const operations = file.use('operations', './types.ts', { type: true })
    const type = `${operations}${index(operation.id)}['parameters']['${where}']`
    members.push(`${where}: ${where === 'query' ? `NonNullable<${type}>` : type}`)
  }
  const body = jsonBody(operation)
  const each = body && validatedArray(api, body.schema)
  if (each) {
    const checked = file.use('CheckedItem', CONTRACT, { type: true })
    members.push(`items: readonly ${checked}<${typeOf(each.items)}>[]`)
  } else if (body) members.push(`body${operation.body?.required ? '' : '?'}: ${typeOf(body.schema)}`)
  return members.length === 0 ? undefined : `{ ${members.join('; ')} }`
}

const index = (name: string): string => `[${stringLiteral(name)}]`

function typeOf(schema: Schema): string {
  return schema.kind === 'ref' ? `Schemas${index(schema.name)}` : 'unknown'
}
