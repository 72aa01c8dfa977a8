import type { Logger } from 'pino'
import { deriveSecret } from '../../platform/secrets.ts'
import type { Settings } from '../../platform/settings.ts'
import { createLimiter, type RequestLimiter } from './limiter.ts'
import type { LimiterState } from './redis-limiter.ts'

export interface OpenLimiter {
  readonly limiter: RequestLimiter
  /** Undefined where this node has the limits to itself. */
  readonly state: (() => LimiterState) | undefined
  readonly close: () => Promise<void>
}

/** Limits of this node alone, or with the others where there is a Redis. */
export async function openLimiter(
  { redisUrl: url }: Pick<Settings, 'redisUrl'>,
  pepper: string,
  log: Logger,
): Promise<OpenLimiter> {
  if (url === undefined) return { limiter: createLimiter(), state: undefined, close: async () => {} }
  // The client is half of all modules of the service: it is loaded where it is used.
  const { createRedisLimiter } = await import('./redis-limiter.ts')
  const limiter = await createRedisLimiter({
    url,
    prefix: redisPrefix(pepper),
    changed: (exact, reason) => {
      if (exact) log.info('limits are exact across nodes again')
      else log.warn({ reason }, 'Redis is away: this node gives its own share of the limits')
    },
  })
  return { limiter, state: limiter.state, close: limiter.close }
}

/** Deployments on one Redis are told apart by what each keeps to itself. */
export function redisPrefix(pepper: string): string {
  return `svc:${deriveSecret(pepper, 'keys in Redis').slice(0, 12)}`
}
