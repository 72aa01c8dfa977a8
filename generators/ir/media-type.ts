/** Media types (RFC 9110 §8.3.1): case and parameters make no difference to what a body is. */

/** @returns `type/subtype` in lower case, without parameters. */
export function essenceOf(mediaType: string): string {
  return mediaType.split(';', 1)[0]!.trim().toLowerCase()
}

/** Whether a body is JSON: by its subtype, or by its suffix (RFC 6839 §3.1). */
export function isJson(mediaType: string): boolean {
  return /^[^/]+\/(?:[^/]+\+)?json$/.test(essenceOf(mediaType))
}

/** Whether a body is a form, as HTML has them. */
export const isForm = (mediaType: string): boolean =>
  ['multipart/form-data', 'application/x-www-form-urlencoded'].includes(essenceOf(mediaType))
