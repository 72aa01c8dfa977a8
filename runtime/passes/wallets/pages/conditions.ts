import type { IncomingHttpHeaders } from 'node:http'

/** What tells one state of a representation from others. */
export interface HttpValidators {
  /** Strong, with its quotation marks. */
  readonly etag: string
  /** Milliseconds since the epoch, whole seconds. */
  readonly lastModified: number
}

/** Whether the client names a state that it has: only then it is worth to look whether that is this one. */
export function isConditional(headers: IncomingHttpHeaders): boolean {
  return headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined
}

/** Whether the client has this state already (RFC 9110, 13.2.2, for GET and HEAD). */
export function isUnchanged(headers: IncomingHttpHeaders, { etag, lastModified }: HttpValidators): boolean {
  const tags = headers['if-none-match']
  if (tags !== undefined) return tags.trim() === '*' || listTags(tags).includes(etag)
  const since = headers['if-modified-since']
  return since !== undefined && lastModified <= Date.parse(since)
}

/** Compared weakly: a W/ counts for nothing here. */
function listTags(header: string): string[] {
  return header.match(/"[^"]*"/g) ?? []
}

/** Names and values in turn. Whoever keeps the answer asks again each time. */
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
