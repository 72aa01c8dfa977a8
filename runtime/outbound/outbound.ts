import type { Networks } from '../auth/allowlist.ts'
import type { Environment } from '../contract.ts'

/** What is sent to one endpoint at one time. */
export interface PostRequest {
  /** As the tenant wrote it; judged again before it is dialled. */
  readonly url: string
  /** Beside `Host`, `Content-Length`, `User-Agent` and `Accept-Encoding`, which are set here. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The caller's own wish to stop: says nothing about the endpoint, so the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/**
 * Why there is no answer. `timeout`: not done within the total deadline; `connection`: refused, reset or unreachable;
 * `tls`: no handshake or no valid certificate; `dns`: the name has no address; `blocked`: the destination is not allowed;
 * `response`: what came back is no complete HTTP answer.
 */
export type FailureKind = 'timeout' | 'connection' | 'tls' | 'dns' | 'blocked' | 'response'

/** An answer, of whatever status: redirects are answers too, and are not followed. */
export interface Answered {
  readonly status: number
  /** The first 4 KiB as text: what is not UTF-8, and NUL, is U+FFFD. */
  readonly body: string
  readonly durationMs: number
}

/** No answer, and why, in words for the tenant. */
export interface Failed {
  readonly error: string
  readonly kind: FailureKind
  readonly durationMs: number
}

/** Told apart by `'error' in outcome`. */
export type Outcome = Answered | Failed

/** The only way out for URLs that tenants give. */
export interface Outbound {
  /**
   * Judges a URL at its registration: syntax, scheme, port, name and, as far as they can be had within 1.5 s, all its
   * addresses. Undefined when it is acceptable, otherwise what is wrong, as prose for `details[].issue`.
   */
  judge(url: string): Promise<string | undefined>
  /** One POST within the total deadline. Rejects only when the caller's signal aborts. */
  post(request: PostRequest): Promise<Outcome>
  /** Closes all connections; posts under way fail. */
  close(): void
}

export interface OutboundOptions {
  /** Live sends over https only. */
  readonly environment: Environment
  /** Networks that are allowed though not public (SVC_WEBHOOK_ALLOW). */
  readonly allow?: Networks
  /** Name servers as `address` or `address:port`, instead of the machine's own. */
  readonly dnsServers?: readonly string[]
  /** Certificates (PEM) to trust instead of the usual roots. */
  readonly ca?: string
  /** Milliseconds for everything, from DNS to the last byte of the answer. */
  readonly deadlineMs?: number
}

export declare function createOutbound(options: OutboundOptions): Outbound
