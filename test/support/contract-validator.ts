import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import express from 'express'

type Json = Readonly<Record<string, unknown>>

/** A request as it was sent; `body` is undefined when there was none. */
export interface SentRequest {
  readonly method: string
  /** Path and query, undecoded. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
}

/** What express-openapi-validator has against something. */
export interface Violation {
  /** 400 for what does not fit, 404 and 405 where the document has no such operation, 415 for the type of a body. */
  readonly status: number
  readonly message: string
}

/** Holds requests and answers against one OpenAPI document. Neither is changed. */
export interface ContractValidator {
  checkRequest(request: SentRequest): Promise<Violation | undefined>
  checkAnswer(request: SentRequest, status: number, body: unknown): Promise<Violation | undefined>
}

/** What is passed through an app instead of a request that came over a socket. */
interface Passed {
  /** Undefined: only the request is validated. */
  readonly answer: { readonly status: number; readonly body: unknown } | undefined
  settle(violation: Violation | undefined): void
  /** Set by the validator, where the document has such an operation. */
  readonly openapi?: { readonly openApiRoute: string }
}

/**
 * Opens express-openapi-validator on a document, in an app without a port. It does not look at the answer to a request that
 * it refuses, so what is answered to those is validated apart. Takes about a quarter of a second, most of it for the
 * validator itself, and much more memory than the document.
 *
 * @param failures of documents with the same components.
 */
export async function openContractValidator(
  document: Json,
  failures: Failures = createFailures(),
): Promise<ContractValidator> {
  const app = await createApp(withSuccesses(document), true)
  return {
    checkRequest: async (request) => (await put(app, request)).violation,
    async checkAnswer(request, status, body) {
      if (status < 400) return (await put(app, request, { status, body })).violation
      const { operation, violation } = await put(app, request)
      if (operation === undefined) return violation
      const responses = operationsOf(document, operation)[request.method.toLowerCase()]?.responses ?? {}
      const response = responses[status]
      if (response) return failures(document, resolve(document, response), body)
      // What fails may fail in ways that no operation describes.
      return status >= 500 ? undefined : { status: 500, message: `no answer ${status} is described` }
    },
  }
}

/** Validates what is answered to requests that failed. Operations describe most of it in the same words: those are compiled once. */
export type Failures = (document: Json, response: Json, body: unknown) => Promise<Violation | undefined>

export function createFailures(): Failures {
  const apps = new Map<string, Promise<express.Express>>()
  const request = { method: 'GET', target: '/failure', headers: {}, body: undefined }
  return async (document, { content }, body) => {
    const key = JSON.stringify(content)
    const paths = { [request.target]: { get: { responses: { 400: { description: 'No.', content } } } } }
    const { openapi, info } = document
    const open = () => createApp({ openapi, info, ...withComponents(document, paths, false) }, false)
    const app = apps.get(key) ?? open()
    apps.set(key, app)
    return (await put(await app, request, { status: 400, body })).violation
  }
}

async function createApp(document: Json, validateRequests: boolean): Promise<express.Express> {
  const { middleware } = await import('express-openapi-validator')
  const app = express()
  app.enable('strict routing')
  app.enable('case sensitive routing')
  app.use(
    middleware({
      // It marks what it reads, so it has a copy of its own.
      apiSpec: structuredClone(document) as unknown as ApiSpec,
      validateRequests,
      validateResponses: true,
      validateSecurity: false,
      validateApiSpec: false,
      fileUploader: false,
      ajvFormats: { mode: 'full' },
    }),
  )
  app.use((request, response) => {
    const { answer, settle } = passedOf(request)
    if (answer) response.json(answer.body)
    settle(undefined)
  })
  app.use(
    (error: unknown, request: express.Request, _response: express.Response, _next: express.NextFunction) =>
      passedOf(request).settle(toViolation(error)),
  )
  return app
}

/** The document without what is answered to requests that failed: the validator compiles all answers of an operation at once. */
function withSuccesses(document: Json): Json {
  const copy = structuredClone(document)
  for (const item of Object.values(copy.paths as Paths))
    for (const operation of Object.values(item)) {
      const responses = (operation as Partial<Operation> | undefined)?.responses ?? {}
      for (const status of Object.keys(responses)) if (Number(status) >= 400) delete responses[status]
    }
  return copy
}

interface Operation {
  readonly responses: Record<string, Json>
}

function operationsOf(document: Json, path: string): Readonly<Record<string, Partial<Operation>>> {
  return ((document.paths as Paths)[path] ?? {}) as Readonly<Record<string, Partial<Operation>>>
}

/** A response, or the one that it refers to. */
function resolve(document: Json, response: Json): Json {
  const name = typeof response.$ref === 'string' ? response.$ref.split('/').at(-1)! : undefined
  if (name === undefined) return response
  return (document.components as { readonly responses: Readonly<Record<string, Json>> }).responses[name]!
}

type ApiSpec = Exclude<
  Parameters<typeof import('express-openapi-validator')['middleware']>[0]['apiSpec'],
  string
>

function passedOf(request: express.Request): Passed {
  return request as unknown as Passed
}

function toViolation(error: unknown): Violation {
  if (!(error instanceof Error)) return { status: 500, message: String(error) }
  const { status } = error as { status?: number }
  return { status: status ?? 500, message: error.message }
}

interface Found {
  readonly violation: Violation | undefined
  /** The path of the document that the request is for. */
  readonly operation: string | undefined
}

/** Passes the app a request without a socket, and an answer to it where one is given; resolves with what it finds first. */
function put(
  app: express.Express,
  { method, target, headers, body }: SentRequest,
  answer?: NonNullable<Passed['answer']>,
): Promise<Found> {
  return new Promise((resolve) => {
    const settle = (violation: Violation | undefined) =>
      resolve({ violation, operation: (request as Partial<Passed>).openapi?.openApiRoute })
    const request = Object.assign(new IncomingMessage(new Socket()), {
      method,
      url: normalizeTarget(target),
      headers: { ...headers },
      body: structuredClone(body),
      answer: answer && { ...answer, body: structuredClone(answer.body) },
      settle,
    })
    const response = new ServerResponse(request)
    response.statusCode = answer?.status ?? 200
    app(request as unknown as express.Request, response as unknown as express.Response, (error?: unknown) =>
      settle(error === undefined ? undefined : toViolation(error)),
    )
  })
}

/** `created[gte]`: the validator takes every bracket for an object's, also where the name has it (5.6.2). */
const BRACKETED = /^(\w+)\[(\w+)\]$/

function withoutBrackets(name: string): string {
  return name.replace(BRACKETED, '$1.$2')
}

/** The same target in the one spelling that the validator reads: it decodes no words of a path, and forbids `:` in a query. */
export function normalizeTarget(target: string): string {
  const [path = '', ...search] = target.split('?')
  // A slash at the end is none of the validator's business, two are.
  const segments = `${path}${path.endsWith('/') ? '/' : ''}`
    .split('/')
    .map((segment) => spell(segment, (text) => text))
  const pairs = search
    .join('?')
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.replaceAll('+', '%20').split('=')
      return `${spell(name, withoutBrackets)}=${spell(value.join('='), (text) => text)}`
    })
  return pairs.length === 0 ? segments.join('/') : `${segments.join('/')}?${pairs.join('&')}`
}

/** What is no percent-encoded text stays as it is. */
function spell(raw: string, change: (text: string) => string): string {
  try {
    return encodeURIComponent(change(decodeURIComponent(raw)))
  } catch {
    return raw
  }
}

type Paths = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/**
 * The part of a document that is about the paths which begin with `/v1/<segment>`, with the components that those need:
 * the validator reads the whole document anew for every operation.
 *
 * @param eachItem whether batch items (`x-judged: each`) have to fit too; they are answered one by one, not refused.
 */
export function cutDocument(document: Json, path: string, eachItem = false): Json {
  const first = path.split('/', 3).join('/')
  const paths = Object.fromEntries(
    Object.entries(document.paths as Paths).filter(
      ([template]) => template === first || template.startsWith(`${first}/`),
    ),
  )
  return { openapi: document.openapi, info: document.info, ...withComponents(document, paths, eachItem) }
}

/** The paths and whatever they refer to, all the way. */
function withComponents(
  document: Json,
  paths: Paths,
  eachItem: boolean,
): { paths: unknown; components: unknown } {
  const components: Record<string, Record<string, unknown>> = {}
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy)
    if (typeof value !== 'object' || value === null) return value
    if ('$ref' in value && typeof value.$ref === 'string') take(value.$ref)
    const copied = Object.fromEntries(
      Object.entries(value)
        // Unions are decided by their members' constants: the validator mixes up what members require (5.6.2).
        .filter(
          ([name, part]) => name !== 'discriminator' || typeof part !== 'object' || !('propertyName' in part),
        )
        .map(([name, part]) => [name, copy(part)]),
    )
    if ('x-judged' in value && !eachItem) return { ...copied, items: {} }
    if (copied.in === 'query') return { ...copied, name: withoutBrackets(String(copied.name)) }
    return copied
  }
  const take = (reference: string) => {
    const [, , kind = '', name = ''] = reference.split('/')
    const taken = components[kind] ?? {}
    components[kind] = taken
    if (Object.hasOwn(taken, name)) return
    taken[name] = {} // before what it refers to: that may be itself
    taken[name] = copy((document.components as Record<string, Record<string, unknown>>)[kind]?.[name])
  }
  return { paths: copy(paths), components }
}
