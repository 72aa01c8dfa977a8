/** Explains to tenants why requests failed. Delivery attempts show these texts. */

/**
 * Why there is no response. `timeout`: the total deadline passed; `connection`: refused, reset or unreachable;
 * `tls`: the handshake failed or the certificate is not valid; `dns`: the name has no address; `blocked`: the destination is not
 * allowed; `response`: the server sent something other than a complete HTTP response.
 */
export type OutboundFailureKind = 'timeout' | 'connection' | 'tls' | 'dns' | 'blocked' | 'response'

export type Phase = 'connecting' | 'handshake' | 'waiting' | 'reading'

/** Why a request failed, in words for the tenant. */
export interface FailureReason {
  readonly kind: OutboundFailureKind
  readonly error: string
}

const LATE: Readonly<Record<Phase, string>> = {
  connecting: 'the connection was not established in time',
  handshake: 'the TLS handshake was not finished in time',
  waiting: 'the server did not respond in time',
  reading: 'the response was not complete in time',
}

/** Returns the failure of a request that reaches its deadline in the given phase. */
export function timeoutIn(phase: Phase): FailureReason {
  return { kind: 'timeout', error: LATE[phase] }
}

/** Operating system errors with a specific text. */
const CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: "the host's network cannot be reached",
  ETIMEDOUT: 'the connection was not established in time',
}

/** Codes of OpenSSL (X509_V_ERR_…) and of Node. */
const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate comes from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate chain is not complete',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate chain is incomplete or not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate chain is incomplete or not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for a different host',
}

/** Codes of Node's HTTP parser. */
const MALFORMED = 'HPE_'
const HEADERS_OVERFLOW = 'HPE_HEADER_OVERFLOW'

const HEADERS_TOO_LONG: FailureReason = { kind: 'response', error: 'the response headers are too long' }
export const NOT_HTTP: FailureReason = { kind: 'response', error: 'the response is not HTTP' }

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}

/** Translates an error of a request or its socket into words for the tenant. */
export function failureOf(error: Error, phase: Phase): FailureReason {
  const code = codeOf(error)
  if (code === HEADERS_OVERFLOW) return HEADERS_TOO_LONG
  if (code.startsWith(MALFORMED)) return NOT_HTTP
  if (phase === 'handshake' || code.startsWith('ERR_SSL_')) {
    return { kind: 'tls', error: CERTIFICATE[code] ?? 'the TLS handshake failed' }
  }
  if (phase === 'reading') return { kind: 'response', error: 'the connection was lost during the response' }
  const before = 'the connection failed'
  const after = 'the connection was closed before a response arrived'
  return { kind: 'connection', error: CONNECTION[code] ?? (phase === 'connecting' ? before : after) }
}
