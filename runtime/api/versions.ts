import { events } from '../../generated/events.ts'
import type { Version } from '../contract.ts'
import type { Environment } from '../platform/environment.ts'
import { type ApiDocument, readDocument } from './documents.ts'
import { createMatcher, createRoute, type Handler, type Match, type Matcher, type Route } from './routes.ts'

/** One dated version in one environment, ready to be matched against. */
export interface VersionTable {
  readonly name: string
  /** From when it is refused, milliseconds since the epoch; infinite while nothing is set. */
  readonly sunset: number
  /** Names and values, in turn, that every answer in this version carries. */
  readonly headers: readonly string[]
  /** Where to read about this version. */
  readonly referenceUrl: string
  readonly document: ApiDocument
  readonly matcher: Matcher
  readonly eventTypes: ReadonlySet<string>
  /** Where to read about an error code. */
  docUrl(code: string): string
}

export interface Versions {
  /** Oldest first. */
  readonly all: readonly VersionTable[]
  readonly current: VersionTable
  find(name: string): VersionTable | undefined
  /** The oldest version that is answered at that time. */
  successor(now: number): VersionTable
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
  versions: readonly Version[],
  handlers: Handlers,
  environment: Environment,
  consoleUrl: string,
): Versions {
  const all = versions.map((version, index) => {
    // Where to read how to leave a version: in the reference of the next one.
    const next = versions[index + 1] ?? version
    return createTable(version, `${consoleUrl}/docs/${next.name}`, handlers, environment, consoleUrl)
  })
  const byName = new Map(all.map((table) => [table.name, table]))
  const current = all.at(-1)
  if (!current) throw new Error('there is no version to serve')
  return {
    all,
    current,
    find: (name) => byName.get(name),
    successor: (now) => all.find((table) => table.sunset > now) ?? current,
  }
}

function createTable(
  version: Version,
  guideUrl: string,
  handlers: Handlers,
  environment: Environment,
  consoleUrl: string,
): VersionTable {
  const { name, deprecated, sunset } = version
  const referenceUrl = `${consoleUrl}/docs/${name}`
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
    referenceUrl,
    document: readDocument(name),
    matcher: createMatcher(routes),
    eventTypes: new Set(Object.keys(events[name] ?? {})),
    docUrl: (code) => `${referenceUrl}#error-${code}`,
  }
}

function handlerOf(handlers: Handlers, operationId: string): Handler | undefined {
  return Object.hasOwn(handlers, operationId) ? handlers[operationId] : undefined
}

/** The operation that any version has under a path and method, the newest first. */
export function findAnywhere(
  versions: Versions,
  method: string,
  path: string,
  wanted: (route: Route) => boolean = () => true,
): Route | undefined {
  for (const table of versions.all.toReversed()) {
    const match: Match | undefined = table.matcher.match(path)
    const route = match?.routes.get(method)
    if (route && wanted(route)) return route
  }
  return undefined
}
