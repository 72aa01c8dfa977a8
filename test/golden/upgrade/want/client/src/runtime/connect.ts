/** Sends requests of operations and reads their responses. */
import createFetchClient from 'openapi-fetch'
import { type Answer, type AskPage, Call, ListCall, type PageWire, StreamCall } from './call.ts'
import { type RetryClock, systemClock } from './clock.ts'
import { type CredentialOptions, credentialsOf } from './credentials.ts'
import { type Deprecation, readDeprecation } from './deprecation.ts'
import { ClientError, UnexpectedAnswerError } from './errors.ts'
import { loggedAttempts } from './log.ts'
import { refusalOf, wishOf } from './refusal.ts'
import type { NamedValues, OperationRow, Service, ValueCodec } from './service.ts'
import { decodeValue } from './streams.ts'
import { type Attempt, send, type Transport } from './transport.ts'
import type { CallOptions, RequestOptions } from './types.ts'

export interface ClientOptions extends CredentialOptions {
  /** Origin of the service, with or without a trailing slash. */
  readonly baseUrl: string
  /** Timeout of one attempt in milliseconds, until the last byte of the body. Default: 30,000. */
  readonly timeout?: number
  /** @deprecated Use `timeout`. */
  readonly timeoutMs?: number
  /** Maximum number of retries. Default: 3. */
  readonly maxRetries?: number
  /** Additional headers for every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Called once if the service announces that this version will be switched off. */
  readonly onDeprecation?: (deprecation: Deprecation) => void
  /** Called after each attempt, for logs and metrics; not called for an aborted attempt. */
  readonly onAttempt?: (attempt: Attempt) => void
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** Functions around each attempt, outermost first: they can change the request and the response. */
  readonly middleware?: readonly Middleware[]
  /** Replaces the system clock, for tests. */
  readonly clock?: RetryClock
}

/**
 * Receives the request of one attempt, and returns the response of `next` or one of its own:
 * `async (request, next) => { request.headers.set('X-Team', 'library'); return next(request) }`.
 */
export type Middleware = (
  request: Request,
  next: (request: Request) => Promise<Response>,
) => Promise<Response>

export interface AnyInput extends RequestOptions, Pick<CallOptions, 'timeoutMs'> {
  readonly path?: NamedValues | undefined
  readonly query?: NamedValues | undefined
  readonly header?: NamedValues | undefined
  readonly cookie?: NamedValues | undefined
  readonly body?: unknown
}

/** openapi-fetch's `request` without the types of a document; the generated methods have the types. */
type Exchange = (
  method: string,
  path: string,
  init: Readonly<Record<string, unknown>>,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>

const TIMEOUT_MS = 30_000
const MAX_RETRIES = 3

/** A configured connection to one version of a service. */
export interface ServiceConnection {
  /** Performs an operation. @throws ClientError of the subclass that describes the failure. */
  readonly perform: (operation: OperationRow, input: AnyInput) => Promise<Answer<unknown>>
  readonly page: PageWire
}

/** @throws ClientError if the base URL or all credentials are missing. */
export function connect(service: Service, options: ClientOptions): ServiceConnection {
  requireOptions(service, options)
  return { perform: performer(service, options), page: service.wire.page }
}

/** Calls an operation. The caller provides the type of the response body. */
export function call<Data>(
  connection: ServiceConnection,
  operation: OperationRow,
  input: AnyInput = {},
): Call<Data> {
  return new Call(connection.perform(operation, input) as Promise<Answer<Data>>)
}

/** Calls an operation whose response is a page of a list. */
export function list<Page, Item>(
  { perform, page }: ServiceConnection,
  operation: OperationRow,
  input: AnyInput = {},
): ListCall<Page, Item> {
  const ask: AskPage<Page> = (query) => perform(operation, { ...input, query }) as Promise<Answer<Page>>
  return new ListCall(ask, input.query ?? {}, page)
}

/** Calls an operation whose response is a stream of items. */
export function stream<Item>(
  connection: ServiceConnection,
  operation: OperationRow,
  input: AnyInput = {},
): StreamCall<Item> {
  return new StreamCall(connection.perform(operation, input) as Promise<Answer<AsyncIterable<Item>>>)
}

function requireOptions(
  { security = [] }: Service,
  { baseUrl, apiKey, credentials }: Partial<ClientOptions>,
) {
  // A page may name a service by a path of its own origin.
  const base = (globalThis as { location?: { href?: string } }).location?.href
  if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl, base))
    throw new ClientError(
      `The option baseUrl is ${baseUrl === undefined ? 'missing' : JSON.stringify(baseUrl)}: expected the URL of the service, such as https://api.example.com`,
    )
  const needsOne = security.length > 0 && security.every((each) => each.length > 0)
  if (needsOne && !apiKey && !credentials)
    throw new ClientError(
      'The option apiKey is missing: pass your key, or `credentials: {}` to call only operations that need none',
    )
}

function performer(service: Service, options: ClientOptions) {
  const { wire, version } = service
  const exchange = createFetchClient({ baseUrl: options.baseUrl }).request as unknown as Exchange
  const noteDeprecation = once((response: Response) => {
    const deprecation = options.onDeprecation && readDeprecation(version, response.headers)
    if (deprecation) options.onDeprecation?.(deprecation)
    return deprecation !== undefined
  })
  const clock = options.clock ?? systemClock
  const onAttempt = loggedAttempts(options.onAttempt)

  return async function perform(operation: OperationRow, input: AnyInput): Promise<Answer<unknown>> {
    const { values: codec } = operation
    const declared = declaredHeaders(operation, input)
    const { header, cookie, path, query, body } = codec ? encodeInput(declared, codec) : declared
    requirePath(operation, path)
    const credentials = await credentialsOf(service, options, operation)
    const values = {
      path,
      header,
      query: { ...query, ...credentials.query },
      cookie: { ...cookie, ...credentials.cookie },
    }
    const written = operation.write?.(operation, values)
    const key = operation.keyed ? (input.idempotencyKey ?? crypto.randomUUID()) : undefined
    const transport = {
      fetch: fetchOf(options),
      clock,
      timeoutMs: input.timeout ?? input.timeoutMs ?? options.timeout ?? options.timeoutMs ?? TIMEOUT_MS,
      maxRetries: input.maxRetries ?? options.maxRetries ?? MAX_RETRIES,
      keyed: key !== undefined,
      streamed: operation.streamed ?? false,
      signal: input.signal,
      wishOf: (body: string) => wishOf(body, wire),
      onAttempt,
    }
    const encoded = body === undefined ? undefined : operation.encode?.(body, operation)
    const serialize = encoded ? () => encoded.body : codec?.stringify
    const headers = {
      ...credentials.header,
      ...(written?.cookie && { Cookie: written.cookie }),
      ...headersOf(service, options, operation, input, key, encoded?.type ?? operation.media),
    }
    // openapi-fetch reads the body, so callers get a copy.
    let unread: Response | undefined
    const { data, error, response } = await parsed(
      exchange(operation.method, written?.path ?? operation.path, {
        params: { path, query: values.query, header: written?.header ?? header },
        headers,
        querySerializer: written?.querySerializer,
        fetch: async (request: Request) => {
          const received = await send(request, transport)
          unread = operation.streamed ? received : received.clone()
          return received
        },
        ...(operation.streamed ? { parseAs: 'stream' } : codec && { parseAs: 'text' }),
        body,
        ...(serialize && { bodySerializer: serialize }),
      }),
    )
    noteDeprecation(response)
    if (!response.ok) throw refusalOf(response, error, service, clock.now())
    const items = operation.read?.(response.body, operation, input.signal)
    return {
      data: items ?? (codec && !operation.streamed ? decodeText(data, codec) : data),
      response: unread ?? response,
      requestId: response.headers.get(wire.requestIdHeader) ?? undefined,
    }
  }
}

/** Returns `fetch` inside the middleware. */
const fetchOf = ({ fetch = globalThis.fetch, middleware = [] }: ClientOptions): Transport['fetch'] =>
  middleware.reduceRight<Transport['fetch']>(
    (next, each) => (request, init) => each(request, (own) => next(own, init)),
    // A browser's fetch must not be called with an object as `this`.
    (request, init) => fetch(request, init),
  )

/** Moves the headers of call options that need serialization to the header parameters. */
function declaredHeaders({ parameters = [] }: OperationRow, input: AnyInput): AnyInput {
  const { headers = {} } = input
  const names = parameters
    .filter((each) => each.in === 'header' && each.name in headers)
    .map(({ name }) => name)
  if (names.length === 0) return input
  return {
    ...input,
    header: { ...input.header, ...Object.fromEntries(names.map((name) => [name, headers[name]])) },
  }
}

/** Returns the parts of a request as JSON values. Parameters have bigints as text, which openapi-fetch can write. */
function encodeInput(input: AnyInput, { encode }: ValueCodec): AnyInput {
  const texts = (values: NamedValues | undefined) =>
    values &&
    (encode(
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, withTexts(value)])),
    ) as NamedValues)
  const [path, query, header, cookie] = [input.path, input.query, input.header, input.cookie].map(texts)
  return {
    ...(path && { path }),
    ...(query && { query }),
    ...(header && { header }),
    ...(cookie && { cookie }),
    body: encode(input.body),
  }
}

const withTexts = (value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : Array.isArray(value) ? value.map(withTexts) : value

/** Reads an answer that is JSON. */
function decodeText(text: unknown, { parse, decode }: ValueCodec): unknown {
  return typeof text !== 'string' || text === '' ? undefined : decodeValue(parse(text), decode)
}

/**
 * Merges headers; later ones override earlier ones. The version header comes last, because the client's types are those
 * of its version.
 */
function headersOf(
  { wire, version }: Service,
  options: ClientOptions,
  operation: OperationRow,
  input: AnyInput,
  key: string | undefined,
  media: string | undefined,
): Record<string, unknown> {
  return {
    Accept: operation.accept ?? (operation.streamed ? '*/*' : 'application/json'),
    ...(media !== undefined && input.body !== undefined && { 'Content-Type': media }),
    ...options.headers,
    ...input.headers,
    ...(key !== undefined && { [wire.idempotencyHeader]: key }),
    ...(wire.versionHeader !== undefined && { [wire.versionHeader]: input.version ?? version }),
  }
}

/**
 * Throws if a path parameter is empty or consists of dots: URL parsing would remove the segment, so that the request
 * would reach a different operation.
 */
function requirePath({ parameters = [] }: OperationRow, path: AnyInput['path'] = {}): void {
  for (const [name, value] of Object.entries(path)) {
    if (parameters.some((each) => each.in === 'path' && each.name === name)) continue
    if (['', '.', '..', 'undefined', 'null'].includes(String(value))) {
      throw new ClientError(
        `The path parameter ${name} is ${JSON.stringify(value) ?? 'undefined'}: expected a value that names a resource`,
      )
    }
  }
}

async function parsed<Result>(exchange: Promise<Result>): Promise<Result> {
  try {
    return await exchange
  } catch (cause) {
    if (cause instanceof SyntaxError) {
      throw new UnexpectedAnswerError('The response is not valid JSON', { cause })
    }
    throw cause
  }
}

/** Returns a function that calls `attempt` until it has returned true once. */
function once<Value>(attempt: (value: Value) => boolean): (value: Value) => void {
  let done = false
  return (value) => {
    if (!done) done = attempt(value)
  }
}
