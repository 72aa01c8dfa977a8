import { messageOf } from '../../database/errors.ts'
import type { Settings } from '../../platform/settings.ts'
import { redisPrefix } from '../../tenants/limits/open-limiter.ts'
import { BEAT } from '../../tenants/limits/scripts.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const CONNECT_TIMEOUT_MS = 3000

/** Returns the host and port, such as `redis.example.com:6379`, without credentials. */
function placeOf(url: string): string {
  const { hostname, port } = new URL(url)
  return `${hostname}:${port || 6379}`
}

/** Checks whether Redis responds, accepts the writes of the limiter and does not evict them. */
export async function checkRedis({ redisUrl: url }: Pick<Settings, 'redisUrl'>): Promise<Finding> {
  if (url === undefined)
    return ok('Redis', 'REDIS_URL is not set: limits are exact only with a single process')
  const { createClient } = await import('@redis/client') // imported here because it loads 500 modules
  const place = placeOf(url)
  const client = createClient({
    url,
    socket: { reconnectStrategy: false, connectTimeout: CONNECT_TIMEOUT_MS },
  })
  client.on('error', () => {}) // the command reports it
  try {
    await client.connect()
    const key = `${redisPrefix('doctor')}:nodes`
    await client.sendCommand(['EVAL', BEAT.text, '1', key, 'doctor', '1000'])
    const info = String(await client.sendCommand(['INFO']))
    const [version, memory, policy] = ['redis_version', 'maxmemory', 'maxmemory_policy'].map(
      (name) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? '',
    )
    const words = `${version} at ${place}`
    if (memory !== '0' && policy !== 'noeviction') {
      return warn(
        'Redis',
        `${words} may evict limits when its memory is full: set maxmemory-policy noeviction`,
      )
    }
    return ok('Redis', words)
  } catch (error) {
    return fail('Redis', `REDIS_URL: Redis at ${place} cannot be used: ${messageOf(error)}`)
  } finally {
    if (client.isOpen) client.destroy()
  }
}
