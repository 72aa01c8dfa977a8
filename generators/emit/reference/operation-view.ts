/** Builds the views of operations and events, with samples. */
import { framingOf } from '../../ir/media-type.ts'
import type { Api, ApiContent, ApiOperation, ApiParameter, EventType, Response } from '../../ir/model.ts'
import { choicesOf } from './choices.ts'
import { factsOf } from './facts.ts'
import { code, escapeCode, escapeHtml, html, joinHtml, type SafeHtml, scalarCode } from './html.ts'
import { renderMarkdown } from './markdown.ts'
import { type ReferencePage, showing } from './page.ts'
import { reasonOf } from './reasons.ts'
import { sampleContent, sampleResponse } from './sample.ts'
import { componentInside, describeType, insideOf, viewField } from './schema-view.ts'
import type {
  BodyView,
  FactView,
  FieldGroupView,
  FieldView,
  OperationView,
  ReferenceEventView,
  ResponseView,
  SampleView,
} from './views.ts'

/** Heading level of operations. */
const LEVEL = 2

const GROUPS = [
  ['path', 'Path parameters'],
  ['query', 'Query parameters'],
  ['header', 'Headers'],
  ['cookie', 'Cookies'],
] as const

/** Things that are described once for all operations. */
export interface SharedViews {
  /** Whether the section of errors describes the response. */
  isShared(response: Response): boolean
  anchorOf(response: Response): string
  hrefOf(response: Response): string
  /** Whether all operations have the parameter with the same description. */
  isEverywhere(parameter: ApiParameter): boolean
  /** Names of the headers that every response has. */
  readonly headers: ReadonlySet<string>
}

export function viewOperation(
  page: ReferencePage,
  operation: ApiOperation,
  sharedViews: SharedViews,
): OperationView {
  const { id, method, path, body, responses } = operation
  const shared = responses.filter((response) => sharedViews.isShared(response))
  return {
    id: page.anchor('operation', id),
    href: page.href('operation', id),
    title: operation.summary ?? id,
    method,
    methodClass: method.toLowerCase(),
    pathHtml: markParameters(path),
    deprecated: operation.deprecated,
    textHtml: renderMarkdown(operation.description, LEVEL),
    facts: [...accessFacts(page, operation), ...factsOf(operation)],
    groups: viewGroups(
      page,
      id,
      operation.parameters.filter((parameter) => !sharedViews.isEverywhere(parameter)),
    ),
    body: body?.contents[0] && viewBody(page, body.contents[0], body, `${id}.body`),
    responses: responses
      .filter((response) => !sharedViews.isShared(response))
      .map((response) => viewResponse(page, response, `${id}.${response.status}`, sharedViews.headers)),
    sharedResponses: shared.map((response) => ({
      href: sharedViews.hrefOf(response),
      status: response.status,
    })),
    samples: [...requestSamples(page, operation), ...responseSamples(page.api, responses)],
    choices: choicesOf(page.api, operation),
  }
}

/** @param isCommon whether every event has a header, so that it is described once for all. */
export function viewEvent(
  page: ReferencePage,
  event: EventType,
  isCommon: (header: ApiParameter) => boolean,
): ReferenceEventView {
  const { payload } = event
  const sample = payload && sampleContent(page.api, payload, 'writeOnly')
  return {
    id: page.anchor('event', event.name),
    href: page.href('event', event.name),
    name: event.name,
    title: event.summary === event.name ? undefined : event.summary,
    deprecated: event.deprecated,
    textHtml: renderMarkdown(event.description, LEVEL),
    headers: event.headers
      .filter((header) => !isCommon(header))
      .map((header) => viewParameter(page, header, event.name)),
    payload: payload && viewBody(showing(page, 'read'), payload, { required: true }, `${event.name}.payload`),
    samples:
      sample === undefined
        ? []
        : [{ title: 'Payload', language: undefined, open: true, codeHtml: showJson(sample) }],
  }
}

/** @param headers names of the headers that every response has; they are left out. */
export function viewResponse(
  page: ReferencePage,
  response: Response,
  id: string,
  headers: ReadonlySet<string>,
): ResponseView {
  const own = response.headers.filter((header) => !headers.has(header.name))
  return {
    status: response.status,
    reason: reasonOf(response.status),
    textHtml: renderMarkdown(response.description, LEVEL + 1),
    bodies: response.contents.map((content) =>
      viewBody(showing(page, 'read'), content, { required: true }, id),
    ),
    headersHtml:
      own.length === 0
        ? undefined
        : joinHtml(
            own.map((header) => html`<a href="${page.href('header', header.name)}">${header.name}</a>`),
            ', ',
          ),
  }
}

export function viewParameter(page: ReferencePage, parameter: ApiParameter, owner: string): FieldView {
  const field = viewField(
    page,
    {
      id: `${owner}.${parameter.in}.${parameter.name}`,
      name: parameter.name,
      schema: parameter.schema,
      required: parameter.required,
      deprecated: parameter.deprecated,
      description: parameter.description,
    },
    LEVEL + 1,
  )
  const example: FactView[] =
    parameter.example === undefined ? [] : [{ label: 'Example', valueHtml: scalarCode(parameter.example) }]
  return { ...field, facts: [...field.facts, ...factsOf(parameter), ...example] }
}

/** @param owner the owner of the parameters, for anchors. */
export function viewGroups(
  page: ReferencePage,
  owner: string,
  parameters: readonly ApiParameter[],
): FieldGroupView[] {
  return GROUPS.flatMap(([where, title]) => {
    const fields = parameters
      .filter((parameter) => parameter.in === where)
      .map((parameter) => viewParameter(page, parameter, owner))
    return fields.length === 0 ? [] : [{ title, fields }]
  })
}

function viewBody(
  page: ReferencePage,
  content: ApiContent,
  { required, description }: { readonly required: boolean; readonly description?: string },
  id: string,
): BodyView {
  const { schema } = content
  const home = schema.kind === 'ref' ? page.homes.get(schema.name)?.kind : undefined
  const here = schema.kind === 'ref' && (home === 'operation' || home === 'event')
  return {
    required,
    mediaType: content.mediaType,
    typeHtml:
      framingOf(content.mediaType) && schema.kind === 'array'
        ? html`stream of ${[describeType(page, schema.items)]}`
        : describeType(page, schema),
    textHtml: renderMarkdown(description, LEVEL + 1),
    inside: here ? componentInside(page, schema.name, LEVEL + 1) : insideOf(page, schema, id, LEVEL + 1),
  }
}

/** Marks up the parameters in a path such as `/v1/books/{book_id}`. */
function markParameters(path: string): SafeHtml {
  const parts = path.split(/(\{[^}]*\})/)
  return joinHtml(
    parts.map((part) => (part.startsWith('{') ? html`<var>${part}</var>` : escapeHtml(part))),
    '',
  )
}

/** Describes the alternative credentials, any one of which is sufficient. */
function accessFacts(page: ReferencePage, { security }: ApiOperation): FactView[] {
  const alternatives = security.map((requirement) =>
    joinHtml(
      Object.entries(requirement).map(([scheme, scopes]) => {
        const link = html`<a href="${page.href('security', scheme)}">${scheme}</a>`
        return scopes.length === 0 ? link : html`${[link]} (${[joinHtml(scopes.map(code), ', ')]})`
      }),
      ' and ',
    ),
  )
  const named = alternatives.filter((alternative) => alternative !== '')
  return named.length === 0 ? [] : [{ label: 'Authentication', valueHtml: joinHtml(named, ' or ') }]
}

function requestSamples(page: ReferencePage, operation: ApiOperation): SampleView[] {
  return page.languages.map(({ title, print }, index) => ({
    title,
    language: title,
    open: index === 0,
    codeHtml: escapeCode(print(page, operation)),
  }))
}

/** Returns a sample of the first success response with a body. */
function responseSamples(api: Api, responses: readonly Response[]): SampleView[] {
  const sample = sampleResponse(api, responses)
  return sample === undefined
    ? []
    : [
        {
          title: `Response ${sample.status}`,
          language: undefined,
          open: true,
          codeHtml: showJson(sample.value),
        },
      ]
}

/** Prints indented JSON with highlighted keys. */
function showJson(value: unknown): SafeHtml {
  const text = escapeCode(JSON.stringify(value, null, 2) ?? '')
  return text.replace(/^( *)("(?:[^"\\]|\\.)*"):/gm, '$1<b>$2</b>:') as SafeHtml
}
