/** Builds the simplest request of an operation, from which samples in all languages are printed. */
import type { Wire } from '../../client-runtime/service.ts'
import { essenceOf, isJson } from '../../ir/media-type.ts'
import type { Api, ApiOperation, ApiParameter } from '../../ir/model.ts'
import { credentialOf, type WireCredential } from '../wire/credential.ts'
import { FRESH_UUID, hasGiven, shellVariable } from './given.ts'
import type { ReferencePage } from './page.ts'
import { sampleContent, sampleParameter } from './sample.ts'

export interface ReferenceRequest {
  /** Base URL of the operation's server, without a trailing slash. */
  readonly base: string
  /** Complete URL, with path and query. */
  readonly url: string
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  /** Required headers, without the version and the credential. */
  readonly headers: Readonly<Record<string, string>>
  readonly credential: WireCredential | undefined
  readonly body: SampleBody | undefined
}

export interface SampleBody {
  readonly mediaType: string
  readonly kind: 'json' | 'form' | 'bytes'
  readonly value: unknown
}

/** Returns the required parts of a request, with the document's examples. */
export function sampleRequest(page: ReferencePage, operation: ApiOperation): ReferenceRequest {
  const { api, wire, variables } = page
  const required = (where: ApiParameter['in']) =>
    operation.parameters.filter((each) => each.in === where && each.required)
  const values = (parameters: readonly ApiParameter[]) =>
    readVariables(
      variables,
      Object.fromEntries(parameters.map((each) => [each.name, sampleParameter(api, each)])),
    )
  const path = values(operation.parameters.filter((each) => each.in === 'path'))
  const query = values(required('query'))
  const headers = required('header').filter(({ name }) => name !== wire.versionHeader)
  const base = serverOf(api, operation)
  return {
    base,
    url: `${base}${fillPath(operation.path, path)}${queryOf(query)}`,
    path,
    query,
    headers: Object.fromEntries(headers.map((each) => [each.name, sampleHeader(api, wire, each)])),
    credential: credentialOf(api, operation),
    body: bodyOf(page, operation),
  }
}

/**
 * Returns a header's value. An idempotency key is generated for each run, because a fixed one would work only once.
 */
export const sampleHeader = (api: Api, { idempotencyHeader }: Wire, header: ApiParameter): string =>
  header.name.toLowerCase() === idempotencyHeader.toLowerCase()
    ? FRESH_UUID
    : show(sampleParameter(api, header))

/**
 * Returns all headers that a program without a client sends, with placeholders for the key and for new UUIDs.
 */
export function sentHeaders(
  { api, wire }: ReferencePage,
  { credential, headers, body }: ReferenceRequest,
): Readonly<Record<string, string>> {
  return {
    ...(credential && { [credential.header]: credential.prefix + shellVariable('API_KEY') }),
    ...(wire.versionHeader !== undefined && { [wire.versionHeader]: api.version }),
    ...headers,
    ...(body && { 'Content-Type': body.mediaType }),
  }
}

/** Returns a body as the text that is sent: indented JSON, or a form. */
export const textOf = ({ kind, value }: SampleBody): string =>
  kind === 'form' ? queryOf(value as ReferenceRequest['query']).slice(1) : JSON.stringify(value, null, 2)

/** Returns the fields of a form, as text. */
export const formFields = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(value ?? {}).map(([name, each]) => [name, show(each)]))

/** Replaces values with shell variables, if there is one for the name. */
function readVariables<Values extends object>(variables: ReferencePage['variables'], values: Values): Values {
  const read = Object.keys(values).flatMap((name) => {
    const variable = variables[name]
    return variable === undefined ? [] : [[name, shellVariable(variable)]]
  })
  return { ...values, ...Object.fromEntries(read) }
}

/** Fills in path parameters. A parameter without a value stays in braces. */
export const fillPath = (path: string, values: ReferenceRequest['path']): string =>
  path.replace(/\{([^}]+)\}/g, (braced, name) => (name in values ? encode(values[name]) : braced))

/** Returns the query string with its question mark, or an empty text. */
export function queryOf(query: ReferenceRequest['query']): string {
  const pairs = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`)
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

function bodyOf({ api, variables }: ReferencePage, { body }: ApiOperation): SampleBody | undefined {
  const content = body?.required ? body.contents[0] : undefined
  const sample = content && sampleContent(api, content)
  if (!content || sample === undefined) return undefined
  const isObject = typeof sample === 'object' && sample !== null && !Array.isArray(sample)
  const value = isObject ? readVariables(variables, sample) : sample
  const { mediaType } = content
  const form = essenceOf(mediaType) === 'application/x-www-form-urlencoded' && typeof value === 'object'
  return { mediaType, kind: isJson(mediaType) ? 'json' : form ? 'form' : 'bytes', value }
}

/**
 * Returns the server URL. For an operation of one environment, this is the server whose description begins with the
 * environment's name.
 */
export function serverOf({ servers }: Api, { extensions }: ApiOperation): string {
  const environment = String(extensions['x-environment']).toLowerCase()
  const own = servers.find(({ description = '' }) => description.toLowerCase().startsWith(environment))
  return (own ?? servers[0])?.url.replace(/\/$/, '') ?? ''
}

function encode(value: unknown): string {
  const text = show(value)
  return hasGiven(text) ? text : encodeURIComponent(text.toWellFormed())
}

/** Returns a string unchanged, and other values as JSON. */
export const show = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
