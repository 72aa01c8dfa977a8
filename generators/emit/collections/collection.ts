/**
 * The requests of one version as a collection for API clients such as Postman: folders, variables, one credential.
 */
import type { Wire } from '../../client-runtime/service.ts'
import type { Api, ApiOperation, ApiParameter } from '../../ir/model.ts'
import { createPage, type ReferencePage, tagsOf } from '../reference/page.ts'
import { type SampleBody, sampleRequest, show } from '../reference/request.ts'
import { type SampleResponse, sampleParameter, sampleResponse } from '../reference/sample.ts'
import { credentialOf, type WireCredential } from '../wire/credential.ts'

export interface Collection {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly credential: WireCredential | undefined
  readonly servers: readonly { readonly name: string; readonly url: string }[]
  /** Set by the reader: base URLs, the key, and path parameters. */
  readonly variables: readonly Variable[]
  readonly folders: readonly Folder[]
}

export interface Variable {
  readonly name: string
  readonly value: string
  readonly description: string
  /** Whether the value must not be shared with the collection. */
  readonly secret?: true
}

export interface Folder {
  readonly name: string
  readonly description: string
  readonly requests: readonly CollectedRequest[]
}

export interface CollectedRequest {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly method: string
  /** For example `{{base_url}}`. */
  readonly base: string
  /** Path segments; a parameter is written as `:name`. */
  readonly path: readonly string[]
  readonly pathParameters: readonly CollectionField[]
  readonly query: readonly CollectionField[]
  readonly headers: readonly CollectionField[]
  readonly authenticated: boolean
  readonly body: SampleBody | undefined
  readonly example: SampleResponse | undefined
}

/** A field. Optional fields are listed but not sent. */
export interface CollectionField {
  readonly name: string
  readonly value: string
  readonly description: string
  readonly sent: boolean
}

/** Returns all operations of a version as a collection. */
export function collectionOf(api: Api, wire: Wire): Collection {
  const page = createPage(api, wire, '', [])
  const bases = baseVariables(page)
  const shared = pathVariables(api)
  const described = new Map(api.tags.map((tag) => [tag.name, tag]))
  return {
    name: `${api.title} ${api.version}`,
    version: api.version,
    description: api.description ?? '',
    credential: credentialOf(api),
    servers: api.servers.map(({ url, description }) => ({
      name: /^[\w ]+/.exec(description ?? '')?.[0] ?? url,
      url: withoutSlash(url),
    })),
    variables: [...bases.values(), ...(credentialOf(api) ? [KEY_VARIABLE] : []), ...shared.values()],
    folders: tagsOf(api).flatMap((name) => {
      const tag = described.get(name)
      const requests = api.operations
        .filter((operation) => operation.tag === name)
        .map((operation) => requestOf(page, operation, bases, shared))
      const title = String(tag?.extensions['x-displayName'] ?? name)
      return requests.length === 0 ? [] : [{ name: title, description: tag?.description ?? '', requests }]
    }),
  }
}

/** Name of the variable that holds the key. */
export const API_KEY = 'api_key'
const KEY_VARIABLE: Variable = { name: API_KEY, value: '', description: 'Your API key.', secret: true }

/** Postman and Bruno replace this with a new UUID for each request. */
const FRESH_UUID = '{{$guid}}'

function requestOf(
  page: ReferencePage,
  operation: ApiOperation,
  bases: ReadonlyMap<string, Variable>,
  shared: ReadonlyMap<string, Variable>,
): CollectedRequest {
  const { api, wire } = page
  const request = sampleRequest(page, operation)
  const inPath = operation.parameters.filter(({ in: where }) => where === 'path')
  const whole = new Set(operation.path.split('/').map((part) => /^\{([^{}]+)\}$/.exec(part)?.[1]))
  const pathValue = ({ name }: ApiParameter) => (shared.has(name) ? `{{${name}}}` : show(request.path[name]))
  const part = (text: string): string =>
    text.replace(/\{([^{}]+)\}/g, (braced, name) => {
      const parameter = inPath.find((each) => each.name === name)
      if (!parameter) return braced
      return text === braced ? `:${name}` : pathValue(parameter)
    })
  const field = (
    parameter: ApiParameter,
    value = show(sampleParameter(api, parameter) ?? ''),
  ): CollectionField => ({
    name: parameter.name,
    value,
    description: parameter.description ?? '',
    sent: parameter.required,
  })
  const fields = (where: ApiParameter['in']) => operation.parameters.filter((each) => each.in === where)
  return {
    id: operation.id,
    name: operation.summary ?? operation.id,
    description: operation.description ?? '',
    method: operation.method,
    base: `{{${bases.get(request.base)!.name}}}`,
    path: operation.path.replace(/^\//, '').split('/').map(part),
    pathParameters: inPath.filter(({ name }) => whole.has(name)).map((each) => field(each, pathValue(each))),
    query: fields('query').map((each) => field(each)),
    headers: [
      ...versionHeaderOf(page),
      ...fields('header')
        .filter(({ name }) => name !== wire.versionHeader)
        .map((each) => field(each, each.name === wire.idempotencyHeader ? FRESH_UUID : undefined)),
    ],
    authenticated: request.credential !== undefined,
    body: request.body,
    example: sampleResponse(api, operation.responses),
  }
}

function versionHeaderOf({ wire, api }: ReferencePage): CollectionField[] {
  const { versionHeader } = wire
  return versionHeader === undefined
    ? []
    : [{ name: versionHeader, value: api.version, description: '', sent: true }]
}

const withoutSlash = (url: string): string => url.replace(/\/$/, '')

/** The first base URL is `base_url`, so that one edit sends all requests to a different server. */
function baseVariables(page: ReferencePage): ReadonlyMap<string, Variable> {
  const { api } = page
  const bases = new Set(api.operations.map((operation) => sampleRequest(page, operation).base))
  const first = withoutSlash(api.servers[0]?.url ?? '')
  const ordered = [...bases].sort((a, b) => Number(b === first) - Number(a === first))
  return new Map(
    ordered.map((base, index) => {
      const name = index === 0 ? 'base_url' : `base_url_${index + 1}`
      const server = api.servers.find(({ url }) => withoutSlash(url) === base)
      return [base, { name, value: base, description: server?.description ?? '' }]
    }),
  )
}

/** A path parameter is one variable for all requests, unless its example differs between operations. */
function pathVariables(api: Api): ReadonlyMap<string, Variable> {
  const variables = new Map<string, Variable>()
  const ambiguous = new Set<string>()
  for (const parameter of api.operations.flatMap(({ parameters }) => parameters)) {
    const { name, description = '' } = parameter
    if (parameter.in !== 'path' || !/^\w+$/.test(name)) continue
    const value = show(sampleParameter(api, parameter) ?? '')
    if (value !== (variables.get(name)?.value ?? value)) ambiguous.add(name)
    variables.set(name, { name, value, description })
  }
  for (const name of ambiguous) variables.delete(name)
  return variables
}
