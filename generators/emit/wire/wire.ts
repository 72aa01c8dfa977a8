/**
 * Wire names that emitters of clients and documentation need and documents cannot declare: `wire` in the
 * configuration.
 */
import type { Wire } from '../../client-runtime/service.ts'

/** Absent members default to the most common names. */
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

/** Returns the configuration with defaults filled in. */
export function wireOf(config: WireConfig): Wire {
  return {
    ...USUAL,
    ...config,
    page: { ...USUAL.page, ...config.page },
    error: { ...USUAL.error, ...config.error },
  }
}
