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

/** Validates a request against one OpenAPI document. Does not change it. Undefined if it matches. */
export type CheckRequest = (request: SentRequest) => Promise<Violation | undefined>

/** Data attached to a request that is passed to an app without a socket. */
interface Passed {
  settle(violation: Violation | undefined): void
}

/**
 * Opens express-openapi-validator for a document, in an app without a port. It validates requests only, because
 * `checkAnswer` reads the same descriptions of responses.
 */
export async function openContractValidator(document: Json): Promise<CheckRequest> {
  const app = await createApp(document)
  return (request) => put(app, request)
}

// With every document it compiles the schema of documents (60 ms of processor time in 5.6.2), which `validateApiSpec: false`
// only leaves unused.
createRequire(import.meta.url)(
  'express-openapi-validator/dist/framework/openapi.schema.validator.js',
).OpenAPISchemaValidator = class {}

async function createApp(document: Json): Promise<express.Express> {
  const { middleware } = await import('express-openapi-validator')
  const app = express()
  app.enable('strict routing')
  app.enable('case sensitive routing')
  app.use(
    middleware({
      // The validator modifies its document, so it gets a copy.
      apiSpec: structuredClone(document) as unknown as ApiSpec,
      validateRequests: true,
      validateResponses: false,
      validateSecurity: false,
      validateApiSpec: false,
      fileUploader: false,
      ajvFormats: { mode: 'full' },
    }),
  )
  app.use((request) => passedOf(request).settle(undefined))
  app.use(
    (error: unknown, request: express.Request, _response: express.Response, _next: express.NextFunction) =>
      passedOf(request).settle(toViolation(error)),
  )
  return app
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

/** Passes a request to the app without a socket. */
function put(
  app: express.Express,
  { method, target, headers, body }: SentRequest,
): Promise<Violation | undefined> {
  return new Promise((settle) => {
    const request = Object.assign(new IncomingMessage(new Socket()), {
      method,
      url: normalizeTarget(target),
      headers: { ...headers },
      body: structuredClone(body),
      settle,
    })
    const response = new ServerResponse(request)
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
 * Returns the part of a document that describes requests to paths that begin with `/v1/<segment>`. The validator
 * traverses the whole document for every operation, so a small one is faster.
 *
 * @param eachItem whether to validate batch items (`x-judged: each`) too. The service answers them one by one instead
 * of rejecting the request.
 */
export function cutDocument(document: Json, path: string, eachItem = false): Json {
  const first = path.split('/', 3).join('/')
  const paths = Object.fromEntries(
    Object.entries(document.paths as Paths)
      .filter(([template]) => template === first || template.startsWith(`${first}/`))
      .map(([template, item]) => [template, withoutResponses(item)]),
  )
  return { openapi: document.openapi, info: document.info, ...withComponents(document, paths, eachItem) }
}

function withoutResponses(item: Paths[string]): Paths[string] {
  const operations = Object.entries(item).map(([name, part]) =>
    Array.isArray(part) ? [name, part] : [name, { ...(part as Json), responses: {} }],
  )
  return Object.fromEntries(operations)
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
