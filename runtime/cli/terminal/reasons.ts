/** Converts system error codes of network failures to text. */

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'the host name could not be resolved',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_SOCKET: 'the connection was interrupted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  CERT_HAS_EXPIRED: 'the certificate has expired',
}

/** Returns the reason of a failure, without the address. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (code !== undefined && REASONS[code] !== undefined) return REASONS[code]
  const { cause } = error instanceof Error ? error : {}
  return cause === undefined ? messageOf(error) : reasonOf(cause)
}

/** Returns the error code. `fetch` wraps the socket error, sometimes twice. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? code : codeOf(error.cause)
}

/**
 * Returns the message of an error. For a host name with several addresses, Node throws an AggregateError without a message.
 */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
