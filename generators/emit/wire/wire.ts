/** Names that the emitters of clients and documents need beside what a document can say: `wire` in the configuration. */
import type { Wire } from '../../client-runtime/service.ts'

/** Every member that is absent has the value that most services use. */
export type WireConfig = { readonly [K in keyof Wire]?: Wire[K] extends object ? Partial<Wire[K]> : Wire[K] }

const USUAL: Wire = {
  idempotencyHeader: 'Idempotency-Key',
  requestIdHeader: 'Request-Id',
  eventVersion: 'version',
  page: {
    items: 'data',
    more: 'has_more',
    next: 'next_cursor',
    after: 'starting_after',
    before: 'ending_before',
  },
  error: { envelope: 'error', retryAfterMs: 'retry_after_ms' },
}

/** @returns the configuration with the usual names where it says nothing. */
export function wireOf(config: WireConfig): Wire {
  return {
    ...USUAL,
    ...config,
    page: { ...USUAL.page, ...config.page },
    error: { ...USUAL.error, ...config.error },
  }
}
