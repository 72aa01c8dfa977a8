/** A service in memory for the tests of programs that use the client. */
import type { Output, QueryOf, RequestBodyOf } from '../runtime/types.ts'
import { pageOf } from './pages.ts'
import {
  createRequestReader,
  type MatchedRequest,
  type MockError,
  type MockedVersion,
  MockRefusal,
  type MockValues,
} from './requests.ts'

/** A valid request that the mock received. */
export interface MockedRequest extends MockValues {
  /** The method of the client, such as `books.create`. */
  readonly operation: string
}

/** A request with the types of its operation. */
export interface MockedCall<Operation> extends MockedRequest {
  readonly path: Operation extends { readonly parameters: { readonly path: infer Path extends object } }
    ? Readonly<Path & Record<string, unknown>>
    : MockValues['path']
  readonly query: Readonly<Partial<QueryOf<Operation>> & Record<string, unknown>>
  readonly body: [RequestBodyOf<Operation>] extends [never] ? unknown : RequestBodyOf<Operation>
}

/** What a test can say of an answer: members that replace those of the example, or the body if it is not an object. */
export type MockedAnswer<Operation> = PartsOf<Output<Operation>>

type PartsOf<Data> =
  Data extends ReadableStream<Uint8Array>
    ? string | Blob | ReadableStream<Uint8Array>
    : Data extends readonly unknown[]
      ? Data
      : Partial<Data>

/** Answers a request. A `Response` is sent as it is. @param example the answer that the mock would give. */
export type MockedHandler<Operation> = (
  request: MockedCall<Operation>,
  example: Output<Operation>,
) => MockedAnswer<Operation> | Response | Promise<MockedAnswer<Operation> | Response>

/** The error object of a refusal. The mock adds the `type` that the document gives to the code. */
export interface MockedRefusal {
  readonly code: string
  readonly message?: string
  readonly [member: string]: unknown
}

export interface MockTimes {
  /** Number of requests that get the answer. The one before it then applies again. Default: all. */
  readonly times?: number
}

export interface MockSettings {
  /** The URL of the service, if it has a path. */
  readonly baseUrl?: string
}

/**
 * A service in memory. It validates requests, and answers valid ones with examples of the document unless the test says
 * otherwise.
 *
 * @template Operations the operations of the version, by name.
 */
export interface ServiceMock<Operations> {
  /** The option `fetch` of the client. */
  readonly fetch: typeof globalThis.fetch
  /** The valid requests, oldest first. */
  readonly requests: readonly MockedRequest[]
  /** Sets the answer of an operation. A list is answered page by page, so give all its records. */
  answer<Name extends keyof Operations>(
    name: Name,
    answer: MockedAnswer<Operations[Name]> | MockedHandler<Operations[Name]>,
    options?: MockTimes,
  ): void
  /** Makes an operation answer with an error. */
  refuse(name: keyof Operations, status: number, error: MockedRefusal, options?: MockTimes): void
  /** Forgets all requests and answers. */
  reset(): void
}

type Handler = (request: MockedRequest, example: unknown) => unknown

interface Script {
  readonly handler: Handler
  left: number
}

/** Creates the mock of a version. */
export function mockOf<Operations>(
  service: MockedVersion,
  { baseUrl = 'https://api.test' }: MockSettings = {},
): ServiceMock<Operations> {
  const { wire, stringify = JSON.stringify } = service
  const readerOf = createRequestReader(service, new URL(baseUrl).pathname.replace(/\/$/, ''))
  const scripts = new Map<PropertyKey, Script[]>()
  const requests: MockedRequest[] = []
  let received = 0

  function script(name: PropertyKey, handler: Handler, { times = Number.POSITIVE_INFINITY }: MockTimes = {}) {
    if (!Object.hasOwn(service.operations, name))
      throw new Error(`Version ${service.version} has no operation ${String(name)}`)
    scripts.set(name, [...(scripts.get(name) ?? []), { handler, left: times }])
  }

  async function respond(request: Request): Promise<Response> {
    const headers = { [wire.requestIdHeader]: `req_mock_${++received}` }
    try {
      const matched = readerOf(request)
      const values = await matched.read()
      const read = { operation: matched.name, ...values }
      requests.push(read)
      return await answerTo(read, matched, headers)
    } catch (error) {
      if (!(error instanceof MockRefusal)) throw error
      const { status, type, code } = service.faults[error.fault]
      return refusal(status, { type, code, message: error.message, ...error.parts }, headers)
    }
  }

  async function answerTo(
    request: MockedRequest,
    { name, operation }: MatchedRequest,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const script = scripts.get(name)?.findLast(({ left }) => left > 0)
    if (script) script.left--
    const example = structuredClone(operation.example)
    const given = script ? await script.handler(request, structuredClone(example)) : example
    if (given instanceof Response) return given
    const { status, media, paged } = operation
    if (media !== undefined)
      return new Response((given ?? '') as string | Blob | ReadableStream<Uint8Array>, {
        status,
        headers: { ...headers, 'Content-Type': media },
      })
    const whole = isMembers(given) && isMembers(example) ? { ...example, ...given } : given
    const body = paged && isMembers(whole) ? pageOf(whole, request.query, paged, wire.page) : whole
    if (body === undefined) return new Response(null, { status, headers })
    return json(status, stringify(body), headers)
  }

  const refusal = (status: number, error: object, headers: Readonly<Record<string, string>>) =>
    json(status, JSON.stringify({ [wire.error.envelope]: error }), headers)

  return {
    requests,
    fetch: async (input, init) => {
      const request = new Request(input, init)
      const { signal = request.signal } = init ?? {}
      signal?.throwIfAborted()
      return Promise.race([respond(request), ...(signal ? [abortOf(signal)] : [])])
    },
    answer: (name, answer, options) => {
      const handler = typeof answer === 'function' ? (answer as unknown as Handler) : () => answer
      script(name, handler, options)
    },
    refuse: (name, status, error, options) => {
      const type = typeOf(service.errors, status, error.code)
      const full = {
        ...(type !== undefined && { type }),
        message: 'The test refuses this request.',
        ...error,
      }
      script(name, () => refusal(status, full, { [wire.requestIdHeader]: `req_mock_${received}` }), options)
    },
    reset: () => {
      requests.length = 0
      scripts.clear()
    },
  }
}

/** Returns the type of an error: that of its code, or of other errors with this status. */
const typeOf = (errors: readonly MockError[], status: number, code: string): string | undefined =>
  (
    errors.find((each) => each.code === code && each.status === status) ??
    errors.find((each) => each.code === code) ??
    errors.find((each) => each.status === status)
  )?.type

const json = (status: number, text: string, headers: Readonly<Record<string, string>>): Response =>
  new Response(text, { status, headers: { ...headers, 'Content-Type': 'application/json' } })

/** Rejects when the signal aborts, as `fetch` does. */
const abortOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
