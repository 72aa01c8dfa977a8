import type { Logger } from 'pino'
import { deriveSecret } from '../../platform/secrets.ts'
import type { Settings } from '../../platform/settings.ts'
import { createLimiter, type RequestLimiter } from './limiter.ts'
import type { LimiterState } from './redis-limiter.ts'

export interface OpenLimiter {
  readonly limiter: RequestLimiter
  /** Undefined if limits are not shared with other nodes. */
  readonly state: (() => LimiterState) | undefined
  readonly close: () => Promise<void>
}

/** Opens the limiter: in memory, or shared between nodes if a Redis is configured. */
export async function openLimiter(
  { redisUrl: url }: Pick<Settings, 'redisUrl'>,
  pepper: string,
  log: Logger,
): Promise<OpenLimiter> {
  if (url === undefined) return { limiter: createLimiter(), state: undefined, close: async () => {} }
  // Load the client on demand: it accounts for half of the modules of the service.
  const { createRedisLimiter } = await import('./redis-limiter.ts')
  const limiter = await createRedisLimiter({
    url,
    prefix: redisPrefix(pepper),
    changed: (exact, reason) => {
      if (exact) log.info('Redis is available: rate limits are exact across nodes again')
      else log.warn({ reason }, 'Redis is unavailable: this node enforces its share of the rate limits')
    },
  })
  return { limiter, state: limiter.state, close: limiter.close }
}

/** Returns a key prefix that is unique to a deployment, so that several can share one Redis. */
export function redisPrefix(pepper: string): string {
  return `svc:${deriveSecret(pepper, 'keys in Redis').slice(0, 12)}`
}
