/** Why something did not work, in one line for the person at the terminal. */
import { ConnectionError, ResponseError } from '../../generated/client/src/2026-05-19/index.ts'
import { messageOf } from '../platform/database/errors.ts'

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the host’s name could not be looked up',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'the connection broke',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  CERT_HAS_EXPIRED: 'its certificate has expired',
}

/** @returns the reason without what it was tried on. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (code !== undefined && REASONS[code] !== undefined) return REASONS[code]
  const { cause } = error instanceof Error ? error : {}
  return cause === undefined ? messageOf(error) : reasonOf(cause)
}

/** `fetch` wraps what the socket said, sometimes twice. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? code : codeOf(error.cause)
}

/** @param baseUrl of the service that the calls went to. */
export function explainFailure(error: unknown, baseUrl: string): string {
  if (error instanceof ResponseError) {
    if (error.status < 400)
      return `${baseUrl} redirects elsewhere: give the service’s own address as --base-url`
    const details = error.details.map(({ field, issue }) => `\n  ${field}: ${issue}`).join('')
    const request = error.requestId === undefined ? '' : ` (${error.requestId})`
    return `the service answered ${error.status}: ${error.message}${request}${details}`
  }
  if (error instanceof ConnectionError) return `cannot reach ${baseUrl}: ${reasonOf(error)}`
  return messageOf(error)
}
