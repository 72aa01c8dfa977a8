/** A request as data, and as a reader of the guide would write it: with curl, with the client. */
import type { Wire } from '../../client-runtime/service.ts'
import type { Api, ApiOperation, Schema } from '../../ir/model.ts'
import { printCommand } from '../reference/curl.ts'
import { fillPath, queryOf, sampleHeader, serverOf } from '../reference/request.ts'
import { sampleContent, sampleParameter } from '../reference/sample.ts'
import { credentialOf } from '../wire/credential.ts'
import { isObject, jsonIn } from './paths.ts'

type RequestValues = Readonly<Record<string, unknown>>

/** An operation's request, filled in. */
export interface SampleRequest {
  readonly api: Api
  readonly operation: ApiOperation
  readonly path: RequestValues
  readonly query: RequestValues
  readonly headers: Readonly<Record<string, string>>
  /** Undefined where there is none. */
  readonly body?: unknown
  /** Whether it is about the idempotency key, which the client otherwise makes by itself. */
  readonly keyed?: boolean
}

/** @returns the plainest request of an operation: what it requires, in the document's own examples. */
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
 * What a body requires. A property with a default stands too: the client's types ask for it, since openapi-typescript
 * takes it as always there.
 */
function requiredOf(api: Api, schema: Schema, sample: unknown): unknown {
  const object = schema.kind === 'ref' ? api.schemas.get(schema.name) : schema
  if (object?.kind !== 'object' || !isObject(sample)) return sample
  const needed = object.properties.filter((each) => each.required || each.schema.default !== undefined)
  return Object.fromEntries(needed.map(({ name, schema }) => [name, sample[name] ?? schema.default]))
}

/** @returns the command as the reference writes it. The key is read from `API_KEY`. */
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
