/** Builds the tables of versions and operations, and finds the version and operation of a request. */

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

/** Builds the route of an operation. @throws Error if the document lacks something that the pipeline needs. */
export function createRoute(operation: ServiceOperation, handler: Handler | undefined): ApiRoute {
  const { rateLimit } = operation.extensions
  if (operation.forms || operation.raw)
    throw new Error(`${operation.id}: the service supports only JSON bodies; declare a JSON body`)
  if (!isBucket(rateLimit))
    throw new Error(`${operation.id}: x-rate-limit names an unknown bucket ${rateLimit}`)
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

/** A GET with an audit action is performed like a write: in a transaction, with its audit entry. */
function isRead({ method, extensions }: ServiceOperation): boolean {
  return method === 'GET' && extensions.auditAction === undefined
}

function writeRulesOf({ id, extensions }: ServiceOperation): WriteRules {
  const { auditAction, account, sensitive = false } = extensions
  if (auditAction === undefined) throw new Error(`${id}: x-audit-action is missing`)
  return { auditAction, account, sensitive }
}

function isBucket(name: string): name is Bucket {
  return Object.hasOwn(LIMITS, name)
}

export type Handlers = Readonly<Record<string, Handler>>

/** Security headers for every answer: it must not be cached, and its content type must not be guessed. */
const ALWAYS = ['Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff']

/**
 * Builds the tables of one environment, without operations that only the other environment has.
 *
 * @param consoleUrl origin of the dashboard, which serves the documentation.
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
  if (!current) throw new Error('no versions were generated; run npm run generate')
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
  const { name, deprecated, sunset, behaviour } = version
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
    behaviour,
  }
}

const isCursor = ({ name }: Parameter) => name === 'starting_after'

function handlerOf(handlers: Handlers, operationId: string): Handler | undefined {
  return Object.hasOwn(handlers, operationId) ? handlers[operationId] : undefined
}

/** Finds an operation by path and method in any version, newest first. */
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

/**
 * Whether `path` has a parameter where `other`, which matched the same request, has a literal segment (which wins).
 */
function isWider(path: string, other: string): boolean {
  const words = splitPath(other)
  return splitPath(path).some((segment, at) => segment.startsWith('{') && !words[at]!.startsWith('{'))
}

/** Returns the version in the request's header, or else the version that the tenant is pinned to. */
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
      `There is no version ${name?.slice(0, 40)}. Expected one of ${known}.`,
    )
  }
  return version
}

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
    `Version ${version.name} is no longer supported. Upgrade to version ${successor.name}.`,
    { extras: { successor_version: successor.name, guide_url: version.guideUrl } },
  )
}

export interface RouteMatch {
  readonly route: ApiRoute
  /** Values of the path parameters, undecoded, in path order. */
  readonly pathValues: readonly string[]
}

/** Finds the operation by path and method in the version. @throws ApiError 404 or 405. */
export function matchRoute(
  { request, path }: ReceivedRequest,
  version: VersionTable,
  { versions }: ApiService,
): RouteMatch {
  const method = request.method!
  const match = version.matcher.match(path)
  const route = match?.routes.get(method)
  if (!match || !route) {
    // 404 if a different version has the operation, 405 if none has.
    const [here] = match?.routes.values() ?? []
    const isElsewhere = ({ operation }: ApiRoute) => !here || !isWider(operation.path, here.operation.path)
    if (!match || findAnywhere(versions, method, path, isElsewhere)) {
      throw notFound(describeMissing(versions, version, method, path))
    }
    const allowed = [...match.routes.keys()].join(', ')
    throw new ApiError(
      405,
      'method_not_allowed',
      'method_not_allowed',
      `This path supports only ${allowed}.`,
      {
        headers: ['Allow', allowed],
      },
    )
  }
  return { route, pathValues: match.values }
}
