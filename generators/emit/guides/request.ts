/** A request as data, and as a reader of the guide would write it: with curl, with the client. */
import type { Wire } from '../../client-runtime/service.ts'
import type { Api, Operation, Schema } from '../../ir/model.ts'
import { quote, quoteCredential } from '../reference/curl.ts'
import { sampleContent, sampleParameter } from '../reference/sample.ts'
import { credentialOf } from '../wire/credential.ts'
import { isObject, jsonIn } from './paths.ts'

type Values = Readonly<Record<string, unknown>>

/** An operation's request, filled in. */
export interface SampleRequest {
  readonly api: Api
  readonly operation: Operation
  readonly path: Values
  readonly query: Values
  readonly headers: Readonly<Record<string, string>>
  /** Undefined where there is none. */
  readonly body?: unknown
  /** Whether it is about the idempotency key, which the client otherwise makes by itself. */
  readonly keyed?: boolean
}

/** @returns the plainest request of an operation: what it requires, in the document's own examples. */
export function sampleRequest(api: Api, operation: Operation, wire: Wire): SampleRequest {
  const required = (where: string) =>
    operation.parameters.filter((each) => each.in === where && each.required)
  const values = (where: string): Values =>
    Object.fromEntries(required(where).map((each) => [each.name, sampleParameter(api, each)]))
  const content = operation.body?.required ? jsonIn(operation.body.contents) : undefined
  const headers = required('header').filter(({ name }) => name !== wire.versionHeader)
  return {
    api,
    operation,
    path: values('path'),
    query: values('query'),
    headers: Object.fromEntries(headers.map((each) => [each.name, show(sampleParameter(api, each))])),
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

/** @returns one option a line, as the reference writes it. The key is read from `API_KEY`. */
export function printCurl({ api, operation, path, query, headers, body }: SampleRequest, wire: Wire): string {
  const { method } = operation
  const credential = credentialOf(api, operation)
  const filled = operation.path.replace(/\{([^}]+)\}/g, (braced, name) =>
    name in path ? encode(show(path[name])) : braced,
  )
  const pairs = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(show(value))}`)
  const url = `${serverOf(api, operation)}${filled}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`
  return [
    `curl ${quote(url)}`,
    ...(method === 'GET' || (method === 'POST' && body !== undefined) ? [] : [`-X ${method}`]),
    ...(credential ? [`-H ${quoteCredential(credential)}`] : []),
    ...(wire.versionHeader === undefined ? [] : [`-H ${quote(`${wire.versionHeader}: ${api.version}`)}`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--json ${quote(JSON.stringify(body, null, 2))}`]),
  ].join(' \\\n  ')
}

/** What only one environment has is asked of the server whose description begins with its name. */
export function serverOf({ servers }: Api, { extensions }: Operation): string {
  const environment = extensions['x-environment']
  const own = servers.find(({ description = '' }) =>
    description.toLowerCase().startsWith(String(environment).toLowerCase()),
  )
  return (own ?? servers[0])?.url.replace(/\/$/, '') ?? ''
}

const encode = (text: string): string => encodeURIComponent(text.toWellFormed())

const show = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
