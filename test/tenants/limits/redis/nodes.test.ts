/** Two nodes of one deployment, as processes, behind one Redis. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createKey } from '../../../../runtime/tenants/admin/keys.ts'
import { createTenant } from '../../../../runtime/tenants/admin/tenants.ts'
import { type DemoDatabase, openDemoDatabase } from '../../../support/database.ts'
import { endPrograms, type Program, startProgram, startService, until } from '../../../support/programs.ts'
import { startRedis, type TestRedis } from '../../../support/redis.ts'

interface Node {
  readonly program: Program
  readonly api: string
  readonly console: string
}

let db: DemoDatabase
let redis: TestRedis
let nodes: readonly Node[]

const env = () => ({ DATABASE_URL: db.url, SVC_PEPPER: db.pepper, REDIS_URL: redis.url })

async function startNode(): Promise<Node> {
  const program = startService(env(), ['--json'])
  const line = await program.ready()
  return { program, api: String(line.sandbox_base_url), console: String(line.console_url) }
}

beforeAll(async () => {
  ;[db, redis] = await Promise.all([openDemoDatabase('2026-05-19'), startRedis()])
  nodes = await Promise.all([startNode(), startNode()])
  await until('both to know of each other', async () => {
    const counts = await Promise.all(nodes.map((node) => metric(node, 'svc_limits_nodes')))
    return counts.every((count) => count === 2)
  })
})
afterAll(async () => {
  await endPrograms()
  await redis.kill()
  await db.close()
})
afterEach(() => redis.resume())

async function metric({ console }: Node, name: string): Promise<number> {
  const text = await (await fetch(`${console}/metrics`)).text()
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
}

/** The secret of a tenant that nobody has counted anything of. */
async function makeSecret(): Promise<string> {
  const { id } = await createTenant(db.operator, { name: 'Harbour Coffee', plan: 'enterprise' }, '2026-05-19')
  return (await createKey(db.operator, { tenantId: id, environment: 'sandbox' })).secret
}

/** So many requests, in turn to each node, a few at a time; their statuses. */
async function ask(secret: string, path: string, count: number, from = nodes): Promise<Response[]> {
  const answers: Response[] = []
  while (answers.length < count) {
    const some = Array.from({ length: Math.min(20, count - answers.length) }, (_, index) =>
      fetch(from[index % from.length]!.api + path, { headers: { Authorization: `Bearer ${secret}` } }),
    )
    answers.push(...(await Promise.all(some)))
  }
  await Promise.all(answers.map((answer) => answer.text()))
  return answers
}

const allowed = (answers: readonly Response[]) => answers.filter(({ status }) => status === 200).length

test('a bucket is one for both nodes', async () => {
  const secret = await makeSecret()
  const began = performance.now()
  const answers = await ask(secret, '/v1/passes/count', 160)
  const flowed = Math.ceil(((performance.now() - began) * 60) / 60_000)
  expect(allowed(answers)).toBeGreaterThanOrEqual(120)
  expect(allowed(answers)).toBeLessThanOrEqual(120 + flowed)
  const refused = answers.find(({ status }) => status === 429)!
  expect(refused.headers.get('X-RateLimit-Resource')).toBe('passes_count')
  expect(Number(refused.headers.get('Retry-After'))).toBe(1)
})

/** Of all tenants together, as Redis counts them. */
async function slotsTaken(): Promise<number> {
  const keys = (await redis.command('KEYS', '*:slots')) as string[]
  const counts = await Promise.all(keys.map((key) => redis.command('ZCARD', key)))
  return counts.reduce<number>((total, count) => total + Number(count), 0)
}

test('slots are one for both nodes, and come back', async () => {
  const secret = await makeSecret()
  const headers = { Authorization: `Bearer ${secret}` }
  await ask(secret, '/v1/me', 4)
  await until('their slots to be given back', async () => (await slotsTaken()) === 0)
  const slow = await db.control.transaction(async (tx) => {
    await tx.query({ text: 'LOCK TABLE sandbox.passes' })
    const slow = Array.from({ length: 64 }, (_, index) =>
      fetch(`${nodes[index % 2]!.api}/v1/passes`, { headers }),
    )
    const early: string[] = []
    const note = async (answer: Response) => early.push(await answer.clone().text())
    for (const each of slow) each.then(note).catch(() => {}) // it fails below
    await until('all slots to be taken', async () => {
      if (early.length > 0) throw new Error(`answered although the table is locked: ${early[0]}`)
      return (await slotsTaken()) === 64
    })
    for (const { api } of nodes) {
      const answer = await fetch(`${api}/v1/me`, { headers })
      expect([answer.status, answer.headers.get('X-RateLimit-Resource')]).toEqual([
        429,
        'concurrent_connections',
      ])
    }
    return slow
  })
  const answers = await Promise.all(slow)
  expect(allowed(answers)).toBe(64)
  await until('every slot to be free', async () => (await slotsTaken()) === 0)
})

test('requests without a key count against the address on both nodes', async () => {
  const statuses = new Set<number>()
  // More than the bucket holds, and than flows in meanwhile on a slow machine.
  for (let count = 0; count < 6000 && !statuses.has(429); count += 100) {
    for (const { status } of await ask('nonsense', '/v1/me', 100)) statuses.add(status)
  }
  expect(statuses).toEqual(new Set([401, 429]))
})

test('Redis dies: both nodes go on with half of everything, say so, and share again when it is back', async () => {
  const secret = await makeSecret()
  await ask(secret, '/v1/me', 4)
  await redis.kill()
  await until('both to notice', async () => {
    const exact = await Promise.all(nodes.map((node) => metric(node, 'svc_limits_exact')))
    return exact.every((value) => value === 0)
  })
  for (const node of nodes) {
    const began = performance.now()
    const answers = await ask(secret, '/v1/passes/count', 80, [node])
    const flowed = Math.ceil(((performance.now() - began) * 30) / 60_000)
    expect(allowed(answers)).toBeGreaterThanOrEqual(60)
    expect(allowed(answers)).toBeLessThanOrEqual(60 + flowed)
    expect(answers[0]?.headers.get('X-RateLimit-Limit')).toBe('30')
    expect(await metric(node, 'svc_limits_fallbacks_total')).toBe(1)
    expect(await metric(node, 'svc_limits_alone_total')).toBeGreaterThanOrEqual(80)
    expect((await fetch(`${node.api}/readyz`)).status).toBe(200)
    expect(node.program.stderr()).toMatch(/Redis is unavailable: this node enforces its share/)
  }
  await redis.start()
  await until('both to share again', async () => {
    const exact = await Promise.all(nodes.map((node) => metric(node, 'svc_limits_exact')))
    return exact.every((value) => value === 1)
  })
  const again = await makeSecret()
  const began = performance.now()
  const answers = await ask(again, '/v1/passes/count', 130)
  const flowed = Math.ceil(((performance.now() - began) * 60) / 60_000)
  expect(allowed(answers)).toBeLessThanOrEqual(120 + flowed)
  for (const { program } of nodes) expect(program.stderr()).toMatch(/limits are exact across nodes again/)
})

test('Redis holds still: requests are answered all the same', async () => {
  const secret = await makeSecret()
  await ask(secret, '/v1/me', 4)
  redis.pause()
  const answers = await ask(secret, '/v1/me', 40)
  expect(allowed(answers)).toBe(40)
  redis.resume()
  await until('both to share again', async () => {
    const exact = await Promise.all(nodes.map((node) => metric(node, 'svc_limits_exact')))
    return exact.every((value) => value === 1)
  })
})

test('the doctor finds it well, and says when it would forget', async () => {
  const diagnose = async () => {
    const { stdout } = await startProgram(
      process.execPath,
      ['runtime/operator/command/doctor.ts', '--role', 'worker'],
      env(),
    ).ended
    return /^(\w+) +Redis +(.+)$/m.exec(stdout)?.slice(1)
  }
  expect(await diagnose()).toEqual(['ok', expect.stringMatching(/^\d+\.\d+\.\d+ at 127\.0\.0\.1:\d+$/)])
  await redis.command('CONFIG', 'SET', 'maxmemory', '100mb')
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  expect(await diagnose()).toEqual(['warn', expect.stringMatching(/noeviction/)])
})

test('a node that leaves is no longer counted', async () => {
  const [leaving, staying] = nodes
  expect((await leaving!.program.end()).code).toBe(0)
  await until('it to be forgotten', async () => (await metric(staying!, 'svc_limits_nodes')) === 1)
})
