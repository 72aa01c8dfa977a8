import type { IncomingHttpHeaders } from 'node:http'

/** HTTP validators of a representation (RFC 9110, 8.8). */
export interface HttpValidators {
  /** A strong entity tag, with quotation marks. */
  readonly etag: string
  /** Milliseconds since the epoch, in whole seconds. */
  readonly lastModified: number
}

/** Returns whether the request is conditional, so that it is worth computing the validators first. */
export function isConditional(headers: IncomingHttpHeaders): boolean {
  return headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined
}

/** Returns whether the client already has this state (RFC 9110, 13.2.2, for GET and HEAD). */
export function isUnchanged(headers: IncomingHttpHeaders, { etag, lastModified }: HttpValidators): boolean {
  const tags = headers['if-none-match']
  if (tags !== undefined) return tags.trim() === '*' || listTags(tags).includes(etag)
  const since = headers['if-modified-since']
  return since !== undefined && lastModified <= Date.parse(since)
}

/** Returns the entity tags without their W/ prefixes, for weak comparison. */
function listTags(header: string): string[] {
  return header.match(/"[^"]*"/g) ?? []
}

/** Returns alternating header names and values. Clients may cache the response but must revalidate it each time. */
export function validatorHeaders({ etag, lastModified }: HttpValidators): string[] {
  return [
    'ETag',
    etag,
    'Last-Modified',
    new Date(lastModified).toUTCString(),
    'Cache-Control',
    'private, no-cache',
  ]
}
