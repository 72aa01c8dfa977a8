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

type Validated = IncomingMessage & { body?: unknown; settle(violation: Violation | undefined): void }

/**
 * Opens express-openapi-validator on a document, in two apps without a port, one for requests and one for answers: it does
 * not look at the answer to a request that it refuses. Takes about half a second for ten operations, and much more memory than the document.
 */
export async function openContractValidator(document: Json): Promise<ContractValidator> {
  const { middleware } = await import('express-openapi-validator')
  const createApp = (
    side: 'requests' | 'responses',
    reply: (request: express.Request, response: express.Response) => void,
  ) => {
    const app = express()
    app.enable('strict routing')
    app.enable('case sensitive routing')
    app.use(
      middleware({
        // It marks what it reads, so each side has a copy of its own.
        apiSpec: withStandIns(structuredClone(document)) as unknown as ApiSpec,
        validateRequests: side === 'requests',
        validateResponses: side === 'responses',
        validateSecurity: false,
        validateApiSpec: false,
        fileUploader: false,
        ajvFormats: { mode: 'full' },
      }),
    )
    app.use(reply)
    app.use(
      (error: unknown, request: express.Request, _response: express.Response, _next: express.NextFunction) =>
        validatedOf(request).settle(toViolation(error)),
    )
    return app
  }
  const requests = createApp('requests', (request) => validatedOf(request).settle(undefined))
  const answers = createApp('responses', (request, response) => {
    response.json(request.body)
    validatedOf(request).settle(undefined)
  })
  return {
    checkRequest: (request) => put(requests, request, 200, structuredClone(request.body)),
    async checkAnswer(request, status, body) {
      const violation = await put(answers, request, standIn(status), structuredClone(body))
      // What fails may fail in ways that no operation describes.
      return status >= 500 && violation?.message.includes('no schema defined') ? undefined : violation
    },
  }
}

/** The validator ignores answers from 500 on, so it gets them under a status that no document uses. */
const standIn = (status: number): number => (status >= 500 && status < 520 ? status - 20 : status)

/** The document, with its answers from 500 on also under the statuses of `standIn`. */
function withStandIns(document: Json): Json {
  for (const item of Object.values(document.paths as Paths))
    for (const operation of Object.values(item)) {
      const responses = (operation as { responses?: Record<string, unknown> } | undefined)?.responses
      for (const [status, response] of Object.entries(responses ?? {}))
        if (/^5[01]\d$/.test(status)) responses![standIn(Number(status))] = response
    }
  return document
}

type ApiSpec = Exclude<
  Parameters<typeof import('express-openapi-validator')['middleware']>[0]['apiSpec'],
  string
>

function validatedOf(request: express.Request): Validated {
  return request as unknown as Validated
}

function toViolation(error: unknown): Violation {
  if (!(error instanceof Error)) return { status: 500, message: String(error) }
  const { status } = error as { status?: number }
  return { status: status ?? 500, message: error.message }
}

/** Passes the app a request without a socket; resolves with what it finds first. */
function put(
  app: express.Express,
  { method, target, headers }: SentRequest,
  status: number,
  body: unknown,
): Promise<Violation | undefined> {
  return new Promise((resolve) => {
    const request = Object.assign(new IncomingMessage(new Socket()), {
      method,
      url: normalizeTarget(target),
      headers: { ...headers },
      body,
      settle: resolve,
    })
    const response = new ServerResponse(request)
    response.statusCode = status
    app(request as unknown as express.Request, response as unknown as express.Response, (error?: unknown) =>
      resolve(error === undefined ? undefined : toViolation(error)),
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
