import type { Context, Method, Operation, OperationExtensions, Parameter, Reply } from '../contract.ts'
import { type Bucket, LIMITS } from '../platform/limits/limiter.ts'
import type { PrepareContext, StoredForm } from './prepared.ts'

/** Any handler, as the pipeline calls it: the generated interfaces say what each really takes. */
export interface Handler {
  (context: Context, input: never, ahead?: unknown): Promise<Reply>
  /** What it asks before its transaction begins. */
  readonly prepare?: (context: PrepareContext, input: never) => Promise<unknown>
  /** What it asks of its transaction while that claims the key. */
  readonly ahead?: (context: Context, input: never) => Promise<unknown>
  /** How its answers are stored, where that is not how they are sent. */
  readonly stored?: StoredForm<unknown>
}

/** What the documents declare of an operation that writes. */
export interface WriteRules {
  /** What the audit log calls it. */
  readonly auditAction: string
  /** It changes what belongs to the account: as far as the caller's environment is concerned, or the whole. */
  readonly account: OperationExtensions['account'] | undefined
  /** Its success may answer with a secret. */
  readonly sensitive: boolean
}

/** An operation with what the pipeline would otherwise look up for every request. */
export interface Route {
  readonly operation: Operation
  readonly bucket: Bucket
  /** Undefined while there is none: answered 501. */
  readonly handler: Handler | undefined
  /** Undefined for a read. */
  readonly write: WriteRules | undefined
  /** Names of the path's parameters, in the order of the path. */
  readonly pathNames: readonly string[]
  readonly query: ReadonlyMap<string, Parameter>
  readonly requiredQuery: readonly Parameter[]
  readonly idempotency: 'required' | 'optional' | 'none'
}

/** @throws where the documents say less of the operation than the pipeline needs. */
export function createRoute(operation: Operation, handler: Handler | undefined): Route {
  const { rateLimit } = operation.extensions
  if (!isBucket(rateLimit)) throw new Error(`${operation.id}: there is no rate bucket ${rateLimit}`)
  const key = operation.headers.find((header) => header.name === 'Idempotency-Key')
  const idempotency = key?.required ? 'required' : 'optional'
  return {
    operation,
    bucket: rateLimit,
    handler,
    write: operation.method === 'GET' ? undefined : writeRulesOf(operation),
    pathNames: splitPath(operation.path)
      .filter((segment) => segment.startsWith('{'))
      .map((segment) => segment.slice(1, -1)),
    query: new Map(operation.query.map((parameter) => [parameter.name, parameter])),
    requiredQuery: operation.query.filter((parameter) => parameter.required),
    idempotency: key && operation.method === 'POST' ? idempotency : 'none',
  }
}

function writeRulesOf({ id, extensions }: Operation): WriteRules {
  const { auditAction, account, sensitive = false } = extensions
  if (auditAction === undefined) throw new Error(`${id}: no audit action is declared`)
  return { auditAction, account, sensitive }
}

function isBucket(name: string): name is Bucket {
  return Object.hasOwn(LIMITS, name)
}

/** One segment of the paths of a version. A segment in words wins over a parameter (OpenAPI 3.1, 4.8.8). */
interface Node {
  readonly words: Map<string, Node>
  parameter: Node | undefined
  readonly routes: Map<string, Route>
}

/** A path that the version has, whatever the method. */
export interface Match {
  readonly routes: ReadonlyMap<string, Route>
  /** Values of the parameters, decoded, in the order of the path. */
  readonly values: readonly string[]
}

export interface Matcher {
  /** @param path as sent: segments are decoded one by one. Undefined when the version has no such path. */
  match(path: string): Match | undefined
}

export function createMatcher(routes: readonly Route[]): Matcher {
  const root = createNode()
  for (const route of routes) {
    let node = root
    for (const segment of splitPath(route.operation.path)) node = step(node, segment)
    node.routes.set(route.operation.method satisfies Method, route)
  }
  return {
    match(path) {
      const segments = decodeSegments(path)
      if (!segments) return undefined
      const values: string[] = []
      const node = find(root, segments, 0, values)
      return node && { routes: node.routes, values }
    },
  }
}

function createNode(): Node {
  return { words: new Map(), parameter: undefined, routes: new Map() }
}

function step(node: Node, segment: string): Node {
  if (segment.startsWith('{')) {
    node.parameter ??= createNode()
    return node.parameter
  }
  const next = node.words.get(segment) ?? createNode()
  node.words.set(segment, next)
  return next
}

function splitPath(path: string): string[] {
  return path.slice(1).split('/')
}

function decodeSegments(path: string): string[] | undefined {
  const segments = splitPath(path)
  if (!path.includes('%')) return segments
  try {
    return segments.map(decodeURIComponent)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

function find(node: Node, segments: readonly string[], at: number, values: string[]): Node | undefined {
  if (at === segments.length) return node.routes.size > 0 ? node : undefined
  const segment = segments[at]!
  const word = node.words.get(segment)
  const byWord = word && find(word, segments, at + 1, values)
  if (byWord) return byWord
  if (!node.parameter || segment === '') return undefined
  values.push(segment)
  const byParameter = find(node.parameter, segments, at + 1, values)
  if (!byParameter) values.pop()
  return byParameter
}
