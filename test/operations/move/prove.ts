/**
 * `npm run prove:move`: moves a tenant between two installations, forth and back, while it is served.
 *
 * Two services run with their own databases, on real sockets. Callers issue passes, send requests again with the same
 * idempotency key, and read; when an installation says that the account has moved, they go on at the other. Each round moves
 * the tenant to the other installation, as `RoundKind` describes: the command is killed at a step and run again, a killed
 * move is given up or left alone, an import is killed, a process sleeps through the move. After each round, every acknowledged
 * pass exists once, every webhook was sent once, a stream of events has each event once, sequences have no gap, the audit log
 * and the ledger are intact, and keys, OAuth tokens, cursors, pass links, devices, cards, named sandboxes and stored answers
 * work at the new place.
 *
 * Options: --rounds N (12), --seconds N (2): load before each move, --passes N (0): passes that the tenant has before,
 * --kinds A,B: only rounds of these kinds, --programs DIR: folder with `initdb` and `postgres` of a different PostgreSQL, which
 * the second installation then uses.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { inspect, parseArgs } from 'node:util'
import { findCluster } from '../../../runtime/database/embedded/cluster.ts'
import { findPostmaster, stopPostmaster } from '../../../runtime/database/embedded/postmaster.ts'
import { DEVELOPMENT } from '../../../runtime/passes/wallets/render/apple/development.ts'
import { createPassTokens } from '../../../runtime/passes/wallets/render/pass-tokens.ts'
import { type OwnNode, openNode } from '../../citus/cluster.ts'
import { issueToken } from '../../support/access-tokens.ts'
import { endPrograms, startService, until } from '../../support/programs.ts'
import { create, makeTemplate, startTraffic } from '../traffic.ts'
import { followEvents } from './event-stream.ts'
import { openPlace, type Place } from './place.ts'
import { type MoveFigures, moveIn, type RoundKind } from './rounds.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '2' },
    passes: { type: 'string', default: '0' },
    kinds: { type: 'string' },
    programs: { type: 'string' },
  },
})
const rounds = Number(values.rounds)
const loadMs = Number(values.seconds) * 1000

/** Rounds, in turn. */
const KINDS: readonly RoundKind[] = [
  'undisturbed',
  'copy',
  'fence',
  'compare',
  'leave',
  'arrive',
  'sometime',
  'abort',
  'import',
  'suspended',
  'back',
  'abandoned',
]

const kinds = (values.kinds?.split(',') as RoundKind[] | undefined) ?? KINDS

const WAIT_MS = 60_000
const PROBE_MS = 20

const root = mkdtempSync(join(tmpdir(), 'svc-move-'))
chmodSync(root, 0o711)
/** The server of the second installation, if it has not its own. */
let server: OwnNode | undefined
/** Ends what was started, at whatever point, and removes the folder. */
async function cleanUp(): Promise<void> {
  await endPrograms()
  await server?.stop()
  for (const name of ['a', 'b']) {
    const cluster = findCluster(join(root, name))
    const postmaster = cluster && findPostmaster(cluster.data)
    if (postmaster) await stopPostmaster(postmaster.pid, cluster.data)
  }
  rmSync(root, { recursive: true, force: true, maxRetries: 5 })
}

let ending: Promise<void> | undefined
/** Says the first reason only: the callers fail too when the services end. */
async function fail(reason: unknown): Promise<never> {
  if (!ending) process.stderr.write(`${inspect(reason)}\n`)
  ending ??= cleanUp()
  await ending
  process.exit(1)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, fail)
process.on('uncaughtException', fail)

const print = (line: string) => void process.stdout.write(`${line}\n`)

/** How often each event arrived. */
const received = new Map<string, number>()
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    const id = String(request.headers['service-event-id'])
    received.set(id, (received.get(id) ?? 0) + 1)
    response.end()
  })
})
await once(receiver.listen(0, '127.0.0.1'), 'listening')
const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

async function ask(
  url: string,
  secret: string,
  path: string,
  body?: object,
  key?: string,
): Promise<Answered> {
  const response = await fetch(`${url}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      Authorization: `Bearer ${secret}`,
      ...(body && { 'Content-Type': 'application/json', 'Idempotency-Key': key ?? randomUUID() }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

function expectSame(what: string, found: unknown, expected: unknown): void {
  if (JSON.stringify(found) === JSON.stringify(expected)) return
  throw new Error(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`)
}

/** Writes all the time, and measures the longest time without a success. */
function startProbe(current: () => string, secret: string, templateId: string) {
  let [stopped, last, longest] = [false, performance.now(), 0]
  const run = async () => {
    while (!stopped && process.exitCode === undefined) {
      const { status } = await ask(current(), secret, '/v1/passes', { template_id: templateId })
      const now = performance.now()
      if (status === 201) {
        longest = Math.max(longest, now - last)
        last = now
      }
      await wait(PROBE_MS)
    }
  }
  const running = run().catch((error: unknown) => inspect(error))
  return {
    /** Waits for the next success. */
    async succeed() {
      const before = last
      await until('a pass to be issued', () => last > before, WAIT_MS)
    },
    takeLongest() {
      const pause = longest
      longest = 0
      return pause
    },
    async stop() {
      stopped = true
      expectSame('the end of the probe', await running, undefined)
    },
  }
}

server = values.programs === undefined ? undefined : await openNode(values.programs, {})
const SHARED = { SVC_PEPPER: randomBytes(32).toString('hex') }
const first = await openPlace(root, 'a', { ...SHARED, SVC_CARD_SECRET: randomBytes(32).toString('hex') })
const second = await openPlace(
  root,
  'b',
  {
    ...SHARED,
    SVC_CARD_SECRET: randomBytes(32).toString('hex'),
    ...(server && { DATABASE_URL: server.url }),
  },
  join(first.dataDir, 'wallet'),
)
const tenantId = String(first.ready.tenant_id)
const secret = (first.ready.keys as Record<string, string>).sandbox_secret!
const liveSecret = (first.ready.keys as Record<string, string>).live_secret!
const tokens = createPassTokens(SHARED.SVC_PEPPER, 'sandbox')
const device = randomBytes(16).toString('hex')

/** Creates one of each, and remembers what must be the same afterwards. */
async function prepare({ url }: Place) {
  const templateId = await makeTemplate(url, secret)
  await create(url, secret, '/v1/webhook-endpoints', { url: hook, enabled_events: ['*'] })
  const passId = await create(url, secret, '/v1/passes', { template_id: templateId })
  await register(url, { space: tenantId, passId })
  await ask(url, secret, '/v1/test/funding', { amount: 100_000 })
  const cardholderId = await create(url, secret, '/v1/cardholders', { name: 'Ada Moreau' })
  const cardId = await create(url, secret, '/v1/cards', { cardholder_id: cardholderId, type: 'virtual' })
  const details = (await ask(url, secret, `/v1/cards/${cardId}/details`)).text
  const box = await ask(url, secret, '/v1/sandboxes', { name: 'Staging' })
  const boxSecret = (JSON.parse(box.text) as { secret_key: string }).secret_key
  const boxTemplate = await makeTemplate(url, boxSecret)
  const key = randomUUID()
  const body = { template_id: templateId, metadata: { once: 'only' } }
  const stored = (await ask(url, secret, '/v1/passes', body, key)).text
  const cursor = (JSON.parse((await ask(url, secret, '/v1/passes?limit=1')).text) as { next_cursor: string })
    .next_cursor
  const [member] = await first.read<{ id: string }>('SELECT id FROM control.members WHERE tenant_id = $1', [
    tenantId,
  ])
  const control = { query: ({ text }: { text: string }, values: unknown[]) => first.read(text, values) }
  const deployment = { control, pepper: SHARED.SVC_PEPPER }
  const token = await issueToken(deployment, { tenantId, memberId: member!.id }, 'sandbox')
  return {
    templateId,
    passId,
    cardId,
    details,
    token: token.secret,
    boxSecret,
    boxTemplate,
    key,
    body,
    stored,
    cursor,
  }
}

/** Copies a pass. IDs ascend in the order of the rows, as those of real passes do. */
const FILL = `INSERT INTO sandbox.passes
  SELECT r.* FROM sandbox.passes p, generate_series(1, $2::integer) AS i,
         LATERAL jsonb_populate_record(p, jsonb_build_object('id', 'pass_01' || lpad(i::text, 24, '0'), 'page_token', md5(i || 'p'))) AS r
   WHERE p.id = $1`

const PASS_TYPE = DEVELOPMENT.passType

async function register(url: string, place: { space: string; passId: string }): Promise<void> {
  const path = `${url}/apple/v1/devices/${device}/registrations/${PASS_TYPE}/${place.passId}`
  const answer = await fetch(path, {
    method: 'POST',
    headers: { Authorization: `ApplePass ${tokens.write('apple', place)}` },
    body: JSON.stringify({ pushToken: randomBytes(32).toString('hex') }),
  })
  expectSame('the registration of the device', answer.status, 201)
}

type Prepared = Awaited<ReturnType<typeof prepare>>

/** Everything that callers, holders and devices knew before works at the place. */
async function check(place: Place, made: Prepared): Promise<void> {
  const { url } = place
  expectSame(
    'the live key',
    (await ask(place.ready.live_base_url as string, liveSecret, '/v1/me')).status,
    200,
  )
  const again = await ask(url, secret, '/v1/passes', made.body, made.key)
  expectSame(
    'the stored answer',
    [again.text, again.headers.get('idempotency-replayed')],
    [made.stored, 'true'],
  )
  expectSame('the OAuth token', (await ask(url, made.token, '/v1/passes?limit=1')).status, 200)
  const page = await ask(url, secret, `/v1/passes?limit=1&starting_after=${made.cursor}`)
  expectSame('the cursor', page.status, 200)
  expectSame('the card', (await ask(url, secret, `/v1/cards/${made.cardId}/details`)).text, made.details)
  const use = { card_id: made.cardId, amount: 1, merchant: { name: 'A', category_code: '5812' } }
  const used = JSON.parse((await ask(url, secret, '/v1/test/cards/simulate_authorization', use)).text)
  expectSame('the card use', used.status, 'authorized')
  const boxed = await ask(url, made.boxSecret, `/v1/pass_templates/${made.boxTemplate}`)
  expectSame('the named sandbox', boxed.status, 200)
  const holder = { space: tenantId, passId: made.passId }
  expectSame('the pass page', (await fetch(`${url}/p/${tokens.write('page', holder)}`)).status, 200)
  const serials = await fetch(`${url}/apple/v1/devices/${device}/registrations/${PASS_TYPE}`)
  const listed = (await serials.json()) as { serialNumbers: string[] }
  expectSame('the passes of the device', listed.serialNumbers, [made.passId])
  const file = await fetch(`${url}/apple/v1/passes/${PASS_TYPE}/${made.passId}`, {
    headers: { Authorization: `ApplePass ${tokens.write('apple', holder)}` },
  })
  expectSame('the pass file', [file.status, (await file.arrayBuffer()).byteLength > 1000], [200, true])
  await until(
    'the card to be in the directory',
    async () =>
      (await place.read('SELECT FROM control.card_directory WHERE card_id = $1', [made.cardId])).length === 1,
    WAIT_MS,
  )
}

/** Nothing is lost, nothing is doubled, and the chains are whole. */
async function verify(place: Place, issued: readonly { readonly id: string; readonly key: string }[]) {
  for (const environment of ['sandbox', 'live'])
    await place.admin('audit', 'verify', '--tenant', tenantId, '--env', environment)
  await place.admin('ledger', 'verify', '--tenant', tenantId)
  // Callers issue passes meanwhile, which this read may not show.
  const acknowledged = [...issued]
  const passes = await place.read<{ id: string; key: string | null }>(
    `SELECT id, metadata ->> 'key' AS key FROM sandbox.passes WHERE tenant_id = $1`,
    [tenantId],
  )
  const stored = new Set(passes.map(({ id }) => id))
  const keys = passes.flatMap(({ key }) => key ?? [])
  const lost = acknowledged.filter(({ id }) => !stored.has(id)).length
  const doubled = keys.length - new Set(keys).size
  const [gaps] = await place.read<{ gaps: string }>(
    `SELECT (max(sequence) - min(sequence) + 1 - count(*))::text AS gaps FROM sandbox.events WHERE tenant_id = $1`,
    [tenantId],
  )
  expectSame('gaps in the sequence of events', gaps!.gaps, '0')
  const wanted = await place.read<{ id: string }>(
    `SELECT e.id FROM sandbox.events e
      WHERE e.tenant_id = $1 AND e.sequence > (SELECT min(since) FROM sandbox.webhook_endpoints WHERE tenant_id = $1)`,
    [tenantId],
  )
  const outstanding = () => wanted.filter(({ id }) => !received.has(id)).length
  // Callers can issue passes faster than webhooks are sent: it takes as long as more of them arrive.
  for (let left = outstanding(); left > 0; left = outstanding())
    await until('more events to be delivered', () => outstanding() < left, WAIT_MS).catch(
      (error: unknown) => {
        throw new Error(`${left} of ${wanted.length} events were not delivered`, { cause: error })
      },
    )
  const again = [...received.values()].filter((times) => times > 1).length
  expectSame('lost passes, doubled passes, webhooks sent again', [lost, doubled, again], [0, 0, 0])
}

/** Sends a write to a process that is suspended during the move, and continues afterwards with what it knew before. */
async function suspended(from: Place, move: () => Promise<MoveFigures>): Promise<MoveFigures> {
  const node = startService(from.env, ['--json', '--role', 'api'])
  const url = String((await node.ready()).sandbox_base_url)
  const templateId = await makeTemplate(url, secret)
  node.child.kill('SIGSTOP')
  const late = Array.from({ length: 10 }, () => ask(url, secret, '/v1/passes', { template_id: templateId }))
  const answered = Promise.all(late)
  const moved = await move()
  const count = () => from.read('SELECT id FROM sandbox.passes WHERE tenant_id = $1', [tenantId])
  const before = (await count()).length
  node.child.kill('SIGCONT')
  expectSame('what the process answers', new Set((await answered).map(({ status }) => status)).size, 1)
  expectSame('what the process answers', (await answered)[0]!.status, 503)
  expectSame('the passes at the source', (await count()).length, before)
  await node.end()
  return moved
}

const HEAD = `| round | move | kind | rows | rounds | lost | doubled | pause, command (ms) | pause, caller (ms) | passes | webhooks | streamed |
|---|---|---|---|---|---|---|---|---|---|---|---|`

async function eventsOf(place: Place): Promise<readonly string[]> {
  const text = 'SELECT id FROM sandbox.events WHERE tenant_id = $1 ORDER BY sequence'
  return (await place.read<{ id: string }>(text, [tenantId])).map(({ id }) => id)
}

let [here, there] = [first, second]
try {
  for (const bucket of ['read', 'passes_write', 'cards_write'])
    await here.admin(
      ...['limit', 'lift', '--tenant', tenantId, '--env', 'sandbox'],
      ...['--bucket', bucket, '--factor', '1000', '--hours', '5'],
    )
  const made = await prepare(here)
  await here.read(FILL, [made.passId, Number(values.passes)])
  const traffic = startTraffic(here.url, secret, made.templateId)
  const probe = startProbe(() => here.url, secret, made.templateId)
  const stream = followEvents(() => here.url, secret)
  const table: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const kind = kinds[round % kinds.length]!
    await wait(loadMs)
    probe.takeLongest()
    const moved = await moveIn(kind, {
      from: here,
      to: there,
      tenantId,
      root,
      succeed: probe.succeed,
      refuse: suspended,
    })
    ;[here, there] = [there, here]
    traffic.nodes.add(here.url)
    traffic.nodes.delete(there.url)
    await probe.succeed()
    await wait(loadMs)
    const pause = probe.takeLongest()
    await check(here, made)
    const refused = await ask(there.url, secret, '/v1/me')
    expectSame('the place before', [refused.status, refused.headers.get('retry-after')], [503, '1'])
    await verify(here, traffic.issued)
    expectSame(
      'answers that are neither a success nor 503 with Retry-After',
      traffic.failures.slice(0, 3),
      [],
    )
    const streamed = await stream.compare(await eventsOf(here))
    const figures = [moved.rows, moved.rounds, 0, 0, moved.pause_ms, Math.round(pause)].map(
      (figure) => figure ?? '',
    )
    table.push(
      `| ${[round + 1, `${there.name} to ${here.name}`, kind, ...figures, traffic.issued.length, received.size, streamed].join(' | ')} |`,
    )
    print(table.at(-1)!)
  }
  await traffic.stop()
  await probe.stop()
  await stream.stop()
  print(`\n${HEAD}\n${table.join('\n')}\n${traffic.postponed()} requests were postponed.`)
} catch (error) {
  await fail(error)
}
await cleanUp()
process.exit()
