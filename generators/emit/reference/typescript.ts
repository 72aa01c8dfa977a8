/** Prints a request as a program that uses the client. */
import { streamOf } from '../../ir/bodies.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'
import { resourceMethods } from '../../ir/resource-methods.ts'
import { literal, member, propertyKey, stringLiteral } from '../../print/literal.ts'
import { sampleArguments } from '../wire/arguments.ts'
import type { ReferencePage } from './page.ts'
import { type ReferenceRequest, sampleRequest } from './request.ts'

const WIDTH = 72

/**
 * Prints a complete module that compiles.
 *
 * @param client the client's npm package.
 */
export function typescriptOf(page: ReferencePage, operation: ApiOperation, client: string): string {
  const { base } = sampleRequest(page, operation)
  return [
    `import { createClient } from ${stringLiteral(`${client}/${page.api.version}`)}`,
    '',
    'const client = createClient({',
    `  baseUrl: ${stringLiteral(base)},`,
    "  apiKey: process.env.API_KEY ?? '',",
    '})',
    ...(streamOf(operation)?.items
      ? [`for await (const item of ${callOf(page, operation)}) console.log(item)`]
      : [
          `const answer = await ${callOf(page, operation)}`,
          page.keep === undefined ? 'console.log(answer)' : `console.log(answer.id) // ${page.keep}`,
        ]),
  ].join('\n')
}

/** Prints only the call: `client.books.retrieve('…')`. */
export function callOf(page: ReferencePage, operation: ApiOperation): string {
  return `client${methodPath(page.api, operation)}(${argumentsIn(page, operation, sampleRequest(page, operation))})`
}

/** Prints the method of an operation as members of the client: `.books.retrieve`. */
export function methodPath(api: Api, { id }: ApiOperation): string {
  const { resource, method } = resourceMethods(api).get(id)!
  return [...resource, method].map(member).join('')
}

/** Matches a placeholder as `stringLiteral` prints it. */
const GIVEN = /'\\ue000(\w*)\\ue001'/g

/** Replaces literals that hold only a placeholder with expressions. */
export const readGiven = (code: string): string =>
  code.replace(GIVEN, (_, name: string) =>
    name === '' ? 'crypto.randomUUID()' : `process.env${member(name)} ?? ''`,
  )

/** Leaves out the idempotency key and the version header, which the client sends. */
function argumentsIn(
  { api, wire }: ReferencePage,
  operation: ApiOperation,
  { path, query, headers, body }: ReferenceRequest,
): string {
  const header = Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() !== wire.idempotencyHeader.toLowerCase()),
  )
  const all = sampleArguments(api, operation, { path, query, header, body })
  return all.map((each) => (each === undefined ? 'undefined' : readGiven(printValue(each, '')))).join(', ')
}

/** Prints a literal on one line if it fits, otherwise on several. */
export function printValue(value: unknown, indent: string): string {
  const line = literal(value)
  const items = Array.isArray(value) ? value.map((each) => ['', each] as const) : entriesOf(value)
  if (items.length === 0 || line.length + indent.length <= WIDTH) return line
  const inner = `${indent}  `
  const lines = items.map(([start, each]) => `${inner}${start}${printValue(each, inner)},\n`)
  return Array.isArray(value) ? `[\n${lines.join('')}${indent}]` : `{\n${lines.join('')}${indent}}`
}

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).map(([name, each]) => [`${propertyKey(name)}: `, each])
    : []
