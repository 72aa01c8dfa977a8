/** Reads and validates the requests that a mock receives, with the same modules as a generated server. */
import { distance } from 'fastest-levenshtein'
import type { Wire } from '../client-runtime/service.ts'
import type { Detail, Parameter } from '../runtime/contract.ts'
import type { Json } from '../runtime/explain/walk.ts'
import { explain, issueOf } from '../runtime/explain.ts'
import { formats } from '../runtime/formats.ts'
import {
  createQueryTable,
  joinField,
  ParameterError,
  type ParameterFault,
  readHeader,
  readQuery,
  readSegment,
} from '../runtime/parameters.ts'
import { createMatcher, splitPath } from '../runtime/path-matcher.ts'

/** Why a mock refuses a request by itself. */
export type MockFault = ParameterFault | 'cursor' | 'malformed' | 'body' | 'path' | 'method'

/** The identity of an error: its HTTP status, and `type` and `code` of the error object. */
export interface MockError {
  readonly status: number
  readonly type: string
  readonly code: string
}

/** A version of an API, as generated files describe it to the mock. */
export interface MockedVersion {
  readonly version: string
  readonly wire: Wire
  /** By fault. */
  readonly faults: Readonly<Record<MockFault, MockError>>
  /** The documented errors. */
  readonly errors: readonly MockError[]
  /** By name, such as `books.create`. */
  readonly operations: Readonly<Record<string, MockedOperation>>
  /** The schemas of requests, each at its pointer in the document. */
  readonly document: Json
  /** Writes JSON, if answers have values that are not JSON values. */
  readonly stringify?: (value: unknown) => string
}

export interface MockedOperation {
  readonly method: string
  readonly path: string
  readonly parameters?: readonly MockedParameter[]
  /** Set if the body is JSON. */
  readonly body?: { readonly required?: boolean; readonly pointer: string }
  /** The success status. */
  readonly status: number
  /** Media type of the success body, if it is not JSON. */
  readonly media?: string
  readonly example?: unknown
  /** Set for lists with cursors. `limit` names the parameter for the number of records of a page. */
  readonly paged?: { readonly limit?: string; readonly size: number }
}

export interface MockedParameter extends Omit<Parameter, 'required' | 'set' | 'validate'> {
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
}

/** The valid values of a request. */
export interface MockValues {
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  /** As sent, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The parsed body if it is JSON, otherwise its text; undefined for a request without a body. */
  readonly body: unknown
}

/** Thrown if the service would refuse the request. */
export class MockRefusal extends Error {
  readonly fault: MockFault
  readonly parts: Readonly<Record<string, unknown>>

  /** @param parts further members of the error object. */
  constructor(fault: MockFault, message: string, parts: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.fault = fault
    this.parts = parts
  }
}

export interface MatchedRequest {
  readonly name: string
  readonly operation: MockedOperation
  /** @throws MockRefusal if the request is invalid. */
  readonly read: () => Promise<MockValues>
}

/**
 * Returns a function that finds the operation of a request. It throws a MockRefusal if no operation matches.
 *
 * @param base path of the service, without a trailing slash.
 */
export function createRequestReader(
  service: MockedVersion,
  base: string,
): (request: Request) => MatchedRequest {
  const { document, operations } = service
  const routes = Object.entries(operations).map(([name, operation]) => {
    const rows = (operation.parameters ?? []).map((row) => toParameter(document, row))
    return { name, operation, rows, query: createQueryTable(rows.filter((row) => row.in === 'query')) }
  })
  const matcher = createMatcher(routes)
  return (request) => {
    const { pathname, search } = new URL(request.url)
    const path = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname
    const found = matcher.match(path)
    if (!found) throw new MockRefusal('path', describeUnknown(service, request.method, path))
    const route = found.routes.get(request.method)
    if (!route) {
      const known = [...found.routes.keys()].join(' or ')
      throw new MockRefusal('method', `The path ${path} has no method ${request.method}: use ${known}.`)
    }
    const names = splitPath(route.operation.path).filter((segment) => segment.startsWith('{'))
    const segments = new Map(names.map((segment, at) => [segment.slice(1, -1), found.values[at] ?? '']))
    return {
      name: route.name,
      operation: route.operation,
      read: async () => {
        const headers = Object.fromEntries(request.headers)
        const parameters = refusing(document, () => {
          const path = route.rows
            .filter((row) => row.in === 'path')
            .map((row) => [row.name, readSegment(row, segments.get(row.name) ?? '')])
          for (const row of route.rows) if (row.in === 'header') checkHeader(row, request.headers)
          return { path: Object.fromEntries(path), query: readQuery(route.query, search.slice(1)) }
        })
        return { ...parameters, headers, body: await readBody(document, route.operation, request) }
      },
    }
  }
}

const toParameter = (document: Json, row: MockedParameter) => ({
  ...row,
  required: row.required ?? false,
  set: false,
  validate: (value: unknown) => explain(document, row.pointer, value, formats, 1).length === 0,
})

function checkHeader(row: Parameter, headers: Headers): void {
  const text = headers.get(row.name)
  if (text !== null) readHeader(row, text)
  else if (row.required) throw new ParameterError('missing', row.name, 'is required')
}

function refusing<Value>(document: Json, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error
    const { fault, field, issue, refused } = error
    const [first = { field, issue }] = refused
      ? detailsOf(document, refused.parameter.pointer, refused.value).map((detail) => ({
          ...detail,
          field: joinField(field, detail.field),
        }))
      : []
    throw new MockRefusal(fault, `${first.field} ${first.issue}.`, { param: first.field })
  }
}

const detailsOf = (document: Json, pointer: string, value: unknown): Detail[] =>
  explain(document, pointer, value, formats).map((fault) => ({ field: fault.field, issue: issueOf(fault) }))

async function readBody(document: Json, { body }: MockedOperation, request: Request): Promise<unknown> {
  const text = await request.text()
  if (text === '') {
    if (!body?.required) return undefined
    throw new MockRefusal('malformed', 'The request has no body. This operation requires a JSON body.')
  }
  if (!body) return text
  const value = parseJson(text)
  const details = detailsOf(document, body.pointer, value)
  const [first] = details
  if (!first) return value
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : ''
  const message = `The request body is not valid: ${first.field === '' ? 'it' : first.field} ${first.issue}${more}.`
  throw new MockRefusal('body', message, { details })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new MockRefusal('malformed', `The body is not valid JSON: ${error.message}.`)
  }
}

const NEAREST = 3

/** Names the operations whose paths differ least from the requested one. */
function describeUnknown({ version, operations }: MockedVersion, method: string, path: string): string {
  const segments = splitPath(path)
  const nearest = Object.entries(operations)
    .map(([name, each]) => {
      const filled = splitPath(each.path).map((word, at) =>
        word.startsWith('{') ? (segments[at] ?? word) : word,
      )
      const apart = distance(`${method} ${segments.join('/')}`, `${each.method} ${filled.join('/')}`)
      return { text: `${each.method} ${each.path} (${name})`, apart }
    })
    .sort((a, b) => a.apart - b.apart)
    .slice(0, NEAREST)
  return `Version ${version} has no operation ${method} ${path}. The nearest are ${nearest.map(({ text }) => text).join(', ')}.`
}
