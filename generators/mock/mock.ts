/**
 * A server of every version of a family, made from the documents and changes alone. It remembers what is created, and
 * answers old versions with translated records of the newest one.
 */
import type { LoadedChange } from '../change/load-changes.ts'
import { type WireConfig, wireOf } from '../emit/wire/wire.ts'
import { streamOf } from '../ir/bodies.ts'
import { isJson } from '../ir/media-type.ts'
import type { Api, ApiOperation, Response as ApiResponse } from '../ir/model.ts'
import { contentOf, successOf, successStatus } from '../ir/operations.ts'
import type { Operation, Reply } from '../runtime/contract.ts'
import {
  createVersionedApi,
  ErrorReply,
  fromHeader,
  fromPath,
  type RequestInfo,
  RequestRefusal,
  type VersionedApi,
  type VersionResolver,
} from '../server/api.ts'
import { pageOf, writePage } from './pages.ts'
import { readPreference } from './prefer.ts'
import { actionsOf, type MockAction } from './resources.ts'
import {
  createStore,
  fillPath,
  type MockCollection,
  type MockRecord,
  type MockStore,
  merged,
} from './store.ts'
import { createTables } from './tables.ts'
import { createValueMaker, isObject, namedExample, type ValueMaker } from './values.ts'

export interface MockOptions {
  /** Version of requests that name none. Default: the newest. */
  readonly defaultVersion?: string
  readonly seed: number
  readonly wire?: WireConfig
}

/** The header that names the version, if the configuration names none. */
export const VERSION_HEADER = 'Api-Version'

interface MockInput {
  readonly path: MockRecord
  readonly query: MockRecord
  readonly body?: unknown
}

/** One operation of the newest version that has it. */
interface MockOperation {
  readonly api: Api
  readonly operation: ApiOperation
  readonly action: MockAction
  readonly values: ValueMaker
}

type Handler = (info: RequestInfo, input: MockInput) => Promise<Reply>

/**
 * Creates the mock.
 *
 * @param apis oldest first; changes must account for every breaking difference between them.
 */
export function createMock(
  apis: readonly Api[],
  changes: readonly LoadedChange[],
  options: MockOptions,
): VersionedApi {
  const wire = wireOf(options.wire ?? {})
  const versions = createTables(apis, changes)
  const store = createStore()
  const operations = new Map<string, MockOperation>()
  for (const api of apis) {
    const [actions, values] = [actionsOf(api), createValueMaker(api, options.seed)]
    for (const operation of api.operations)
      operations.set(operation.id, { api, operation, action: actions.get(operation.id)!, values })
  }
  const rowOf = ({ version, operation }: RequestInfo) =>
    versions.find(({ name }) => name === version)!.operations.find(({ id }) => id === operation)!
  const handlers: Record<string, Handler> = {}
  for (const [id, mocked] of operations)
    handlers[id] = async (info, input) => {
      const preferred = preferredReply(mocked, info, rowOf(info))
      return preferred ?? respond(mocked, store, info, input, wire.page)
    }
  return createVersionedApi({
    versions,
    handlers,
    context: (info) => info,
    resolveVersion: resolverOf(wire.versionHeader ?? VERSION_HEADER),
    documents: Object.fromEntries(apis.map(({ version, published }) => [version, async () => published])),
    ...(options.defaultVersion !== undefined && { defaultVersion: options.defaultVersion }),
  })
}

/** The path can begin with a version, so that each version has a URL. Otherwise the header decides. */
function resolverOf(header: string): VersionResolver {
  const [byHeader, byPath] = [fromHeader(header), fromPath()]
  return Object.assign((...target: Parameters<VersionResolver>) => byPath(...target) ?? byHeader(...target), {
    header,
  })
}

/** Returns the answer that the `Prefer` header asks for. */
function preferredReply(mocked: MockOperation, { request }: RequestInfo, row: Operation): Reply | undefined {
  const { operation } = mocked
  const { code, example } = readPreference(request.headers.get('prefer'))
  if (code === undefined && example === undefined) return undefined
  const renamed = Object.entries(row.downStatus ?? {}).find(([, own]) => own === code)
  const status = code === undefined ? successStatus(operation) : Number(renamed?.[0] ?? code)
  const response = responseFor(operation, status)
  if (!response) {
    const known = operation.responses.map((each) => each.status).join(', ')
    throw new RequestRefusal(
      400,
      'invalid_parameter',
      `Prefer: ${operation.id} has no response ${status}. Responses: ${known}.`,
    )
  }
  return { status, body: bodyOf(mocked, response, `${operation.id} ${status}`, example) }
}

const responseFor = ({ responses }: ApiOperation, status: number): ApiResponse | undefined =>
  [String(status), `${Math.trunc(status / 100)}XX`, status < 400 ? '' : 'default']
    .map((name) => responses.find((each) => each.status.toUpperCase() === name.toUpperCase()))
    .find((each) => each !== undefined)

function bodyOf({ api, values }: MockOperation, response: ApiResponse, key: string, name?: string): unknown {
  const content = response.contents.find(({ mediaType }) => isJson(mediaType))
  if (name === undefined) return content && values.body(content, key)
  const found = content && namedExample(api, content, name)
  if (!found)
    throw new RequestRefusal(
      400,
      'invalid_parameter',
      `Prefer: response ${response.status} has no example ${name}.`,
    )
  return found.value
}

function respond(
  mocked: MockOperation,
  store: MockStore,
  info: RequestInfo,
  input: MockInput,
  wire: ReturnType<typeof wireOf>['page'],
): Reply {
  const { api, operation, action, values } = mocked
  const status = successStatus(operation)
  const content = contentOf(operation)
  const sample = () =>
    content && values.body(content, `${operation.id} ${fillPath(operation.path, input.path)}`)
  const shown = (record: MockRecord, wrapped?: string): Reply => {
    if (!content) return { status, body: undefined }
    return { status, body: wrapped === undefined ? record : { ...(sample() as object), [wrapped]: record } }
  }
  switch (action.kind) {
    case 'create': {
      const record = store.collection(api, action.of, values, input.path).create(operation, input.body)
      noteLocation(operation, info, action, record)
      return shown(record, action.wrapped)
    }
    case 'list': {
      const all = store.collection(api, action.of, values, input.path).list()
      const page = pageOf(operation, all, input.query, wire)
      return { status, body: writePage(api, operation, sample(), action.items, page, wire) }
    }
    case 'show':
    case 'change':
    case 'replace':
    case 'delete':
      return respondWithRecord(
        mocked,
        action,
        store.collection(api, action.of, values, input.path),
        input,
        shown,
      )
    case 'show-one':
    case 'change-one': {
      const path = fillPath(operation.path, input.path)
      const known = store.singles.get(path) ?? sample()
      const record = isObject(known) && isObject(input.body) ? { ...known, ...input.body } : known
      if (isObject(record)) store.singles.set(path, record)
      return { status, body: content ? record : undefined }
    }
    case 'example': {
      const stream = streamOf(operation)
      if (!stream) return { status, body: sample() }
      if (!stream.items) return { status, body: eventsOf(values.body(stream.content, operation.id)) }
      // Other examples are the text of a whole stream.
      const examples = stream.content.examples.filter(Array.isArray)
      return { status, body: each(values.body({ ...stream.content, examples }, operation.id)) }
    }
  }
}

function respondWithRecord(
  mocked: MockOperation,
  { kind, of, wrapped }: Extract<MockAction, { kind: 'show' | 'change' | 'replace' | 'delete' }>,
  collection: MockCollection,
  { path, body }: MockInput,
  shown: (record: MockRecord, wrapped?: string) => Reply,
): Reply {
  const { api, operation } = mocked
  const id = String(path[of.parameter])
  const record = collection.get(id)
  if (!record && kind === 'replace') {
    const made = collection.create(operation, {
      ...(body as object),
      [of.id?.name ?? '']: path[of.parameter],
    })
    return shown(made, wrapped)
  }
  if (!record) {
    const response = responseFor(operation, 404)
    const refusal = response && bodyOf(mocked, response, `${operation.id} 404`)
    if (refusal !== undefined) throw new ErrorReply(404, refusal)
    throw new RequestRefusal(404, 'not_found', `There is no ${id} in ${fillPath(of.path, path)}.`)
  }
  if (kind === 'delete') collection.delete(id)
  if (kind === 'show' || kind === 'delete') return shown(record, wrapped)
  const changed = merged(api, of, record, body)
  collection.set(id, changed)
  return shown(changed, wrapped)
}

/** Sets `Location` if the document declares it. */
function noteLocation(
  operation: ApiOperation,
  { request, responseHeaders }: RequestInfo,
  { of }: Extract<MockAction, { kind: 'create' }>,
  record: MockRecord,
): void {
  const isDeclared = successOf(operation)?.headers.some(({ name }) => name.toLowerCase() === 'location')
  if (!isDeclared || !of.id) return
  const { pathname } = new URL(request.url)
  responseHeaders.set('Location', `${pathname}/${encodeURIComponent(String(record[of.id.name]))}`)
}

async function* each(items: unknown): AsyncGenerator<unknown> {
  if (Array.isArray(items)) yield* items
}

async function* eventsOf(example: unknown): AsyncGenerator<string> {
  yield typeof example === 'string' ? example : `data: ${JSON.stringify(example ?? {})}\n\n`
}
