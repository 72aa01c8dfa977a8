import type { FailureKind } from './outbound.ts'

/** How far a request came. */
export type Phase = 'connecting' | 'handshake' | 'waiting' | 'reading'

/** Why a request came to nothing, in words for the tenant. */
export interface Failure {
  readonly kind: FailureKind
  readonly error: string
}

const LATE: Readonly<Record<Phase, string>> = {
  connecting: 'no connection could be made in time',
  handshake: 'the TLS handshake was not finished in time',
  waiting: 'no answer came in time',
  reading: 'the answer was not complete in time',
}

export function lateIn(phase: Phase): Failure {
  return { kind: 'timeout', error: LATE[phase] }
}

/** Codes of the operating system, and what they mean before and after there is a connection. */
const CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network of the host cannot be reached',
  ETIMEDOUT: 'no connection could be made in time',
}

/** Codes of OpenSSL (X509_V_ERR_…) and of Node. */
const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate comes from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'the chain of certificates is not complete',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the chain of certificates is not complete or not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the chain of certificates is not complete or not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
}

/** Node's parser and its limits. */
const MALFORMED = 'HPE_'
const HEADERS_TOO_LONG = 'HPE_HEADER_OVERFLOW'

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}

/** What an error of a request, a socket or a parser means. */
export function failureOf(error: Error, phase: Phase): Failure {
  const code = codeOf(error)
  if (code === HEADERS_TOO_LONG) return { kind: 'response', error: 'the headers of the answer are too long' }
  if (code.startsWith(MALFORMED)) return { kind: 'response', error: 'what came back is not HTTP' }
  if (phase === 'handshake' || CERTIFICATE[code] || code.startsWith('ERR_SSL_')) {
    return { kind: 'tls', error: CERTIFICATE[code] ?? 'the TLS handshake failed' }
  }
  if (phase === 'reading') return { kind: 'response', error: 'the connection was lost within the answer' }
  const before = 'the connection failed'
  const after = 'the connection was closed before an answer came'
  return { kind: 'connection', error: CONNECTION[code] ?? (phase === 'connecting' ? before : after) }
}
