/** Sample requests for the guides, as data and as curl commands. */
import type { Wire } from '../../client-runtime/service.ts'
import type { Api, ApiOperation, Schema } from '../../ir/model.ts'
import { printCommand } from '../reference/curl.ts'
import { fillPath, queryOf, sampleHeader, serverOf } from '../reference/request.ts'
import { sampleContent, sampleParameter } from '../reference/sample.ts'
import { credentialOf } from '../wire/credential.ts'
import { isObject, jsonIn } from './paths.ts'

type RequestValues = Readonly<Record<string, unknown>>

export interface SampleRequest {
  readonly api: Api
  readonly operation: ApiOperation
  readonly path: RequestValues
  readonly query: RequestValues
  readonly headers: Readonly<Record<string, string>>
  /** Undefined if there is no body. */
  readonly body?: unknown
  /** Whether the sample shows the idempotency key, which the client otherwise generates. */
  readonly keyed?: boolean
}

/** Returns the simplest request of an operation: its required parts, with the document's examples. */
export function sampleRequest(api: Api, operation: ApiOperation, wire: Wire): SampleRequest {
  const required = (where: string) =>
    operation.parameters.filter((each) => each.in === where && each.required)
  const values = (where: string): RequestValues =>
    Object.fromEntries(required(where).map((each) => [each.name, sampleParameter(api, each)]))
  const content = operation.body?.required ? jsonIn(operation.body.contents) : undefined
  const headers = required('header').filter(({ name }) => name !== wire.versionHeader)
  return {
    api,
    operation,
    path: values('path'),
    query: values('query'),
    headers: Object.fromEntries(headers.map((each) => [each.name, sampleHeader(api, wire, each)])),
    ...(content && { body: requiredOf(api, content.schema, sampleContent(api, content)) }),
  }
}

/**
 * Returns the required properties of a body. Includes properties with a default, because openapi-typescript makes
 * them required in the client's types.
 */
function requiredOf(api: Api, schema: Schema, sample: unknown): unknown {
  const object = schema.kind === 'ref' ? api.schemas.get(schema.name) : schema
  if (object?.kind !== 'object' || !isObject(sample)) return sample
  const needed = object.properties.filter((each) => each.required || each.schema.default !== undefined)
  return Object.fromEntries(needed.map(({ name, schema }) => [name, sample[name] ?? schema.default]))
}

/** Returns the curl command in the style of the reference. The command reads the key from `API_KEY`. */
export function printCurl({ api, operation, path, query, headers, body }: SampleRequest, wire: Wire): string {
  const version = wire.versionHeader === undefined ? {} : { [wire.versionHeader]: api.version }
  return printCommand({
    method: operation.method,
    url: `${serverOf(api, operation)}${fillPath(operation.path, path)}${queryOf(query)}`,
    credential: credentialOf(api, operation),
    headers: { ...version, ...headers },
    body: body === undefined ? undefined : { mediaType: 'application/json', kind: 'json', value: body },
  })
}
