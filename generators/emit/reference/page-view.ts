/** Builds the views of the reference pages from a document. */
import type { Api, ApiOperation, ApiParameter, Response, Tag } from '../../ir/model.ts'
import { errorCatalogue } from '../wire/error-catalogue.ts'
import { code, escapeHtml, html, type SafeHtml } from './html.ts'
import { renderInline, renderMarkdown } from './markdown.ts'
import {
  type SharedViews,
  viewEvent,
  viewGroups,
  viewOperation,
  viewParameter,
  viewResponse,
} from './operation-view.ts'
import { type ReferencePage, showing, tagsOf } from './page.ts'
import { isComposite } from './references.ts'
import { viewSchema } from './schema-view.ts'
import type { ErrorView, FieldView, SchemaView, SecurityView, TagView, VersionView } from './views.ts'

/** The parts of other versions that a page shows. */
export type OtherVersion = Pick<Api, 'version' | 'info'>

/**
 * @param apis all versions, oldest first.
 * @param docsPath base path of the pages, with a folder for each version.
 */
export function viewVersion(
  page: ReferencePage,
  apis: readonly OtherVersion[],
  docsPath: string,
): VersionView {
  const { api } = page
  const responses = api.operations.flatMap((operation) => operation.responses)
  const shared = sharedResponses(api.operations)
  const everywhere = commonParameters(api.operations.map(({ parameters }) => parameters))
  const eventHeaders = commonParameters(api.events.map(({ headers }) => headers))
  const sharedViews: SharedViews = {
    isShared: (response) => shared.has(keyOf(response)),
    anchorOf: (response) => page.anchor('response', keyOf(response), response.status),
    hrefOf: (response) => page.href('response', keyOf(response), response.status),
    isEverywhere: isIn(everywhere),
    headers: commonHeaders(responses),
  }
  return {
    title: api.title,
    version: api.version,
    status: statusOf(api),
    noticeHtml: noticeOf(api, apis, docsPath),
    textHtml: renderMarkdown(api.description, 1),
    servers: api.servers.map(({ url, description }) => ({
      label: url,
      valueHtml: description === undefined ? ('' as SafeHtml) : renderInline(description),
    })),
    security: viewSecurity(page),
    parameters: viewGroups(page, 'every', [...everywhere]),
    headers: viewHeaders(page, responses, sharedViews.headers),
    tags: viewTags(page, sharedViews, isIn(eventHeaders)),
    eventHeaders: [...eventHeaders].map((header) => viewParameter(page, header, 'event')),
    errors: viewErrors(page),
    sharedResponses: [...shared.values()].map((response) => ({
      id: sharedViews.anchorOf(response),
      ...viewResponse(page, response, `response.${response.status}`, sharedViews.headers),
    })),
    schemas: schemasAt(page, (home) => home === undefined),
  }
}

function viewTags(
  page: ReferencePage,
  sharedViews: SharedViews,
  isCommonHeader: (header: ApiParameter) => boolean,
): TagView[] {
  const { api } = page
  const described = new Map(api.tags.map((tag) => [tag.name, tag]))
  return tagsOf(api).map((name) => {
    const tag = described.get(name)
    return {
      href: page.tagHref(name),
      title: [...parentsOf(name, described), name].map((each) => titleOf(each, described)).join(': '),
      summary: firstSentence(tag?.description ?? ''),
      textHtml: renderMarkdown(tag?.description, 1),
      operations: api.operations
        .filter((operation) => operation.tag === name)
        .map((operation) => viewOperation(page, operation, sharedViews)),
      schemas: schemasAt(page, (home) => home === name),
      events: api.events
        .filter((event) => event.tag === name)
        .map((event) => viewEvent(page, event, isCommonHeader)),
    }
  })
}

/** Returns the title of a tag of a version. */
export const tagTitle = (api: Api, name: string): string =>
  titleOf(name, new Map(api.tags.map((tag) => [tag.name, tag])))

function titleOf(name: string, tags: ReadonlyMap<string, Tag>): string {
  const tag = tags.get(name)
  const shown = tag?.extensions['x-displayName'] ?? tag?.summary
  return typeof shown === 'string' ? shown : name
}

/** Returns the tags that a tag is part of, the outermost first (OpenAPI 3.2). */
function parentsOf(name: string, tags: ReadonlyMap<string, Tag>, below: readonly string[] = []): string[] {
  const parent = tags.get(name)?.parent
  if (parent === undefined || below.includes(parent)) return []
  return [...parentsOf(parent, tags, [...below, name]), parent]
}

/** Returns the first sentence of a text, without Markdown markup. */
function firstSentence(text: string): string {
  const plain = text.replace(/[`*]/g, '').replace(/\s+/g, ' ').trim()
  return /^.*?[.!?](?=\s|$)/.exec(plain)?.[0] ?? plain
}

/**
 * Returns the schemas of one page.
 *
 * @param belongs checks the tag whose page has the schema; undefined means the shared page.
 */
function schemasAt(page: ReferencePage, belongs: (tag: string | undefined) => boolean): SchemaView[] {
  const chosen = [...page.api.schemas].filter(([name]) => {
    const home = page.homes.get(name)
    return home?.kind === 'tag' ? belongs(home.tag) : home?.kind === 'shared' && belongs(undefined)
  })
  // Composite schemas come first, because readers look for them.
  const ordered = [
    ...chosen.filter(([, schema]) => isComposite(schema)),
    ...chosen.filter(([, schema]) => !isComposite(schema)),
  ]
  return ordered.map(([name, schema]) =>
    viewSchema(showing(page, page.writable.has(name) ? 'written' : 'read'), name, schema, 3),
  )
}

function viewErrors(page: ReferencePage): ErrorView[] {
  return errorCatalogue(page.api, page.wire).map((error) => ({
    id: page.anchor('error', error.code),
    code: error.code,
    statuses: error.statuses.join(', '),
    types: error.types.join(', '),
    textHtml: renderMarkdown(error.description, 3),
  }))
}

function viewSecurity(page: ReferencePage): SecurityView[] {
  return Object.entries(page.api.securitySchemes).map(([name, scheme]) => {
    const { description, flows } = scheme as { description?: unknown; flows?: Record<string, unknown> }
    const scopes = Object.values(flows ?? {}).flatMap((flow) =>
      Object.entries((flow as { scopes?: Record<string, string> }).scopes ?? {}),
    )
    return {
      id: page.anchor('security', name),
      name,
      kind: kindOfScheme(scheme as Record<string, unknown>),
      textHtml: renderMarkdown(typeof description === 'string' ? description : undefined, 3),
      scopes: scopes.map(([scope, meaning]) => ({
        valueHtml: code(scope),
        meaningHtml: renderMarkdown(meaning, 6),
      })),
    }
  })
}

function kindOfScheme({ type, scheme, in: place, name }: Record<string, unknown>): string {
  if (type === 'http') return `HTTP ${scheme}`
  if (type === 'apiKey') return `${name} in the ${place}`
  return type === 'oauth2' ? 'OAuth 2' : String(type)
}

/** Describes each header once, even if several responses have it. */
function viewHeaders(
  page: ReferencePage,
  responses: readonly Response[],
  common: ReadonlySet<string>,
): FieldView[] {
  const headers = new Map<string, ApiParameter>()
  for (const response of responses) {
    for (const header of response.headers) if (!headers.has(header.name)) headers.set(header.name, header)
  }
  return [...headers.values()].map((header) => ({
    ...viewParameter(page, header, 'header'),
    id: page.anchor('header', header.name),
    flags: common.has(header.name) ? ['on every response'] : [],
  }))
}

/** Returns the parameters that all lists have with the same description, as in the first list. */
function commonParameters(lists: readonly (readonly ApiParameter[])[]): ReadonlySet<ApiParameter> {
  const [first = [], ...others] = lists
  const found = others.map((list) => new Set(list.map(wordsOf)))
  // A single list has nothing to compare with.
  if (others.length === 0) return new Set()
  return new Set(first.filter((parameter) => found.every((words) => words.has(wordsOf(parameter)))))
}

/** Returns a check whether a parameter is one of these, with the same description. */
function isIn(parameters: ReadonlySet<ApiParameter>): (parameter: ApiParameter) => boolean {
  const words = new Set([...parameters].map(wordsOf))
  return (parameter) => words.has(wordsOf(parameter))
}

/** Parameters at the same location in the document are identical. */
const wordsOf = ({ place }: ApiParameter) => place.pointer

function commonHeaders(responses: readonly Response[]): ReadonlySet<string> {
  const [first, ...others] = responses.map(
    (response) => new Set(response.headers.map((header) => header.name)),
  )
  return new Set([...(first ?? [])].filter((name) => others.every((names) => names.has(name))))
}

/** Returns error responses that several operations share, by status and description. */
function sharedResponses(operations: readonly ApiOperation[]): ReadonlyMap<string, Response> {
  const seen = new Map<string, { response: Response; uses: number }>()
  for (const response of operations.flatMap((operation) => operation.responses)) {
    if (response.status.startsWith('2')) continue
    const uses = (seen.get(keyOf(response))?.uses ?? 0) + 1
    seen.set(keyOf(response), { response: seen.get(keyOf(response))?.response ?? response, uses })
  }
  const shared = [...seen].filter(([, { uses }]) => uses > 1)
  const byStatus = shared.sort(([, a], [, b]) => (a.response.status < b.response.status ? -1 : 1))
  return new Map(byStatus.map(([key, { response }]) => [key, response]))
}

function keyOf({ status, description = '', contents }: Response): string {
  return JSON.stringify([status, description, contents.map(({ place }) => place.pointer)])
}

export function statusOf(api: OtherVersion): string {
  const status = api.info['x-status']
  return typeof status === 'string' ? status : ''
}

/** Returns the notice at the top of an outdated version. */
function noticeOf(api: Api, apis: readonly OtherVersion[], docsPath: string): SafeHtml | undefined {
  const newest = apis.at(-1)
  if (!newest || newest.version === api.version) return undefined
  const link = html`<a href="${docsPath}/${encodeURIComponent(newest.version)}">${newest.version}</a>`
  const { 'x-deprecated': since, 'x-sunset': sunset } = api.info
  if (typeof sunset !== 'string') return html`A newer version is available: ${[link]}.`
  const deprecated = typeof since === 'string' ? html` since ${[timeOf(since)]}` : escapeHtml('')
  return html`This version has been deprecated${[deprecated]} and stops working on ${[timeOf(sunset)]}. The newest version is ${[link]}.`
}

/** Formats the date of an instant, in UTC. */
function timeOf(instant: string): SafeHtml {
  return html`<time datetime="${instant}">${instant.slice(0, 10)}</time>`
}
