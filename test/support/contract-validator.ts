import { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import express from 'express'

type Json = Readonly<Record<string, unknown>>

/** A request as sent. `body` is undefined if there was none. */
export interface SentRequest {
  readonly method: string
  /** Path and query, not decoded. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
}

/** A violation that express-openapi-validator reports. */
export interface Violation {
  /** 400 for a mismatch, 404 and 405 if the document has no such operation, 415 for the content type of a body. */
  readonly status: number
  readonly message: string
}

/** Validates requests and responses against one OpenAPI document. Changes neither. */
export interface ContractValidator {
  checkRequest(request: SentRequest): Promise<Violation | undefined>
  checkAnswer(request: SentRequest, status: number, body: unknown): Promise<Violation | undefined>
}

// Every document brings a compilation of the schema of documents (150 ms of processor time in 5.6.2), and
// `validateApiSpec: false` leaves out only its use. Redocly has checked these documents.
createRequire(import.meta.url)(
  'express-openapi-validator/dist/framework/openapi.schema.validator.js',
).OpenAPISchemaValidator = class {}

/** Data attached to a request that is passed to an app without a socket. */
interface Passed {
  /** Undefined to validate only the request. */
  readonly answer: { readonly status: number; readonly body: unknown } | undefined
  settle(violation: Violation | undefined): void
  /** Set by the validator if the document has such an operation. */
  readonly openapi?: { readonly openApiRoute: string }
}

/**
 * Opens express-openapi-validator for a document, in an app without a port. The validator does not check responses to
 * requests that it rejects, so error responses are validated separately.
 *
 * @param failures shared by documents with the same components.
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
      // The service may fail with 5xx in ways that no operation describes.
      return status >= 500 ? undefined : { status: 500, message: `no answer ${status} is described` }
    },
  }
}

/**
 * Validates error responses. Most operations describe them identically, so identical descriptions are compiled once.
 */
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
      // The validator modifies its document, so it gets a copy.
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

/**
 * Returns the document without error responses, because the validator compiles all responses of an operation together.
 */
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

/** Returns the response, resolving a reference. */
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
  /** Path template of the document that matches the request. */
  readonly operation: string | undefined
}

/** Passes a request, and optionally a response, to the app without a socket. Resolves with the first result. */
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

/**
 * Matches `created[gte]`. The validator (5.6.2) parses every bracket as an object, even if it is part of a parameter
 * name.
 */
const BRACKETED = /^(\w+)\[(\w+)\]$/

function withoutBrackets(name: string): string {
  return name.replace(BRACKETED, '$1.$2')
}

/** Normalizes a target for the validator, which does not decode path segments and rejects `:` in a query. */
export function normalizeTarget(target: string): string {
  const [path = '', ...search] = target.split('?')
  // The validator ignores one trailing slash but not two.
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

/** Leaves text unchanged that is not valid percent-encoding. */
function spell(raw: string, change: (text: string) => string): string {
  try {
    return encodeURIComponent(change(decodeURIComponent(raw)))
  } catch {
    return raw
  }
}

type Paths = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/**
 * Returns the part of a document whose paths begin with `/v1/<segment>`, with the components that they need. The
 * validator traverses the whole document for every operation, so a small one is faster.
 *
 * @param eachItem whether to validate batch items (`x-judged: each`) too. The service answers them one by one instead
 * of rejecting the request.
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

/** Returns the paths and all components that they refer to, directly or indirectly. */
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
        // Without discriminators, constants of the members distinguish the types of a union. With them, the validator
        // (5.6.2) confuses the required members.
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
    taken[name] = {} // set before copying, because the component may refer to itself
    taken[name] = copy((document.components as Record<string, Record<string, unknown>>)[kind]?.[name])
  }
  return { paths: copy(paths), components }
}
