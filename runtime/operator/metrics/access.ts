import { createHash, timingSafeEqual } from 'node:crypto'
import type { RequestHandler } from 'express'

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Returns the token of a Bearer header, or the password of a Basic header (RFC 6750, RFC 7617). */
function tokenIn(header: string): string {
  const [, scheme = '', value = ''] = /^(\S+) +(.*)$/.exec(header) ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return ''
  const pair = Buffer.from(value, 'base64').toString()
  return pair.slice(pair.indexOf(':') + 1)
}

/**
 * Lets only requests with the operator's token pass: as a Bearer token, or as the password of Basic authentication,
 * which browsers ask for.
 */
export function requireToken(token: string): RequestHandler {
  const wanted = digest(token)
  return (request, response, next) => {
    if (timingSafeEqual(digest(tokenIn(request.get('Authorization') ?? '')), wanted)) return next()
    response
      .status(401)
      .set({ 'WWW-Authenticate': 'Basic realm="operators", charset="UTF-8"', 'Cache-Control': 'no-store' })
      .type('text')
      .send('Send SVC_OPERATOR_TOKEN as a Bearer token, or as the password of Basic authentication.\n')
  }
}
