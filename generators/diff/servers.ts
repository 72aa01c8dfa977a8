/** Compares the URLs under which operations are documented. */
import { shapeOfPath } from '../change/align.ts'
import type { Api, ApiOperation, ApiServer } from '../ir/model.ts'
import type { Root } from './pairs.ts'
import { type DocumentPair, emptyResult, found, type OperationPair, positionAt, REQUEST } from './position.ts'

type Servers = Pick<Api | ApiOperation, 'place'> & { readonly servers: readonly ApiServer[] }

/**
 * Compares the servers of the documents.
 *
 * @param before old operations by their counterparts.
 */
export function compareDocumentServers(
  old: Api,
  next: Api,
  before: ReadonlyMap<ApiOperation, ApiOperation>,
  translated: boolean,
): Root {
  const pair = { old, next, result: emptyResult(), translated }
  const areKept = before.size > 0 && [...before].every(([b, a]) => keepsUrls(pair, a, b))
  compareServers({ ...pair, translated: translated || areKept }, old, next)
  return { use: '', result: pair.result }
}

/** Returns whether an operation is still at all its URLs, for example if a base path moved from the server to the paths. */
export function keepsUrls({ old, next }: DocumentPair, a: ApiOperation, b: ApiOperation): boolean {
  const is = fullUrlsOf(next, b)
  return [...fullUrlsOf(old, a)].every((url) => is.has(url))
}

function fullUrlsOf(api: Api, { servers = api.servers, path }: ApiOperation): Set<string> {
  const urls = servers.length === 0 ? [''] : servers.flatMap(urlsOf).map(([url]) => url)
  return new Set(urls.map((url) => url + shapeOfPath(path)))
}

/** Compares the servers of an operation, if it has its own in either document. */
export function compareOperationServers(pair: OperationPair, a: ApiOperation, b: ApiOperation): void {
  if (!a.servers && !b.servers) return
  const [was, is] = [a.servers ?? pair.old.servers, b.servers ?? pair.next.servers]
  compareServers(pair, { ...a, servers: was }, { ...b, servers: is }, b.id)
}

/**
 * A URL that is no longer documented breaks its callers, unless the service serves the old version at its own URLs.
 * Without servers, the URL depends on where the document is, so servers that are added then replace nothing.
 */
function compareServers(pair: OperationPair, a: Servers, b: Servers, operation?: string): void {
  const position = positionAt(pair, REQUEST, () =>
    operation === undefined ? { kind: 'servers' } : { kind: 'servers', operation },
  )
  const [was, is] = [a.servers, b.servers].map((servers) => new Map(servers.flatMap(urlsOf)))
  for (const [url, server] of was!)
    if (!is!.has(url))
      found(position, 'server-removed', pair.translated ? 0 : REQUEST, `${url} was removed`, {
        old: server.place,
        new: b.place,
      })
  for (const [url, server] of is!)
    if (!was!.has(url))
      found(position, 'server-added', 0, `${url} was added`, { old: a.place, new: server.place })
}

/** Maximum number of URLs of one server; variables with more values are compared by name. */
const MOST_URLS = 100

/** Returns the URLs that a server describes, with the values of its variables. */
function urlsOf(server: ApiServer): [string, ApiServer][] {
  let urls = [server.url]
  for (const [name, values] of Object.entries(server.variables))
    if (urls.length * values.length <= MOST_URLS && server.url.includes(`{${name}}`))
      urls = urls.flatMap((url) => values.map((value) => url.replaceAll(`{${name}}`, value)))
  // Hosts are case-insensitive (RFC 3986 §6.2.2.1). The name of a variable is not in the URL.
  return urls.map((url) => [
    url
      .replace(/\{[^}]*\}/g, '{}')
      .replace(/\/$/, '')
      .replace(/^[a-z]+:\/\/[^/]*/i, (host) => host.toLowerCase()),
    server,
  ])
}
