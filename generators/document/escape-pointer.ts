/** One reference token of a JSON pointer (RFC 6901 §3). */
export function escapePointer(token: string): string {
  return token.includes('~') || token.includes('/')
    ? token.replaceAll('~', '~0').replaceAll('/', '~1')
    : token
}

/** @returns the name that a token of a reference's fragment stands for (RFC 6901 §6); a `%` that encodes nothing is one. */
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
