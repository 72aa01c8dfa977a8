/** Media types (RFC 9110 §8.3.1). They are compared without case and parameters. */

/** Returns `type/subtype` in lowercase, without parameters. */
export function essenceOf(mediaType: string): string {
  return mediaType.split(';', 1)[0]!.trim().toLowerCase()
}

/** Returns whether a media type is JSON: by its subtype, or by its suffix (RFC 6839 §3.1). */
export function isJson(mediaType: string): boolean {
  return /^[^/]+\/(?:[^/]+\+)?json$/.test(essenceOf(mediaType))
}

/** Returns whether a media type is an HTML form encoding. */
export const isForm = (mediaType: string): boolean =>
  ['multipart/form-data', 'application/x-www-form-urlencoded'].includes(essenceOf(mediaType))

/** Returns whether bodies of a media type are text for handlers. */
export const isText = (mediaType: string): boolean => essenceOf(mediaType).startsWith('text/')

/** How the items of a stream are separated: server-sent events, lines, or records (RFC 7464). */
export type Framing = 'events' | 'lines' | 'records'

/** Returns how a sequential media type separates its items; undefined for other media types. */
export function framingOf(mediaType: string): Framing | undefined {
  const essence = essenceOf(mediaType)
  if (essence === 'text/event-stream') return 'events'
  if (/^application\/(?:x-)?(?:ndjson|jsonl|jsonlines)$/.test(essence)) return 'lines'
  return /^application\/(?:[^/]+\+)?json-seq$/.test(essence) ? 'records' : undefined
}
