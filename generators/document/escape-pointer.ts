/** Escapes one reference token of a JSON pointer (RFC 6901 §3). */
export function escapePointer(token: string): string {
  return token.includes('~') || token.includes('/')
    ? token.replaceAll('~', '~0').replaceAll('/', '~1')
    : token
}

/**
 * Decodes a token of a reference's fragment (RFC 6901 §6). A token with an invalid percent encoding is not
 * percent-decoded.
 */
export function unescapePointer(token: string): string {
  return decoded(token).replaceAll('~1', '/').replaceAll('~0', '~')
}

function decoded(token: string): string {
  try {
    return decodeURIComponent(token)
  } catch {
    return token
  }
}
