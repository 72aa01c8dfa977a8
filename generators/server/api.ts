/**
 * Serves every version of an API with handlers that know only the newest one, on the Fetch standard (`Request` → `Response`).
 * Uses no API of Node, so that it runs on Node, Bun, Deno and workers.
 */
import { findAnswerTranslation, shownStatus } from '../runtime/answer-translation.ts'
import { behaviourOf } from '../runtime/behaviour.ts'
import type {
  Behaviour,
  BinaryBody,
  ItemStream,
  Operation,
  Reply,
  RequestParts,
  Translate,
  Version,
} from '../runtime/contract.ts'
import { createMatcher, type PathMatcher } from '../runtime/path-matcher.ts'
import { translateNoting } from '../runtime/touched.ts'
import { encode, stringifyExact } from '../runtime/values.ts'
import {
  createRoute,
  type OpenApiDocument,
  type ReadContent,
  type ReadParameters,
  type Route,
  readContent,
  readParameters,
} from './read-request.ts'
import { describeProblem, ErrorReply, RequestRefusal } from './refusals.ts'
import { frameItem, toStream } from './streams.ts'
import { fromHeader, type RequestTarget, type VersionResolver } from './version-resolvers.ts'

export {
  describeProblem,
  ErrorReply,
  type ProblemDetails,
  type RefusalCode,
  RequestRefusal,
} from './refusals.ts'
export {
  fromHeader,
  fromPath,
  fromQuery,
  type RequestTarget,
  type ResolvedVersion,
  type VersionResolver,
} from './version-resolvers.ts'

/** The lifecycle dates of a version, from `x-deprecated` and `x-sunset` of its document's `info`. Instants are ISO 8601. */
export interface VersionLife {
  readonly deprecated?: string
  readonly sunset?: string
}

/** Facts about a request that the service receives in addition to the handler's input. */
export interface RequestInfo<Names extends string = never> {
  readonly request: Request
  /** What the caller's version does; the context passes it to handlers as `behaviour`. */
  readonly behaviour: Behaviour<Names>
  /** The caller's version. */
  readonly version: string
  /** The operation, as the newest version names it. */
  readonly operation: string
  /** Headers that a success carries; handlers may add to them. */
  readonly responseHeaders: Headers
}

/** The changes of later versions that made a difference to a request. */
export interface TouchedCall<Context, Names extends string = never> extends RequestInfo<Names> {
  readonly context: Context
  /** Names as in the changelog: `2030-06-01/name-books`. */
  readonly changes: ReadonlySet<string>
}

/** The first parameter of the handlers. */
export type ContextOf<Handlers> = Handlers[keyof Handlers] extends (
  context: infer Context,
  ...rest: never
) => unknown
  ? Context
  : never

export interface VersionedApiOptions<Handlers extends object, Names extends string = never> {
  /** `versions` of the generated `versions.ts`, oldest first. */
  readonly versions: readonly Version<unknown, VersionLife, Names>[]
  /** A handler for each operation of the newest version: `Handlers<Context>` of the generated `canonical/handlers.ts`. */
  readonly handlers: Handlers
  /** Makes the handlers' first argument for a request. A `RequestRefusal` or `ErrorReply` that it throws is answered. */
  readonly context: (info: RequestInfo<Names>) => ContextOf<Handlers> | Promise<ContextOf<Handlers>>
  /** Default: `fromHeader('Api-Version')`. */
  readonly resolveVersion?: VersionResolver
  /** The version of requests that name none. Default: the newest. */
  readonly defaultVersion?: string
  /** `documents` of the generated `documents.js`: served as `/openapi/<version>.json`, and read to explain refused values. */
  readonly documents?: Readonly<Record<string, () => Promise<OpenApiDocument>>>
  /** Path that all paths begin with, without a slash at the end: `/api`. Default: none. */
  readonly basePath?: string
  /** URL of the upgrade guide, for the `Link` header of deprecated versions. */
  readonly guideUrl?: (version: string) => string
  /** Shape of the answer to a refused request. Default: problem details (RFC 9457). */
  readonly refuse?: (refusal: RequestRefusal, info: Pick<RequestInfo, 'request' | 'version'>) => Reply
  /**
   * Receives every value that a handler throws, except `RequestRefusal` and `ErrorReply`. The caller gets 500. Default:
   * `console.error`.
   */
  readonly onError?: (error: unknown, info: Pick<RequestInfo, 'request' | 'version'>) => void
  /** Called after a request to which changes of later versions made a difference, for metrics per caller. */
  readonly onTouched?: (touched: TouchedCall<ContextOf<Handlers>, Names>) => void
  /** Default: 1 MiB. */
  readonly maxBodyBytes?: number
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number
}

export interface VersionedApi {
  /** Answers a request. Rejects only if `refuse` or `onError` throws. */
  readonly fetch: (request: Request) => Promise<Response>
}

interface VersionTable {
  readonly name: string
  readonly matcher: PathMatcher<Route>
  readonly deprecated: number | undefined
  readonly sunset: number
}

type AnyHandler = (context: unknown, input: object) => Promise<Reply>

const MIB = 1024 * 1024

function createTable({
  name,
  operations,
  deprecated,
  sunset,
}: Version<unknown, VersionLife, string>): VersionTable {
  return {
    name,
    matcher: createMatcher(operations.map(createRoute)),
    deprecated: deprecated === undefined ? undefined : Date.parse(deprecated),
    sunset: sunset === undefined ? Number.POSITIVE_INFINITY : Date.parse(sunset),
  }
}

/**
 * Makes the API of a family of versions.
 *
 * @throws Error if there is no version, or `defaultVersion` is not one of them
 * @example
 * const api = createVersionedApi({ versions, handlers, context: () => library, resolveVersion: fromHeader('Library-Version') })
 * export default { fetch: api.fetch }
 */
export function createVersionedApi<Handlers extends object, Names extends string = never>(
  options: VersionedApiOptions<Handlers, Names>,
): VersionedApi {
  const {
    resolveVersion = fromHeader('Api-Version'),
    basePath = '',
    now = Date.now,
    documents = {},
    onError = logError,
  } = options
  const tables = options.versions.map(createTable)
  const newest = tables.at(-1)
  if (!newest)
    throw new Error('createVersionedApi: `versions` is empty: pass `versions` of the generated code')
  const given = new Map(options.versions.map((version) => [version.name, version]))
  const byName = new Map(tables.map((table) => [table.name, table]))
  const fallback = options.defaultVersion === undefined ? newest : byName.get(options.defaultVersion)
  if (!fallback) {
    const known = [...byName.keys()].join(', ')
    throw new Error(
      `createVersionedApi: there is no version ${options.defaultVersion}: expected one of ${known}`,
    )
  }

  async function answer(target: RequestTarget, exchange: Exchange): Promise<Response> {
    const document = /^\/openapi\/([^/]+)\.json$/.exec(target.path)?.[1]
    if (document !== undefined && Object.hasOwn(documents, document) && target.request.method === 'GET')
      return Response.json(await documents[document]!())
    const resolved = await resolveVersion(target)
    const {
      version: name,
      path = target.path,
      search = target.search,
    } = typeof resolved === 'object' ? resolved : { version: resolved }
    const table = name === undefined ? fallback! : byName.get(name)
    if (!table) {
      const known = [...byName.keys()].join(', ')
      throw new RequestRefusal(
        400,
        'unknown_version',
        `There is no version ${name!.slice(0, 40)}. Versions: ${known}.`,
      )
    }
    exchange.table = table
    if (now() >= table.sunset) throw refuseSunset(table)
    const { route, values } = findRoute(table, target.request.method, path)
    exchange.route = route
    const load = async () => documents[table.name]?.()
    const parameters = await readParameters(route, values, search, target.request.headers, load)
    const content = await readContent(route.operation, target.request, options.maxBodyBytes ?? MIB, load)
    return callHandler(
      target.request,
      { ...exchange, table, route },
      { ...translateUp(exchange, parameters, content), ...lastEventOf(route.operation, target.request) },
    )
  }

  function refuseSunset({ name }: VersionTable): RequestRefusal {
    const successor = tables.find(({ sunset }) => sunset > now())?.name ?? newest!.name
    return new RequestRefusal(
      410,
      'version_sunset',
      `Version ${name} has ended. Upgrade to ${successor} or later.`,
    )
  }

  async function callHandler(
    request: Request,
    { table, route, touched }: MatchedExchange,
    input: object,
  ): Promise<Response> {
    const { operation } = route
    const report = (error: unknown) => onError(error, { request, version: table.name })
    const handler = (options.handlers as Readonly<Record<string, AnyHandler | undefined>>)[operation.id]
    if (!handler) throw new RequestRefusal(501, 'not_implemented', `${operation.id} is not implemented.`)
    const info = {
      request,
      version: table.name,
      operation: operation.id,
      responseHeaders: new Headers(),
      behaviour: behaviourOf(given.get(table.name)!, (change) => touched.add(change)),
    }
    const context = await options.context(info)
    const { status, body } = await handler.call(options.handlers, context, input)
    const note = () => {
      if (touched.size > 0) noteTouched({ ...info, context, changes: touched })
    }
    if (operation.stream && status < 300) {
      const { stream } = operation
      const write = stream === true ? String : itemWriter(table.name, operation, stream, touched)
      const headers = info.responseHeaders
      headers.set('Content-Type', stream === true ? 'text/event-stream' : stream.media)
      const sent = toStream(body as AsyncIterable<unknown>, write, report, note)
      return new Response(sent, { status: shownStatus(operation, status), headers })
    }
    const response = writeReply(operation, touched, status, body, info.responseHeaders)
    note()
    return response
  }

  /** The answer stands if the hook fails, because the handler may have stored something. */
  function noteTouched(call: TouchedCall<ContextOf<Handlers>, Names>): void {
    try {
      options.onTouched?.(call)
    } catch (error) {
      onError(error, call)
    }
  }

  function writeError(request: Request, { table, route, touched }: Exchange, thrown: unknown): Response {
    const info = { request, version: (table ?? fallback!).name }
    if (thrown instanceof ErrorReply) return writeReply(route?.operation, touched, thrown.status, thrown.body)
    if (!(thrown instanceof RequestRefusal)) onError(thrown, info)
    const refusal =
      thrown instanceof RequestRefusal
        ? thrown
        : new RequestRefusal(500, 'internal_error', 'The request failed. Try again, or contact the service.')
    const headers = new Headers(refusal.headers)
    if (options.refuse) {
      const { status, body } = options.refuse(refusal, info)
      return writeReply(route?.operation, touched, status, body, headers)
    }
    headers.set('Content-Type', 'application/problem+json')
    return new Response(JSON.stringify(describeProblem(refusal)), { status: refusal.status, headers })
  }

  /** An error whose body does not translate is a fault of the service, and is answered as one. */
  function refuse(request: Request, exchange: Exchange, thrown: unknown): Response {
    try {
      return writeError(request, exchange, thrown)
    } catch (error) {
      return writeError(request, exchange, error)
    }
  }

  /** Headers of every answer: the caller's version, and its end of life (RFC 9745, RFC 8594). */
  function addVersionHeaders({ headers }: Response, { name, deprecated, sunset }: VersionTable): void {
    const { header } = resolveVersion
    if (header !== undefined) {
      headers.set(header, name)
      headers.append('Vary', header)
    }
    if (deprecated !== undefined) headers.set('Deprecation', `@${Math.floor(deprecated / 1000)}`)
    if (sunset !== Number.POSITIVE_INFINITY) headers.set('Sunset', new Date(sunset).toUTCString())
    if (deprecated !== undefined && options.guideUrl)
      headers.append('Link', `<${options.guideUrl(name)}>; rel="deprecation"; type="text/html"`)
  }

  return {
    async fetch(request) {
      const exchange: Exchange = { table: undefined, route: undefined, touched: new Set() }
      let response: Response
      try {
        response = await answer(targetOf(request, basePath), exchange)
      } catch (thrown) {
        response = refuse(request, exchange, thrown)
      }
      addVersionHeaders(response, exchange.table ?? fallback!)
      return response
    },
  }
}

interface Exchange {
  table: VersionTable | undefined
  route: Route | undefined
  readonly touched: Set<string>
}

/** A request whose operation is known. */
interface MatchedExchange extends Exchange {
  readonly table: VersionTable
  readonly route: Route
}

const logError = (error: unknown) => console.error(error)

function targetOf(request: Request, basePath: string): RequestTarget {
  const { pathname, search } = new URL(request.url)
  if (basePath !== '' && pathname !== basePath && !pathname.startsWith(`${basePath}/`))
    throw new RequestRefusal(404, 'not_found', 'There is no such path.')
  return { request, path: pathname.slice(basePath.length) || '/', search: search.slice(1) }
}

function findRoute({ name, matcher }: VersionTable, method: string, path: string) {
  const match = matcher.match(path)
  if (!match) throw new RequestRefusal(404, 'not_found', `Version ${name} has no path ${path.slice(0, 200)}.`)
  const route = match.routes.get(method) ?? (method === 'HEAD' ? match.routes.get('GET') : undefined)
  if (route) return { route, values: match.values }
  const allow = [...match.routes.keys()].join(', ')
  throw new RequestRefusal(405, 'method_not_allowed', `This path takes ${allow}.`, [], { Allow: allow })
}

/** The last event that a reader received before its connection broke (HTML standard, "Server-sent events"). */
function lastEventOf({ stream }: Operation, { headers }: Request): { readonly lastEventId?: string } {
  const id = headers.get('last-event-id')
  return stream && stream !== true && stream.framing === 'events' && id !== null ? { lastEventId: id } : {}
}

/** The handler's input: parameters and the body as the newest version has them. */
function translateUp({ route, touched }: Exchange, parameters: ReadParameters, content: ReadContent): object {
  const { upPath, upQuery, upHeaders, upRequest, body: declared, typed } = route!.operation
  const up = (translate: Translate | undefined, decode: Translate | undefined, value: unknown) => {
    const translated = translate ? translateNoting(translate, value, (change) => touched.add(change)) : value
    // The route pairs functions with values; the types do not.
    return decode ? decode(translated as never) : translated
  }
  const body = 'items' in content ? undefined : content.body
  // An operation with `upRequest` has no functions for single parts.
  const given = upRequest
    ? (up(upRequest, undefined, { ...parameters, body }) as RequestParts)
    : { ...parameters, body }
  const read = {
    path: up(upPath, typed?.path, given.path),
    query: up(upQuery, typed?.query, given.query),
    headers: up(upHeaders, typed?.headers, given.headers),
  }
  if ('items' in content) {
    const items = content.items.map((item) =>
      item.valid ? { valid: true, value: up(declared?.each?.up, typed?.item, item.value) } : item,
    )
    return { ...read, items }
  }
  const { up: translate, decode } = content
  return { ...read, body: given.body === undefined ? undefined : up(translate, decode, given.body) }
}

/**
 * Returns a function that translates an item to the caller's version, validates it there, and returns its text. It throws if
 * the item does not fit, because the translation or the handler is then wrong.
 */
function itemWriter(
  version: string,
  operation: Operation,
  { framing, validate }: ItemStream,
  touched: Set<string>,
): (item: unknown) => string {
  const translate = findAnswerTranslation(operation, operation.status)
  return (item) => {
    const value = operation.typed ? encode(item) : item
    const shown = translate ? translateNoting(translate, value, (change) => touched.add(change)) : value
    if (!validate(shown))
      throw new Error(`${operation.id} yields an item that the document of version ${version} does not allow`)
    return frameItem(shown, framing, operation.typed ? stringifyExact : JSON.stringify)
  }
}

/** An answer that is text or bytes. A range such as `image/*` says nothing about the body, which then says it itself. */
function writeRaw(media: string, status: number, body: string | BinaryBody, headers: Headers): Response {
  const own = body instanceof Blob && body.type !== '' ? body.type : undefined
  const type = own ?? (media.includes('*') ? 'application/octet-stream' : media)
  if (!headers.has('Content-Type')) headers.set('Content-Type', type)
  if (body instanceof Blob) headers.set('Content-Length', String(body.size))
  return new Response(body, { status, headers })
}

/** The answer in the caller's version. */
function writeReply(
  operation: Operation | undefined,
  touched: Set<string>,
  canonicalStatus: number,
  body: unknown,
  headers = new Headers(),
): Response {
  const status = operation ? shownStatus(operation, canonicalStatus) : canonicalStatus
  if (body === undefined || status === 204 || status === 304) return new Response(null, { status, headers })
  if (operation?.media !== undefined && canonicalStatus < 300)
    return writeRaw(operation.media, status, body as string | BinaryBody, headers)
  const down = operation && findAnswerTranslation(operation, status)
  const value = operation?.typed ? encode(body) : body
  const shown = down ? translateNoting(down, value, (change) => touched.add(change)) : value
  if (!headers.has('Content-Type')) headers.set('Content-Type', 'application/json')
  const text = operation?.typed ? stringifyExact(shown) : JSON.stringify(shown)
  return new Response(text, { status, headers })
}
