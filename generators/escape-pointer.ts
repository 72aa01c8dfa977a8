/** One reference token of a JSON pointer (RFC 6901 §3). */
export function escapePointer(token: string): string {
  return token.includes('~') || token.includes('/')
    ? token.replaceAll('~', '~0').replaceAll('/', '~1')
    : token
}
