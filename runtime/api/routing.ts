/** What is asked for: versions with their operations, and the one that a request names. */

import type { Parameter } from 'dateline/runtime'
import { createQueryTable } from 'dateline/runtime/parameters'
import { createMatcher, splitPath } from 'dateline/runtime/path-matcher'
import { changes } from '../../generated/changelog.ts'
import { events } from '../../generated/events.ts'
import type { Environment } from '../platform/environment.ts'
import type { KnownCredential } from '../tenants/keys/credential-queries.ts'
import { type Bucket, LIMITS } from '../tenants/limits/limiter.ts'
import { ApiError, invalidParameter, notFound } from './errors/errors.ts'
import type { ApiService, ReceivedRequest } from './exchange.ts'
import { readDocument } from './explanation.ts'
import type { Handler } from './handler.ts'
import { describeMissing } from './missing-operations.ts'
import type {
  ApiRoute,
  ServiceOperation,
  ServiceVersion,
  Versions,
  VersionTable,
  WriteRules,
} from './version-table.ts'

/** @throws where the documents say less of the operation than the pipeline needs. */
export function createRoute(operation: ServiceOperation, handler: Handler | undefined): ApiRoute {
  const { rateLimit } = operation.extensions
  if (operation.forms)
    throw new Error(`${operation.id}: this service reads no forms; describe the body as JSON`)
  if (!isBucket(rateLimit)) throw new Error(`${operation.id}: there is no rate bucket ${rateLimit}`)
  const key = operation.headers.find((header) => header.name === 'Idempotency-Key')
  const idempotency = key?.required ? 'required' : 'optional'
  return {
    operation,
    bucket: rateLimit,
    handler,
    write: isRead(operation) ? undefined : writeRulesOf(operation),
    pathNames: splitPath(operation.path)
      .filter((segment) => segment.startsWith('{'))
      .map((segment) => segment.slice(1, -1)),
    query: createQueryTable(operation.query),
    idempotency: key && operation.method === 'POST' ? idempotency : 'none',
  }
}

/** A GET that the audit log tells of is done as a write is: in a transaction, with its entry. */
function isRead({ method, extensions }: ServiceOperation): boolean {
  return method === 'GET' && extensions.auditAction === undefined
}

function writeRulesOf({ id, extensions }: ServiceOperation): WriteRules {
  const { auditAction, account, sensitive = false } = extensions
  if (auditAction === undefined) throw new Error(`${id}: no audit action is declared`)
  return { auditAction, account, sensitive }
}

function isBucket(name: string): name is Bucket {
  return Object.hasOwn(LIMITS, name)
}

export type Handlers = Readonly<Record<string, Handler>>

/** Safe for every answer: nothing here is to be cached, framed, guessed at or sent on. */
const ALWAYS = ['Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff']

/**
 * Builds the tables of one environment: operations of the other are not there.
 *
 * @param consoleUrl origin of the console, where docs and guides are.
 */
export function createVersions(
  versions: readonly ServiceVersion[],
  handlers: Handlers,
  environment: Environment,
  consoleUrl: string,
): Versions {
  const newest = versions.at(-1)?.name ?? ''
  const all = versions.map((version) => {
    const guideUrl = `${consoleUrl}/docs/upgrading/${version.name}/${newest}`
    return createTable(version, guideUrl, handlers, environment)
  })
  const byName = new Map(all.map((table) => [table.name, table]))
  const current = all.at(-1)
  if (!current) throw new Error('there is no version to serve')
  return {
    all,
    current,
    find: (name) => byName.get(name),
    docUrl: (code) => `${consoleUrl}/docs/errors#${code}`,
    successor: (now) => all.find((table) => table.sunset > now) ?? current,
  }
}

function createTable(
  version: ServiceVersion,
  guideUrl: string,
  handlers: Handlers,
  environment: Environment,
): VersionTable {
  const { name, deprecated, sunset } = version
  const headers = [...ALWAYS, 'Service-Version', name]
  if (deprecated !== undefined) headers.push('Deprecation', `@${Math.floor(Date.parse(deprecated) / 1000)}`)
  if (sunset !== undefined) headers.push('Sunset', new Date(sunset).toUTCString())
  if (deprecated !== undefined) headers.push('Link', `<${guideUrl}>; rel="deprecation"; type="text/html"`)
  const operations = version.operations.filter(
    ({ extensions }) => extensions.environment === undefined || extensions.environment === environment,
  )
  const routes = operations.map((operation) => createRoute(operation, handlerOf(handlers, operation.id)))
  return {
    name,
    sunset: sunset === undefined ? Number.POSITIVE_INFINITY : Date.parse(sunset),
    headers,
    document: readDocument(name),
    matcher: createMatcher(routes),
    requiredLater: new Map(
      changes.flatMap((change) =>
        change.version > name && change.requiredHeader ? [[change.requiredHeader, change.name]] : [],
      ),
    ),
    paths: [...new Set(operations.map(({ path }) => path))],
    lists: operations.filter(({ query }) => query.some(isCursor)).map(({ id }) => id),
    eventTypes: new Set(Object.keys(events[name] ?? {})),
    guideUrl,
  }
}

const isCursor = ({ name }: Parameter) => name === 'starting_after'

function handlerOf(handlers: Handlers, operationId: string): Handler | undefined {
  return Object.hasOwn(handlers, operationId) ? handlers[operationId] : undefined
}

/** The operation that any version has under a path and method, the newest first. */
export function findAnywhere(
  versions: Versions,
  method: string,
  path: string,
  wanted: (route: ApiRoute) => boolean = () => true,
): ApiRoute | undefined {
  for (const table of versions.all.toReversed()) {
    const route = table.matcher.match(path)?.routes.get(method)
    if (route && wanted(route)) return route
  }
  return undefined
}

/** Whether a path has a parameter where another, which matched the same request, has a word: the word wins. */
function isWider(path: string, other: string): boolean {
  const words = splitPath(other)
  return splitPath(path).some((segment, at) => segment.startsWith('{') && !words[at]!.startsWith('{'))
}

/** The version that the request names, or else the tenant's pin. */
export function resolveVersion(
  { request }: ReceivedRequest,
  { pin }: KnownCredential,
  { versions }: ApiService,
): VersionTable {
  const header = request.headers['service-version']
  const name = header === undefined ? pin : String(header)
  const version = name === null ? versions.current : versions.find(name)
  if (!version) {
    const known = versions.all.map((each) => each.name).join(', ')
    throw invalidParameter(
      'unknown_version',
      'Service-Version',
      `There is no version ${name?.slice(0, 40)}; there are ${known}.`,
    )
  }
  return version
}

/** Refuses a version after its sunset. */
export function requireSupported(
  { now }: ReceivedRequest,
  version: VersionTable,
  { versions }: ApiService,
): void {
  if (now < version.sunset) return
  const successor = versions.successor(now)
  throw new ApiError(
    410,
    'version_sunset',
    'version_gone',
    `Version ${version.name} is no longer answered; ${successor.name} is.`,
    { extras: { successor_version: successor.name, guide_url: version.guideUrl } },
  )
}

export interface RouteMatch {
  readonly route: ApiRoute
  /** Values of the path's parameters, decoded, in the order of the path. */
  readonly pathValues: readonly string[]
}

/** The operation, by the path and method of the version. */
export function matchRoute(
  { request, path }: ReceivedRequest,
  version: VersionTable,
  { versions }: ApiService,
): RouteMatch {
  const method = request.method!
  const match = version.matcher.match(path)
  const route = match?.routes.get(method)
  if (!match || !route) {
    // What another version has is not there; what none has is not allowed.
    const [here] = match?.routes.values() ?? []
    const isElsewhere = ({ operation }: ApiRoute) => !here || !isWider(operation.path, here.operation.path)
    if (!match || findAnywhere(versions, method, path, isElsewhere)) {
      throw notFound(describeMissing(versions, version, method, path))
    }
    const allowed = [...match.routes.keys()].join(', ')
    throw new ApiError(405, 'method_not_allowed', 'method_not_allowed', `This path takes ${allowed}.`, {
      headers: ['Allow', allowed],
    })
  }
  return { route, pathValues: match.values }
}
