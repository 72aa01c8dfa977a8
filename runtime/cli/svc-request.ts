/** `svc get`, `post`, `put`, `patch` and `delete`: call any operation of the API by its path. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { addAbortSignal } from 'node:stream'
import { text as readAll } from 'node:stream/consumers'
import { Argument, type Command } from 'commander'
import { service } from '../../generated/client/src/2026-05-19/index.ts'
import { systemClock } from '../../generated/client/src/runtime/clock.ts'
import { refusalOf, wishOf } from '../../generated/client/src/runtime/refusal.ts'
import { send } from '../../generated/client/src/runtime/transport.ts'
import { tabulateRecords } from './print.ts'
import {
  authorizationOf,
  MisuseError,
  type Surroundings,
  type SvcRunner,
  type SvcSession,
  type SvcTerminal,
} from './svc-session.ts'
import { withoutControls } from './terminal/colours.ts'
import { formatJson } from './terminal/json-text.ts'

export interface RequestWords {
  readonly data?: string
  readonly version?: string
  readonly idempotencyKey?: string
  readonly factor?: string
}

/** A response with its parsed body. */
export interface SvcAnswer {
  readonly response: Response
  readonly body: unknown
}

const TIMEOUT_MS = 30_000
const MAX_RETRIES = 3
const { wire } = service

/**
 * Sends a request, with retries. All attempts of a POST use the same idempotency key.
 * @param path path and query, relative to the address of the API.
 * @throws ResponseError if the API refuses; ConnectionError or TimeoutError without a response; the signal's reason after an
 * abort.
 */
export async function call(
  session: SvcSession,
  { method, path, body, headers }: { method: string; path: string; body?: string; headers: Headers },
  signal: AbortSignal,
): Promise<SvcAnswer> {
  headers.set('Authorization', await authorizationOf(session))
  const request = new Request(`${session.baseUrl}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
  })
  const response = await send(request, {
    fetch: session.fetch,
    clock: systemClock,
    timeoutMs: TIMEOUT_MS,
    maxRetries: MAX_RETRIES,
    keyed: headers.has(wire.idempotencyHeader),
    streamed: false,
    signal,
    wishOf: (text) => wishOf(text, wire),
  })
  const answer = readJson(await response.text())
  if (!response.ok) throw refusalOf(response, answer, service, Date.now())
  return { response, body: answer }
}

/** Parses a response body. Returns the text if it is not JSON, or undefined if it is empty. */
function readJson(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text // for example from a proxy
  }
}

/**
 * Validates the path and query of an operation.
 * @throws MisuseError unless the path begins with `/v1/`.
 */
export function readPath(text: string): string {
  const url = text.startsWith('/v1/') ? new URL(text, 'http://api.invalid') : undefined
  if (!url?.pathname.startsWith('/v1/') || url.hash !== '')
    throw new MisuseError(
      `the path must begin with /v1/, as in /v1/passes?limit=5; got ${JSON.stringify(text)}`,
    )
  if (url.pathname === '/v1/events/stream') throw new MisuseError('use svc listen to follow the event stream')
  return `${url.pathname}${url.search}`
}

/**
 * Reads the request body.
 * @throws MisuseError unless it is valid JSON.
 */
async function readBody(data: string, signal: AbortSignal): Promise<string> {
  const text = await readSource(data, signal)
  try {
    JSON.parse(text)
  } catch (cause) {
    throw new MisuseError(`--data is not valid JSON: ${(cause as Error).message}`, { cause })
  }
  return text
}

async function readSource(data: string, signal: AbortSignal): Promise<string> {
  if (data === '-') return readAll(addAbortSignal(signal, process.stdin))
  if (!data.startsWith('@')) return data
  const file = data.slice(1)
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new MisuseError(`--data @${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns the idempotency key of a POST: the given key or a new one. */
function keyFor(method: string, given: string | undefined): string | undefined {
  if (method !== 'POST') return undefined
  if (given !== undefined && !UUID.test(given)) throw new MisuseError('--idempotency-key must be a UUID')
  return given ?? randomUUID()
}

function readVersion(version: string | undefined): string | undefined {
  if (version === undefined || /^\d{4}-\d{2}-\d{2}$/.test(version)) return version
  throw new MisuseError('--version must be the date of an API version, as in --version 2026-05-19')
}

interface AskedRequest {
  readonly method: string
  readonly path: string
  readonly words: RequestWords
  readonly signal: AbortSignal
}

async function ask(
  session: SvcSession,
  { method, path, words, signal }: AskedRequest,
  terminal: SvcTerminal,
): Promise<void> {
  const key = keyFor(method, words.idempotencyKey)
  const version = readVersion(words.version)
  const target = readPath(path)
  const headers = new Headers({ Accept: 'application/json' })
  if (version !== undefined) headers.set(wire.versionHeader!, version)
  if (words.factor !== undefined) headers.set('Service-Factor', words.factor)
  const body = words.data === undefined ? {} : { body: await readBody(words.data, signal) }
  if ('body' in body) headers.set('Content-Type', 'application/json')
  // Print the key before the request is sent, so that an interrupted command can be repeated with the same key.
  if (key !== undefined) {
    headers.set(wire.idempotencyHeader, key)
    terminal.say(`${wire.idempotencyHeader}: ${key}`)
  }
  const answered = await call(session, { method, path: target, headers, ...body }, signal)
  if (answered.body !== undefined) show(answered.body, path, terminal)
}

/** Prints a response. A list is printed as a table, with the command for the next page. */
function show(body: unknown, path: string, { json, paint, print, say }: SvcTerminal): void {
  if (json) return print(JSON.stringify(body))
  const page = readPage(body)
  if (!page) return print(formatJson(body, paint))
  if (page.data.length === 0) return say('The list is empty.')
  print(withoutControls(tabulateRecords(page.data, columnsOf(page.data))))
  if (page.next_cursor !== null) say(`Next page: svc get '${nextPath(path, page.next_cursor)}'`)
}

/** A page of a list in the format of the API. */
interface ListPage {
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly next_cursor: string | null
}

function readPage(body: unknown): ListPage | undefined {
  if (typeof body !== 'object' || body === null || !('data' in body) || !('has_more' in body))
    return undefined
  const { data, next_cursor = null } = body as unknown as Partial<ListPage>
  return Array.isArray(data) ? { data, next_cursor } : undefined
}

/** Maximum number of columns, so that the table fits on a screen. */
const MAX_COLUMNS = 6
/** Members that are equal in all records or add little to `created`. */
const LEFT_OUT = new Set(['object', 'updated'])

/** Returns the first columns that contain plain values, with `created` last. */
function columnsOf(data: ListPage['data']): string[] {
  const isShown = (name: string) =>
    !LEFT_OUT.has(name) &&
    data.some(
      (record) => record[name] !== null && ['string', 'number', 'boolean'].includes(typeof record[name]),
    )
  const names = [...new Set(data.flatMap(Object.keys))].filter(isShown)
  const others = names.filter((name) => name !== 'created')
  const last = names.includes('created') ? ['created'] : []
  return [...others.slice(0, MAX_COLUMNS - last.length), ...last]
}

function nextPath(path: string, cursor: string): string {
  const url = new URL(path, 'http://api.invalid')
  url.searchParams.delete('ending_before')
  url.searchParams.set('starting_after', cursor)
  return `${url.pathname}${url.search}`
}

const VERBS = {
  GET: 'to read objects',
  POST: 'to create an object or run an action',
  PUT: 'to set an object',
  PATCH: 'to change an object',
  DELETE: 'to delete an object',
} as const

const EXAMPLES: { readonly [Method in keyof typeof VERBS]: readonly string[] } = {
  GET: [
    'svc get /v1/me',
    "svc get '/v1/passes?limit=5&status=active'",
    'svc get /v1/me --version 2026-02-01',
  ],
  POST: [
    `svc post /v1/scans -d '{"pass_id":"pass_…","mode":"redeem"}'`,
    'svc post /v1/pass_templates -d @template.json',
    'generate-passes | svc post /v1/passes/batch -d -',
  ],
  PUT: [`svc put /v1/authorization_endpoint -d '{"url":"https://example.com/decide"}'`],
  PATCH: [`svc patch /v1/passes/pass_… -d '{"fields":{"points":"12"}}'`],
  DELETE: ['svc delete /v1/webhook-endpoints/whe_…'],
}

/** Adds a command for each HTTP method. */
export function addRequests(program: Command, run: SvcRunner, { interruption }: Surroundings): void {
  for (const [method, text] of Object.entries(VERBS)) {
    const command = program
      .command(method.toLowerCase())
      .description(`send a ${method} request to any API path, ${text}`)
      .addArgument(new Argument('<path>', 'path and query, for example /v1/passes?limit=5'))
      .option('--version <date>', 'API version for this request (default: the version of your account)')
    if (method !== 'GET') command.option('--factor <code>', 'second factor, if the operation requires one')
    if (method !== 'GET' && method !== 'DELETE')
      command.option('-d, --data <json>', 'request body: JSON, @FILE, or - for stdin')
    if (method === 'POST')
      command.option(
        '--idempotency-key <uuid>',
        'idempotency key of a repeated request (default: a new key, which is printed)',
      )
    command
      .addHelpText(
        'after',
        `\nExamples:\n${EXAMPLES[method as keyof typeof VERBS].map((line) => `  ${line}`).join('\n')}`,
      )
      .action((path: string, words: RequestWords, self: Command) =>
        run(self, (session, terminal) =>
          ask(session, { method, path, words, signal: interruption() }, terminal),
        ),
      )
  }
}
