/** Prints sample programs that use the client. Each is a complete module that compiles. */
import type { Wire } from '../../client-runtime/service.ts'
import type { ApiOperation } from '../../ir/model.ts'
import { literal, member, propertyKey, stringLiteral } from '../../print/literal.ts'
import { serverOf } from '../reference/request.ts'
import { methodPath, readGiven } from '../reference/typescript.ts'
import { sampleArguments } from '../wire/arguments.ts'
import { isObject, type PathStep } from './paths.ts'
import type { SampleRequest } from './request.ts'

/** A value that a program reads from a response, and the value that it compares it with. */
export interface SampleReading {
  /** Path from the response to the value. */
  readonly path: readonly PathStep[]
  readonly value: unknown
}

const WIDTH = 88

/**
 * Prints a call.
 *
 * @param client the client's npm package.
 * @param reading what the program does with the response; without it, only the call is printed.
 */
export function printCall(
  request: SampleRequest,
  client: string,
  wire: Wire,
  reading?: SampleReading,
): string {
  const { api, operation } = request
  const call = `await client${methodPath(api, operation)}(${argumentsIn(request, wire)})`
  return [
    `import { createClient } from ${stringLiteral(`${client}/${api.version}`)}`,
    '',
    `const client = createClient({ baseUrl: ${stringLiteral(serverOf(api, operation))}, apiKey: process.env.API_KEY ?? '' })`,
    '',
    ...(reading ? [`const answer = ${call}`, ...printReading(reading)] : [call]),
  ].join('\n')
}

function argumentsIn(
  { api, operation, path, query, headers, body, keyed }: SampleRequest,
  wire: Wire,
): string {
  const isKey = (name: string) => name.toLowerCase() === wire.idempotencyHeader.toLowerCase()
  const own = Object.entries(headers)
  const all = sampleArguments(api, operation, {
    path,
    query,
    header: Object.fromEntries(own.filter(([name]) => !isKey(name))),
    body: body === undefined ? undefined : { value: body },
    idempotencyKey: keyed === true ? own.find(([name]) => isKey(name))?.[1] : undefined,
  })
  return all.map((each) => (each === undefined ? 'undefined' : readGiven(printValue(each, '')))).join(', ')
}

/** Prints a literal on one line if it fits, otherwise on several. */
function printValue(value: unknown, indent: string): string {
  const line = literal(value)
  const items = Array.isArray(value) ? value.map((each) => ['', each] as const) : entriesOf(value)
  if (items.length === 0 || (indent !== '' && line.length + indent.length <= WIDTH)) return line
  const inner = `${indent}  `
  const lines = items.map(([start, each]) => `${inner}${start}${printValue(each, inner)},\n`)
  return Array.isArray(value) ? `[\n${lines.join('')}${indent}]` : `{\n${lines.join('')}${indent}}`
}

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  isObject(value) ? Object.entries(value).map(([name, each]) => [`${propertyKey(name)}: `, each]) : []

function printReading({ path, value }: SampleReading): string[] {
  const list = path.findIndex((step) => step.name === undefined)
  const before = access('answer', list < 0 ? path : path.slice(0, list))
  const test = (of: string) => comparison(of, value)
  if (list < 0) return printTest(before, test(before))
  const inside = access('each', path.slice(list + 1))
  const found = test(inside)
  const open = path[list - 1]?.optional === true ? '?.' : '.'
  if (found === undefined) return [`console.log(${before}${open}map((each) => ${inside}))`]
  return printTest(before, `${before}${open}some((each) => ${found})`)
}

const printTest = (value: string, test: string | undefined): string[] =>
  test === undefined ? [`console.log(${value})`] : [`if (${test}) {`, '  // handle this case', '}']

/** Prints an access path. Uses `?.` after values that may be absent, and reads the first item of a list. */
function access(from: string, path: readonly PathStep[]): string {
  let text = from
  let optional = false
  for (const step of path) {
    const dot = step.name === undefined ? '[0]' : member(step.name)
    text += optional ? `?.${dot.replace(/^\./, '')}` : dot
    optional = step.optional || step.name === undefined
  }
  return text
}

/** Returns undefined for values that are not compared. */
function comparison(of: string, value: unknown): string | undefined {
  if (Array.isArray(value)) return value.length === 0 ? `${of}.length === 0` : undefined
  return isObject(value) ? undefined : `${of} === ${literal(value)}`
}

/**
 * Prints a receiver of events.
 *
 * @param types event types that it handles.
 */
export function printReceiver(client: string, version: string, types: readonly string[]): string {
  const cases = types.flatMap((type) => [
    `    case ${stringLiteral(type)}:`,
    '      console.log(event.data) // has the type of this event',
    '      break',
  ])
  return [
    `import { unwrap } from ${stringLiteral(`${client}/${version}`)}`,
    '',
    'export async function receive(request: Request, secret: string): Promise<Response> {',
    '  const event = await unwrap(await request.text(), request.headers, secret)',
    ...(cases.length === 0
      ? ["  console.log('Ignored event:', event.type)"]
      : [
          '  switch (event.type) {',
          ...cases,
          '    default:',
          "      console.log('Ignored event:', event.type)",
          '  }',
        ]),
    '  return new Response(null, { status: 204 })',
    '}',
  ].join('\n')
}

/** Returns whether the samples can call an operation with the client: its body is JSON, or it has none. */
export const isCallable = ({ body }: ApiOperation): boolean =>
  body === undefined || body.contents.some(({ mediaType }) => /json/.test(mediaType))
