import { randomBytes } from 'node:crypto'
import {
  type Allowance,
  type Bucket,
  bucketLimit,
  createLimiter,
  type Grant,
  type Lift,
  type Meter,
  noSlot,
  type RequestLimiter,
  showLevel,
  slotLimit,
} from './limiter.ts'
import { connectRedis, type RedisConnection } from './redis-connection.ts'
import { ACQUIRE, BEAT, DEPART, RELEASE, RENEW } from './scripts.ts'

export interface LimiterState {
  /** Whether limits are exact across nodes. If not, each node enforces its share. */
  readonly exact: boolean
  /** Number of live nodes at the last heartbeat. */
  readonly nodes: number
  /** Number of times that this node fell back to its share since it started. */
  readonly fallbacks: number
  /** Number of requests that were checked against the share since the node started. */
  readonly alone: number
}

export interface RedisLimiter extends RequestLimiter {
  state(): LimiterState
  close(): Promise<void>
}

export interface RedisLimiterOptions {
  readonly url: string
  /** Key prefix, unique to a deployment. */
  readonly prefix: string
  /** Called when the node falls back to its share, with the reason, and when limits are exact again. */
  readonly changed?: (exact: boolean, reason: string | undefined) => void
  readonly monotonic?: () => number
  readonly machine?: () => number
  readonly beatMs?: number
  readonly retryMs?: number
}

/** Time after which a slot is free again if its node does not renew it. */
const LEASE_MS = 30_000

/** Time for which a node counts as live after its last heartbeat. */
const NODE_MS = 10_000

/** Maximum number of slots to release when Redis returns. The leases of the others expire. */
const MAX_ABANDONED = 10_000

const RELEASE_BATCH = 500

const NO_SLOT = 2

interface ScriptReply {
  readonly code: number
  readonly units: number
  readonly now: number
}

function readReply(reply: unknown): ScriptReply {
  const [code, units, now] = Array.isArray(reply) ? reply.map(Number) : []
  if (code === undefined || units === undefined || now === undefined) {
    throw new Error(`unexpected Redis response: ${JSON.stringify(reply)}`)
  }
  return { code, units, now }
}

/**
 * Creates a limiter whose buckets and slots all nodes share, in Redis. Each request runs one script, which uses the
 * clock of Redis, so the limits are exact for any number of nodes. While Redis is unavailable, each node enforces its
 * share: the limits divided by the number of nodes that were last live, starting from the last known level of each
 * bucket.
 */
export async function createRedisLimiter(options: RedisLimiterOptions): Promise<RedisLimiter> {
  const { prefix, changed = () => {}, machine = Date.now } = options
  const node = randomBytes(6).toString('base64url')
  const nodesKey = `${prefix}:nodes`
  let [nodes, fallbacks, alone, count] = [1, 0, 0, 0]
  const local = createLimiter(options.monotonic, machine, () => nodes)
  /** Leases of requests in progress, by the Redis key of their slots. */
  const underWay = new Map<string, Set<string>>()
  /** Slots with leases that could not be released. */
  let abandoned: (readonly [slots: string, lease: string])[] = []

  const beat = async (run: RedisConnection['run']) => {
    nodes = Math.max(1, Number(await run(BEAT, [nodesKey], [node, String(NODE_MS)])))
    const returned = abandoned
    abandoned = []
    const sent = groupLeases(returned).map(({ slots, leases }) => run(RELEASE, [slots], leases))
    for (const [slots, leases] of underWay) sent.push(run(RENEW, [slots], [String(LEASE_MS), ...leases]))
    await Promise.all(sent)
  }

  let wasUp = true
  const connection = await connectRedis({
    ...options,
    scripts: [ACQUIRE, BEAT, DEPART, RELEASE, RENEW],
    beat,
    changed: (reason) => {
      const isUp = reason === undefined
      if (isUp === wasUp) return
      wasUp = isUp
      if (!isUp) fallbacks += 1
      changed(isUp, reason)
    },
  })

  const abandon = (slots: string, lease: string) => {
    if (abandoned.length < MAX_ABANDONED) abandoned.push([slots, lease])
  }

  const releaseShared = (slots: string, lease: string) => {
    if (!connection.isUp()) return abandon(slots, lease)
    connection.run(RELEASE, [slots], [lease]).catch(() => abandon(slots, lease))
  }

  /** Registers a lease, so that heartbeats renew it. Returns the function that releases it. */
  const hold = (slots: string, lease: string, release: () => void) => {
    const leases = underWay.get(slots)
    if (leases) leases.add(lease)
    else underWay.set(slots, new Set([lease]))
    return () => {
      release()
      const held = underWay.get(slots)
      held?.delete(lease)
      if (held?.size === 0) underWay.delete(slots)
      releaseShared(slots, lease)
    }
  }

  const acquireAlone = (
    meter: Meter,
    bucket: Bucket,
    lifts: readonly Lift[] | undefined,
    slots: string,
    lease: string,
  ): Grant => {
    alone += 1
    const { allowance, release } = local.acquire(meter, bucket, lifts)
    return { allowance, release: release && hold(slots, lease, release) }
  }

  const show = (
    meter: Meter,
    bucket: Bucket,
    limit: number,
    { code, units, now }: ScriptReply,
  ): Allowance => {
    local.setLevel(meter, bucket, Math.floor(units / nodes))
    return showLevel(code === 1, bucket, limit, units, now)
  }

  return {
    meter: local.meter,
    take(meter, bucket, lifts) {
      if (!connection.isUp()) {
        alone += 1
        return local.take(meter, bucket, lifts)
      }
      const limit = bucketLimit(bucket, lifts, machine())
      return connection.run(ACQUIRE, [`${prefix}:{${meter.name}}:${bucket}`], [String(limit)]).then(
        (reply) => show(meter, bucket, limit, readReply(reply)),
        () => {
          alone += 1
          return local.take(meter, bucket, lifts)
        },
      )
    },
    acquire(meter, bucket, lifts) {
      count += 1
      const lease = `${node}.${count.toString(36)}`
      const slots = `${prefix}:{${meter.name}}:slots`
      if (!connection.isUp()) return acquireAlone(meter, bucket, lifts, slots, lease)
      const now = machine()
      const [limit, most] = [bucketLimit(bucket, lifts, now), slotLimit(lifts, now)]
      const keys = [`${prefix}:{${meter.name}}:${bucket}`, slots]
      return connection.run(ACQUIRE, keys, [String(limit), String(most), lease, String(LEASE_MS)]).then(
        (reply): Grant => {
          const answer = readReply(reply)
          if (answer.code === NO_SLOT) {
            return { allowance: noSlot(most, answer.now), release: undefined }
          }
          const allowance = show(meter, bucket, limit, answer)
          if (!allowance.allowed) return { allowance, release: undefined }
          meter.running += 1 // counts against this node's share if Redis becomes unavailable
          const release = () => {
            meter.running -= 1
          }
          return { allowance, release: hold(slots, lease, release) }
        },
        () => {
          // Redis may have run the script although its response got lost.
          abandon(slots, lease)
          return acquireAlone(meter, bucket, lifts, slots, lease)
        },
      )
    },
    state: () => ({ exact: connection.isUp(), nodes, fallbacks, alone }),
    close: async () => {
      if (connection.isUp()) await connection.run(DEPART, [nodesKey], [node]).catch(() => {}) // the entry expires
      await connection.close()
    },
  }
}

/** Groups leases by their slots, in batches of at most 500, because they become arguments of one script call. */
function groupLeases(
  pairs: readonly (readonly [slots: string, lease: string])[],
): { readonly slots: string; readonly leases: string[] }[] {
  return [...Map.groupBy(pairs, ([slots]) => slots)].flatMap(([slots, own]) => {
    const leases = own.map(([, lease]) => lease)
    const portions = Math.ceil(leases.length / RELEASE_BATCH)
    return Array.from({ length: portions }, (_, at) => ({
      slots,
      leases: leases.slice(at * RELEASE_BATCH, (at + 1) * RELEASE_BATCH),
    }))
  })
}
