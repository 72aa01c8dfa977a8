/** Makes the tools of an MCP server from the operations of one version. */

import type { AnyInput } from '../client-runtime/connect.ts'
import { writeParameters } from '../client-runtime/parameters.ts'
import { encodeForm } from '../client-runtime/request-body.ts'
import type { OperationRow, Wire } from '../client-runtime/service.ts'
import { clientBody } from '../emit/client/bodies.ts'
import { type ClientOperationRow, createRows, isHeader } from '../emit/client/rows.ts'
import { findUnwritten } from '../emit/wire/parameters.ts'
import { partsOf } from '../ir/members.ts'
import { isReading } from '../ir/methods.ts'
import type { Api, ApiOperation, ApiParameter, Schema } from '../ir/model.ts'
import { contentOf } from '../ir/operations.ts'
import { createSchemaPrinter } from './tool-schemas.ts'

/** A JSON Schema (2020-12) of an object. It refers only to its own `$defs`. */
export interface ToolSchema {
  readonly type: 'object'
  readonly [keyword: string]: unknown
}

export interface McpTool {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
  readonly inputSchema: ToolSchema
  /** Absent if the answer is not one object. */
  readonly outputSchema?: ToolSchema
}

/** A tool with what its calls need. */
export interface OperationTool {
  readonly tool: McpTool
  readonly operation: ApiOperation
  readonly row: OperationRow
  /** Where the parameters are sent, by the name of the argument. */
  readonly parameters: ReadonlyMap<string, Pick<ApiParameter, 'in' | 'name'>>
}

/** Tools that search and read the documentation. No operation has these names. */
export const DOCS_TOOLS = ['search_docs', 'read_docs'] as const

/** The argument with the body of the request. */
export const BODY = 'body'

/**
 * Returns a tool for each operation that a call with JSON arguments can perform: not for streams, files, and
 * parameters that no client can send.
 *
 * @param api the server view, whose request schemas do not require read-only properties.
 */
export function createTools(api: Api, wire: Wire): OperationTool[] {
  const rowOf = createRows(api, wire, false)
  const names = new Set<string>(DOCS_TOOLS)
  return api.operations.flatMap((operation) => {
    const row = rowOf(operation)
    if (!isCallable(api, operation, row)) return []
    const parameters = new Map<string, ApiParameter>()
    for (const parameter of operation.parameters)
      if (!isHeader(parameter, wire.versionHeader) && !isHeader(parameter, wire.idempotencyHeader))
        parameters.set(
          freeName(parameter.name, MAX_ARGUMENT, (name) => name === BODY || parameters.has(name)),
          parameter,
        )
    const name = freeName(operation.id, MAX_NAME, (each) => names.has(each))
    names.add(name)
    const encode = row.encoder === 'encodeForm' && { encode: encodeForm }
    return {
      tool: describe(api, name, operation, parameters),
      operation,
      row: { ...row.row, ...(row.writes && { write: writeParameters }), ...encode },
      parameters,
    }
  })
}

function isCallable(api: Api, operation: ApiOperation, { row, encoder }: ClientOperationRow): boolean {
  const isSent = operation.parameters.every((each) => !each.required || !findUnwritten(api, each))
  const isJsonInput = encoder === undefined || encoder === 'encodeForm'
  const isFetched = !(operation.body?.required && (operation.method === 'GET' || operation.method === 'HEAD'))
  return isSent && isJsonInput && isFetched && !row.streamed
}

/** Limits that clients have for names of tools and of their arguments. */
const MAX_NAME = 64
const MAX_ARGUMENT = 64

/** Returns a name of the characters that all clients accept, with a number if it is taken. */
function freeName(text: string, most: number, isTaken: (name: string) => boolean): string {
  const base = text
    .replaceAll(/[^\w-]+/g, '_')
    .replaceAll(/(?<=.)_+$/g, '')
    .slice(0, most)
  let name = base
  for (let n = 2; isTaken(name); n++) name = `${base.slice(0, most - `_${n}`.length)}_${n}`
  return name
}

function describe(
  api: Api,
  name: string,
  operation: ApiOperation,
  parameters: ReadonlyMap<string, ApiParameter>,
): McpTool {
  const { summary, description, method, path, deprecated } = operation
  const outputSchema = answerSchema(api, operation)
  const readOnlyHint = isReading(method)
  return {
    name,
    ...(summary !== undefined && { title: summary }),
    description: [summary, description, deprecated ? 'Deprecated.' : undefined, `${method} ${path}`]
      .filter((part) => part !== undefined)
      .join('\n\n'),
    annotations: {
      readOnlyHint,
      destructiveHint: !readOnlyHint && method !== 'POST',
      idempotentHint: readOnlyHint || method === 'PUT' || method === 'DELETE',
      openWorldHint: true,
    },
    inputSchema: inputSchema(api, operation, parameters),
    ...(outputSchema && { outputSchema }),
  }
}

function inputSchema(
  api: Api,
  operation: ApiOperation,
  parameters: ReadonlyMap<string, ApiParameter>,
): ToolSchema {
  const { print, definitions } = createSchemaPrinter(api, 'request')
  const body = clientBody(api, operation)?.content
  const properties = [...parameters].map(([argument, { schema, description, example }]) => [
    argument,
    print(schema, { description, examples: example === undefined ? [] : [example] }),
  ])
  if (body) properties.push([BODY, print(body.schema, { examples: body.examples.slice(0, 1) })])
  const required = [...parameters].filter(([, each]) => each.required).map(([argument]) => argument)
  if (operation.body?.required) required.push(BODY)
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...definitions(),
  }
}

/** Returns undefined if the answer is not always one object: the protocol has no schemas of other answers. */
function answerSchema(api: Api, operation: ApiOperation): ToolSchema | undefined {
  const successes = operation.responses.filter(({ status }) => status.startsWith('2'))
  const content = contentOf(operation)
  if (!content || successes.length !== 1 || !isObjectSchema(api, content.schema)) return undefined
  const { print, definitions } = createSchemaPrinter(api, 'answer')
  const printed = print(content.schema)
  return { ...printed, type: 'object', ...definitions() }
}

function isObjectSchema(api: Api, schema: Schema): boolean {
  const target = schema.kind === 'ref' ? api.schemas.get(schema.name) : schema
  const parts = partsOf(api, schema)
  return (
    !schema.nullable &&
    !target?.nullable &&
    parts.length > 0 &&
    parts.every((part) => part.kind === 'object' && !part.nullable && !part.untyped)
  )
}

/** Returns the input of the client's runtime for the arguments of a call. */
export function inputOf({ parameters }: OperationTool, given: Readonly<Record<string, unknown>>): AnyInput {
  const values: Record<ApiParameter['in'], Record<string, unknown>> = {
    path: {},
    query: {},
    header: {},
    cookie: {},
  }
  for (const [argument, { in: where, name }] of parameters)
    if (Object.hasOwn(given, argument)) values[where][name] = given[argument]
  return { ...values, ...(Object.hasOwn(given, BODY) && { body: given[BODY] }) }
}
