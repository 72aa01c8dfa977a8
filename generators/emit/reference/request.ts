/** The plainest request of an operation, as samples in every language are made of it. */
import { essenceOf, isJson } from '../../ir/media-type.ts'
import type { Api, Operation, Parameter } from '../../ir/model.ts'
import { type Credential, credentialOf } from '../wire/credential.ts'
import type { Page } from './page.ts'
import { sampleContent, sampleParameter } from './sample.ts'

export interface SampleRequest {
  /** Of the server that has the operation, without a slash at its end. */
  readonly base: string
  /** Whole, with what is in the path and the query. */
  readonly url: string
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  /** Those that the operation requires, but for the version and the credential. */
  readonly headers: Readonly<Record<string, string>>
  readonly credential: Credential | undefined
  readonly body: SampleBody | undefined
}

export interface SampleBody {
  readonly mediaType: string
  readonly kind: 'json' | 'form' | 'bytes'
  readonly value: unknown
}

/** @returns what the operation requires, in the document's own examples. */
export function sampleRequest(page: Page, operation: Operation): SampleRequest {
  const { api, wire } = page
  const required = (where: Parameter['in']) =>
    operation.parameters.filter((each) => each.in === where && each.required)
  const values = (parameters: readonly Parameter[]) =>
    Object.fromEntries(parameters.map((each) => [each.name, sampleParameter(api, each)]))
  const path = values(operation.parameters.filter((each) => each.in === 'path'))
  const query = values(required('query'))
  const headers = required('header').filter(({ name }) => name !== wire.versionHeader)
  const base = serverOf(api, operation)
  return {
    base,
    url: `${base}${fillPath(operation.path, path)}${queryOf(query)}`,
    path,
    query,
    headers: Object.fromEntries(headers.map((each) => [each.name, show(sampleParameter(api, each))])),
    credential: credentialOf(api, operation),
    body: bodyOf(api, operation),
  }
}

const fillPath = (path: string, values: SampleRequest['path']): string =>
  path.replace(/\{([^}]+)\}/g, (braced, name) => (name in values ? encode(values[name]) : braced))

function queryOf(query: SampleRequest['query']): string {
  const pairs = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`)
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

function bodyOf(api: Api, { body }: Operation): SampleBody | undefined {
  const content = body?.required ? body.contents[0] : undefined
  const value = content && sampleContent(api, content)
  if (!content || value === undefined) return undefined
  const { mediaType } = content
  const form = essenceOf(mediaType) === 'application/x-www-form-urlencoded' && typeof value === 'object'
  return { mediaType, kind: isJson(mediaType) ? 'json' : form ? 'form' : 'bytes', value }
}

/** What only one environment has is asked of the server whose description begins with its name. */
function serverOf({ servers }: Api, { extensions }: Operation): string {
  const environment = String(extensions['x-environment']).toLowerCase()
  const own = servers.find(({ description = '' }) => description.toLowerCase().startsWith(environment))
  return (own ?? servers[0])?.url.replace(/\/$/, '') ?? ''
}

const encode = (value: unknown): string => encodeURIComponent(show(value).toWellFormed())

export const show = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
