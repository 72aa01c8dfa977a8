/** Limits that nodes share, on a real Redis. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Bucket, type Grant, LIMITS } from '../../../../runtime/tenants/limits/limiter.ts'
import { createRedisLimiter, type RedisLimiter } from '../../../../runtime/tenants/limits/redis-limiter.ts'
import { ACQUIRE, BEAT, DEPART, RELEASE, RENEW } from '../../../../runtime/tenants/limits/scripts.ts'
import { openGate } from '../../../support/gate.ts'
import { until } from '../../../support/programs.ts'
import { startRedis, type TestRedis } from '../../../support/redis.ts'

let redis: TestRedis
let nodes: RedisLimiter[] = []
let heard: (string | true)[] = []

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.kill())
beforeEach(() => {
  heard = []
})
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.close()))
  nodes = []
  await redis.command('FLUSHALL')
})

/** Nodes of one deployment, each knowing of the others. */
async function startNodes(count: number, prefix = 'svc:test'): Promise<RedisLimiter[]> {
  const made: RedisLimiter[] = []
  for (let index = 0; index < count; index += 1) {
    made.push(
      await createRedisLimiter({
        url: redis.url,
        prefix,
        beatMs: 100,
        retryMs: 50,
        changed: (exact, reason) => heard.push(exact || String(reason)),
      }),
    )
  }
  nodes.push(...made)
  await until('every node to know of all', () => made.every((node) => node.state().nodes === count))
  return made
}

const TENANT = 'sandbox:ten_1'

/** How many of so many tokens asked for at once, in turn of each node, were given. */
async function takeMany(from: readonly RedisLimiter[], bucket: Bucket, count: number): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const node = from[index % from.length]!
      return node.take(node.meter(TENANT), bucket)
    }),
  )
  return answers.filter(({ allowed }) => allowed).length
}

/** How many tokens may have flowed into a bucket by now. */
function flowedSince(began: number, bucket: Bucket): number {
  return Math.ceil(((performance.now() - began) * LIMITS[bucket]) / 60_000)
}

/** The same, and how many may have flowed into the bucket meanwhile. */
async function takeMeasured(
  from: readonly RedisLimiter[],
  bucket: Bucket,
  count: number,
): Promise<{ taken: number; flowed: number }> {
  const began = performance.now()
  const taken = await takeMany(from, bucket, count)
  return { taken, flowed: flowedSince(began, bucket) }
}

async function acquireMany(from: readonly RedisLimiter[], count: number): Promise<Grant[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => {
      const node = from[index % from.length]!
      return node.acquire(node.meter(TENANT), 'read')
    }),
  )
}

const admitted = (answers: readonly Grant[]) => answers.filter(({ allowance }) => allowance.allowed)

async function slotsTaken(): Promise<number> {
  return Number(await redis.command('ZCARD', `svc:test:{${TENANT}}:slots`))
}

/** What stands in a bucket; moved back in time as if so much had passed. */
async function letPass(bucket: Bucket, ms: number): Promise<void> {
  const key = `svc:test:{${TENANT}}:${bucket}`
  await redis.command('HINCRBY', key, 'at', String(-ms))
}

describe('tokens', () => {
  test.each(Object.entries(LIMITS))(
    '%s: three nodes give twice %i together, and not one more',
    async (name, limit) => {
      const three = await startNodes(3)
      // What flows in meanwhile is the only thing that may come on top.
      const { taken, flowed } = await takeMeasured(three, name as Bucket, 2 * limit + 200)
      expect(taken).toBeGreaterThanOrEqual(2 * limit)
      expect(taken).toBeLessThanOrEqual(2 * limit + flowed)
    },
  )

  test('the tokens that flow in are the limit, whichever node asks', async () => {
    const both = await startNodes(2)
    expect(await takeMany(both, 'passes_count', 120)).toBe(120)
    for (const [ms, want] of [
      [1000, 1],
      [10_000, 10],
      [60_000, 60],
      [600_000, 120],
    ] as const) {
      const began = performance.now()
      await takeMany(both, 'passes_count', 5) // what has flowed in since
      await letPass('passes_count', ms)
      const taken = await takeMany(both, 'passes_count', want + 20)
      expect(taken - want, `${ms} ms`).toBeGreaterThanOrEqual(0)
      expect(taken - want, `${ms} ms`).toBeLessThanOrEqual(flowedSince(began, 'passes_count'))
    }
  })

  test('a wait that one node is told suffices on another', async () => {
    const [one, other] = await startNodes(2)
    await takeMany([one!], 'templates_write', 120)
    const { allowed, retryAfterMs, remaining } = await one!.take(one!.meter(TENANT), 'templates_write')
    expect([allowed, remaining]).toEqual([false, 0])
    expect(retryAfterMs).toBeGreaterThan(0)
    expect(retryAfterMs).toBeLessThanOrEqual(1000)
    await letPass('templates_write', retryAfterMs)
    expect((await other!.take(other!.meter(TENANT), 'templates_write')).allowed).toBe(true)
  })

  test('a clock that is set back refills nothing, and does not stop what flows in', async () => {
    const [node] = await startNodes(1)
    const began = performance.now()
    await takeMany([node!], 'passes_count', 121)
    await letPass('passes_count', -3_600_000) // the bucket was last seen in an hour
    const taken = await takeMany([node!], 'passes_count', 5)
    expect(taken).toBeLessThanOrEqual(flowedSince(began, 'passes_count'))
    await letPass('passes_count', 10_000)
    expect(await takeMany([node!], 'passes_count', 30)).toBeGreaterThanOrEqual(10)
  })

  test('a small step back is no correction: it is waited out', async () => {
    const [node] = await startNodes(1)
    const began = performance.now()
    await takeMany([node!], 'read', 2050)
    await letPass('read', -2000)
    expect(await takeMany([node!], 'read', 20)).toBe(0)
    await letPass('read', 2000) // the clock goes on from where it was
    expect(await takeMany([node!], 'read', 40)).toBeLessThanOrEqual(flowedSince(began, 'read'))
  })

  test('tokens in Redis show the same as in memory', async () => {
    const [node] = await startNodes(1)
    const began = performance.now()
    const first = await node!.take(node!.meter(TENANT), 'read')
    expect(first).toMatchObject({
      allowed: true,
      resource: 'read',
      limit: 1000,
      remaining: 1000,
      retryAfterMs: 0,
    })
    expect(Math.abs(first.reset - Date.now() / 1000)).toBeLessThan(3)
    await takeMany([node!], 'read', 1500)
    const later = await node!.take(node!.meter(TENANT), 'read')
    expect(later.remaining).toBeGreaterThanOrEqual(498)
    expect(later.remaining).toBeLessThanOrEqual(498 + flowedSince(began, 'read'))
  })

  test('a lift counts on every node', async () => {
    const both = await startNodes(2)
    const lifts = [{ bucket: 'passes_count', factor: 2, until: Date.now() + 60_000 }]
    const began = performance.now()
    const answers = await Promise.all(
      Array.from({ length: 260 }, (_, index) => {
        const node = both[index % 2]!
        return node.take(node.meter(TENANT), 'passes_count', lifts)
      }),
    )
    const taken = answers.filter(({ allowed }) => allowed).length
    expect(taken).toBeGreaterThanOrEqual(240)
    expect(taken).toBeLessThanOrEqual(240 + 2 * flowedSince(began, 'passes_count'))
    expect(answers[0]?.limit).toBe(120)
  })

  test('deployments on one Redis do not see each other', async () => {
    const [mine] = await startNodes(1)
    const [other] = await startNodes(1, 'svc:other')
    expect(await takeMany([mine!], 'passes_count', 120)).toBe(120)
    expect((await other!.take(other!.meter(TENANT), 'passes_count')).remaining).toBe(60)
    expect(other!.state().nodes).toBe(1)
  })

  test('nothing is left behind two minutes after the last use', async () => {
    const [node] = await startNodes(1)
    const { release } = await node!.acquire(node!.meter(TENANT), 'read')
    for (const key of (await redis.command('KEYS', 'svc:test:*')) as string[]) {
      const left = Number(await redis.command('PTTL', key))
      expect(left, key).toBeGreaterThan(0)
      expect(left, key).toBeLessThanOrEqual(120_000)
    }
    release?.()
  })
})

describe('slots', () => {
  test('64 among three nodes, and not one more; one given back is one to be had', async () => {
    const three = await startNodes(3)
    const answers = await acquireMany(three, 90)
    expect(admitted(answers)).toHaveLength(64)
    const refused = answers.find(({ allowance }) => !allowance.allowed)
    expect(refused).toMatchObject({
      release: undefined,
      allowance: { resource: 'concurrent_connections', limit: 64, remaining: 0, retryAfterMs: 1000 },
    })
    expect(admitted(await acquireMany(three, 3))).toHaveLength(0)
    admitted(answers)[0]!.release?.()
    // Told on the first node's connection: Redis may read another's before it.
    await until('the slot to be given back', async () => (await slotsTaken()) === 63)
    expect(admitted(await acquireMany([three[2]!], 3))).toHaveLength(1)
  })

  test('a refused request spends no token', async () => {
    const [node] = await startNodes(1)
    await acquireMany([node!], 64)
    const units = () => redis.command('HGET', `svc:test:{${TENANT}}:read`, 'units')
    const before = await units()
    expect(admitted(await acquireMany([node!], 10))).toHaveLength(0)
    expect(await units()).toBe(before)
  })

  test('a caller that is refused a token holds no slot', async () => {
    const [node] = await startNodes(1)
    await takeMany([node!], 'passes_count', 121)
    const answer = await node!.acquire(node!.meter(TENANT), 'passes_count')
    expect([answer.allowance.allowed, answer.release]).toEqual([false, undefined])
    expect(await redis.command('ZCARD', `svc:test:{${TENANT}}:slots`)).toBe(0)
  })

  test('the slots of a node that died are free when its leases end; those of a living one stay', async () => {
    const [dying, living] = await startNodes(2)
    const slots = `svc:test:{${TENANT}}:slots`
    const lost = admitted(await acquireMany([dying!], 40))
    const kept = admitted(await acquireMany([living!], 24))
    expect([lost.length, kept.length]).toEqual([40, 24])
    // A node that is closed renews nothing; here its requests never say that they ended.
    await dying!.close()
    const leases = (await redis.command('ZRANGE', slots, '0', '-1')) as string[]
    await redis.command('ZADD', slots, ...leases.flatMap((lease) => ['1', lease])) // half a minute later
    await until('the living node to renew its leases', async () => {
      const alive = await redis.command('ZCOUNT', slots, '2', '+inf')
      return alive === 24
    })
    expect(admitted(await acquireMany([living!], 50))).toHaveLength(40)
  })
})

describe('while Redis is away', () => {
  afterEach(async () => {
    redis.resume()
    await redis.kill()
    await redis.start()
  })

  const fallen = (node: RedisLimiter) => until('the fall back', () => !node.state().exact)
  const recovered = (node: RedisLimiter) => until('the return', () => node.state().exact)

  test('each node gives its share, says so, and is exact again by itself', async () => {
    const both = await startNodes(2)
    expect(both.map((node) => node.state())).toEqual(
      Array(2).fill({ exact: true, nodes: 2, fallbacks: 0, alone: 0 }),
    )
    await redis.kill()
    await Promise.all(both.map(fallen))
    for (const node of both) {
      const { taken, flowed } = await takeMeasured([node], 'passes_count', 100)
      expect(taken).toBeGreaterThanOrEqual(60)
      expect(taken).toBeLessThanOrEqual(60 + flowed)
    }
    expect((await both[0]!.take(both[0]!.meter(TENANT), 'passes_count')).limit).toBe(30)
    expect(both[0]!.state()).toEqual({ exact: false, nodes: 2, fallbacks: 1, alone: 101 })
    await redis.start()
    await Promise.all(both.map(recovered))
    expect(await takeMany(both, 'passes_write', 1010)).toBeGreaterThanOrEqual(1000)
    expect(both.map((node) => node.state().fallbacks)).toEqual([1, 1])
    expect(heard).toHaveLength(4)
    expect(heard.filter((each) => each === true)).toHaveLength(2)
  })

  test('tokens that a bucket had given before are not given again', async () => {
    const both = await startNodes(2)
    const began = performance.now()
    expect(await takeMany(both, 'passes_count', 120)).toBe(120)
    for (const node of both) await takeMany([node], 'passes_count', 1) // what each knows of the bucket is fresh
    await redis.kill()
    await Promise.all(both.map(fallen))
    expect(await takeMany(both, 'passes_count', 40)).toBeLessThanOrEqual(
      3 + flowedSince(began, 'passes_count'),
    )
  })

  test('slots are divided too, those that run already counted', async () => {
    const both = await startNodes(2)
    const running = admitted(await acquireMany([both[0]!], 30))
    await redis.kill()
    await Promise.all(both.map(fallen))
    expect(admitted(await acquireMany([both[0]!], 10))).toHaveLength(2)
    expect(admitted(await acquireMany([both[1]!], 40))).toHaveLength(32)
    for (const { release } of running) release?.()
    expect(admitted(await acquireMany([both[0]!], 40))).toHaveLength(30)
  })

  test('requests that came meanwhile and still run are known to the others afterwards', async () => {
    const both = await startNodes(2)
    await redis.kill()
    await Promise.all(both.map(fallen))
    expect(admitted(await acquireMany([both[0]!], 20))).toHaveLength(20)
    await redis.start()
    await Promise.all(both.map(recovered))
    expect(admitted(await acquireMany([both[1]!], 60))).toHaveLength(44)
  })

  test('a request to a Redis that holds still is given up within half a second, and no slot is lost to it', async () => {
    const [node] = await startNodes(1)
    redis.pause()
    const answers = admitted(await acquireMany([node!], 64))
    expect(answers).toHaveLength(64)
    expect(node!.state()).toMatchObject({ exact: false, fallbacks: 1, alone: 64 })
    for (const { release } of answers) release?.()
    redis.resume() // it now carries out what it had received: 64 slots for requests that are long over
    await recovered(node!)
    expect(admitted(await acquireMany([node!], 70))).toHaveLength(64)
  })

  test('slots that it gave and could not say so come back at once', async () => {
    const gate = await openGate(redis.url)
    const node = await createRedisLimiter({ url: gate.url, prefix: 'svc:test', beatMs: 60_000, retryMs: 50 })
    nodes.push(node)
    for (const { release } of admitted(await acquireMany([node], 1))) release?.() // the scripts are there from now on
    await until('the first slot to be free', async () => (await slotsTaken()) === 0)
    gate.close()
    const answers = admitted(await acquireMany([node], 64))
    expect([answers.length, node.state().alone]).toEqual([64, 64])
    for (const { release } of answers) release?.()
    expect(await slotsTaken()).toBe(64)
    gate.open()
    await until('the slots to come back', async () => node.state().exact && (await slotsTaken()) === 0)
    expect(admitted(await acquireMany([node], 70))).toHaveLength(64)
    gate.end()
  })

  test('a Redis that only reads counts as away', async () => {
    const [node] = await startNodes(1)
    await redis.command('REPLICAOF', '127.0.0.1', '1')
    const { allowance } = await node!.acquire(node!.meter(TENANT), 'read')
    expect([allowance.allowed, node!.state().exact]).toEqual([true, false])
    await redis.command('REPLICAOF', 'NO', 'ONE')
    await recovered(node!)
  })

  test('scripts are there before anything is asked for: none overtakes another', async () => {
    await redis.command('SCRIPT', 'FLUSH')
    await startNodes(1)
    const digests = [ACQUIRE, BEAT, DEPART, RELEASE, RENEW].map(({ digest }) => digest)
    expect(await redis.command('SCRIPT', 'EXISTS', ...digests)).toEqual([1, 1, 1, 1, 1])
  })

  test('scripts that Redis has forgotten are sent again', async () => {
    const [node] = await startNodes(1)
    await redis.command('SCRIPT', 'FLUSH')
    expect(await takeMany([node!], 'read', 50)).toBe(50)
    expect(node!.state()).toEqual({ exact: true, nodes: 1, fallbacks: 0, alone: 0 })
  })

  test('a node that starts without Redis checks alone until there is one', async () => {
    await redis.kill()
    const node = await createRedisLimiter({ url: redis.url, prefix: 'svc:test', retryMs: 50 })
    nodes.push(node)
    expect((await node.acquire(node.meter(TENANT), 'read')).allowance.allowed).toBe(true)
    expect(node.state()).toEqual({ exact: false, nodes: 1, fallbacks: 1, alone: 1 })
    await redis.start()
    await recovered(node)
  })
})
