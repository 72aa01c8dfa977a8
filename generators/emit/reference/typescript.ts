/** Prints a request as a program that uses the client. */
import { streamOf } from '../../ir/bodies.ts'
import type { ApiOperation } from '../../ir/model.ts'
import { literal, member, propertyKey, stringLiteral } from '../../print/literal.ts'
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

/** Prints only the call: `client.getBook({ path: { book_id: '…' } })`. */
export function callOf(page: ReferencePage, operation: ApiOperation): string {
  return `client${member(operation.id)}(${inputOf(page, sampleRequest(page, operation))})`
}

/** Matches a placeholder as `stringLiteral` prints it. */
const GIVEN = /'\\ue000(\w*)\\ue001'/g

/** Replaces literals that hold only a placeholder with expressions. */
export const readGiven = (code: string): string =>
  code.replace(GIVEN, (_, name: string) =>
    name === '' ? 'crypto.randomUUID()' : `process.env${member(name)} ?? ''`,
  )

/** Leaves out the idempotency key and the version header, which the client sends. */
function inputOf({ wire }: ReferencePage, { path, query, headers, body }: ReferenceRequest): string {
  const own = Object.entries(headers).filter(
    ([name]) => name.toLowerCase() !== wire.idempotencyHeader.toLowerCase(),
  )
  const input = {
    ...(Object.keys(path).length > 0 && { path }),
    ...(Object.keys(query).length > 0 && { query }),
    ...(own.length > 0 && { header: Object.fromEntries(own) }),
    ...(body && { body: body.value }),
  }
  return Object.keys(input).length === 0 ? '' : readGiven(printValue(input, ''))
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
