/**
 * `npm run bench:cards`: authorizations per second, through the API and through the network's door, each beside the same
 * decision written by hand (cards-by-hand.ts), on one database, in one run. Rounds alternate; medians are printed. A tenant
 * has 64 cards, each with a limit by month. Then the 99th percentile of one tenant, alone and while the authorization
 * endpoint of another hangs, in alternating rounds.
 *
 * Through the door, both take the same message over HTTPS with a client certificate, check its signature, find the card by a
 * keyed digest of its number, and sign their answer. The service also remembers each message, so that a repetition gets the
 * same answer; the one by hand does not.
 *
 * Options: --rounds N (5), --seconds S (3), --rows N (0): transactions that the first tenant has before, --only api|door.
 */
import { spawn } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import pg from 'pg'
import { current } from '../../generated/versions.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { signBody } from '../../runtime/events/outbound/signing.ts'
import { type SimulatorAccess, setUpAccess } from '../../runtime/operator/network-simulator.ts'
import { readSettings } from '../../runtime/platform/settings.ts'
import type { Operator } from '../../runtime/tenants/admin/change.ts'
import { createKey } from '../../runtime/tenants/admin/keys.ts'
import { liftLimit } from '../../runtime/tenants/admin/limits.ts'
import { createTenant } from '../../runtime/tenants/admin/tenants.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { BENCH_PEPPER } from './bench-database.ts'
import { startDemoService } from './demo-service.ts'
import { processorSeconds, SESSION, serverSeconds } from './processor.ts'
import { type Scratch, withScratch } from './scratch.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    rows: { type: 'string', default: '0' },
    only: { type: 'string' },
  },
})

const TENANTS = 64
const CARDS = 64
const LIMIT = 100_000_000_000_000

/** Whose card is used, and with which key. */
interface Use {
  readonly key: string
  readonly card: string
  readonly number: string
}

interface Target {
  readonly name: string
  /** Of the target, and of a session of its PostgreSQL. */
  readonly pids: readonly [number, number]
  readonly url: string
  /** Of the client, for HTTPS. */
  readonly tls?: Pick<SimulatorAccess, 'cert' | 'key' | 'ca'>
  write(use: Use): { readonly headers: Readonly<Record<string, string>>; readonly body: string }
}

const PATH = '/v1/test/cards/simulate_authorization'
const DOOR_PATH = '/v1/authorizations'
const MERCHANT = { name: 'Harbor Diner', category_code: '5812' }

/** A request of the API. */
const viaApi = ({ key, card }: Use) => ({
  headers: {
    'content-type': 'application/json',
    authorization: `Bearer ${key}`,
    'service-version': current,
    'idempotency-key': randomUUID(),
  },
  body: JSON.stringify({ card_id: card, amount: 100, merchant: MERCHANT }),
})

/** A message of the network. */
const viaDoor =
  (signingKey: string) =>
  ({ number }: Use) => {
    const [message_id, now] = [randomUUID(), Date.now()]
    const sent_at = new Date(now).toISOString()
    const about = { message_id, transaction_id: message_id, sent_at, card_number: number }
    const body = JSON.stringify({ ...about, amount: 100, currency: 'usd', merchant: MERCHANT })
    const signature = signBody([signingKey], body, Math.floor(now / 1000))
    return { headers: { 'content-type': 'application/json', 'network-signature': signature }, body }
  }

/** How a target did. */
interface Figures {
  readonly perSecond: number
  /** Milliseconds. */
  readonly p99: number
  /** Milliseconds of processor for each authorization: of the target, of PostgreSQL, and of the clients. */
  readonly processor: readonly number[]
}

async function measure(
  { name, pids, url, tls, write }: Target,
  uses: readonly Use[],
  connections: number,
): Promise<Figures> {
  let next = 0
  const setupRequest = (request: autocannon.Request) => ({
    ...request,
    ...write(uses[next++ % uses.length]!),
  })
  const used = () => [processorSeconds(pids[0]), serverSeconds(pids[1]), processorSeconds(process.pid)]
  const before = used()
  const result = await autocannon({
    url,
    method: 'POST',
    connections,
    ...(tls && { tlsOptions: tls }),
    duration: Number(options.seconds),
    requests: [{ setupRequest }],
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${name}: ${result.non2xx} answers without success, ${result.errors} errors`)
  }
  return {
    perSecond: result['2xx'] / result.duration,
    p99: result.latency.p99,
    processor: used().map((seconds, place) => ((seconds - before[place]!) * 1000) / result['2xx']),
  }
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/**
 * A tenant with cards that may spend nearly all there is, each used once: tables are never planned for as empty ones. Gives its
 * key and their ids.
 *
 * @param endpoint asked about its authorizations from then on.
 */
async function makeTenant(
  operator: Operator,
  origin: string,
  cards: number,
  endpoint?: string,
): Promise<Use[]> {
  const { id: tenantId } = await createTenant(operator, { name: 'Bench', plan: 'enterprise' }, current)
  const { secret } = await createKey(operator, { tenantId, environment: 'sandbox', scope: 'admin' })
  for (const bucket of ['read', 'cards_write', 'concurrent_connections']) {
    await liftLimit(operator, { tenantId, environment: 'sandbox', bucket, factor: 1000, hours: 1 })
  }
  const call = async (path: string, body?: object, method = body ? 'POST' : 'GET') => {
    const response = await fetch(origin + path, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { readonly id: string; readonly number: string }
  }
  const send = async (...words: Parameters<typeof call>) => (await call(...words)).id
  await send('/v1/test/funding', { amount: LIMIT })
  const cardholder_id = await send('/v1/cardholders', { name: 'Ada Moreau' })
  const spending_controls = { spending_limits: [{ amount: LIMIT, interval: 'monthly' }] }
  const made: Use[] = []
  for (let n = 0; n < cards; n += 1) {
    const card = await send('/v1/cards', { cardholder_id, type: 'virtual', spending_controls })
    await send(PATH, { card_id: card, amount: 100, merchant: MERCHANT })
    const { number } = await call(`/v1/cards/${card}/details`)
    made.push({ key: secret, card, number })
  }
  if (endpoint !== undefined) {
    await send('/v1/authorization_endpoint', { url: endpoint, timeout_ms: 2000 }, 'PUT')
  }
  return made
}

/** Of the digests by which the one by hand finds cards. */
const NUMBER_KEY = 'numbers of the bench'
const digestNumber = (number: string) => createHmac('sha256', NUMBER_KEY).update(number).digest()

/** The same cards for the one by hand, an account for each tenant. */
const BY_HAND = `
  CREATE SCHEMA by_hand;
  CREATE TABLE by_hand.accounts (id text PRIMARY KEY, balance bigint NOT NULL, held bigint NOT NULL);
  CREATE TABLE by_hand.cards (id text PRIMARY KEY, number_digest bytea UNIQUE, account_id text NOT NULL REFERENCES by_hand.accounts, status text NOT NULL,
    blocked text[] NOT NULL, monthly_limit bigint NOT NULL);
  CREATE TABLE by_hand.transactions (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), card_id text NOT NULL REFERENCES by_hand.cards,
    amount bigint NOT NULL, merchant jsonb NOT NULL, status text NOT NULL, created timestamptz NOT NULL DEFAULT now());
  CREATE INDEX ON by_hand.transactions (card_id, created);
  INSERT INTO by_hand.accounts SELECT DISTINCT tenant_id, ${LIMIT}, 0 FROM sandbox.cards;
  INSERT INTO by_hand.cards SELECT id, NULL, tenant_id, 'active', '{}', ${LIMIT} FROM sandbox.cards;
  INSERT INTO by_hand.transactions (card_id, amount, merchant, status)
  SELECT id, 100, '{"name": "Harbor Diner"}', 'authorized' FROM by_hand.cards`

/** Cleared in this month, spread over the tenant's cards; in both tables. */
const BEFORE = `
  WITH card AS (
    SELECT tenant_id, id, cardholder_id, row_number() OVER (ORDER BY id) - 1 AS n, count(*) OVER () AS cards
      FROM sandbox.cards WHERE tenant_id = (SELECT tenant_id FROM sandbox.cards WHERE id = $2)
  ), made AS (
    INSERT INTO by_hand.transactions (card_id, amount, merchant, status)
    SELECT card.id, 1, '{"name": "Harbor Diner"}', 'authorized' FROM generate_series(1, $1::int) g JOIN card ON card.n = g % card.cards
  ), counted AS (
    INSERT INTO sandbox.card_spending (tenant_id, card_id, granularity, period, category, amount, authorizations)
    SELECT tenant_id, id, p.*, '5812', $1 / cards, $1 / cards FROM card
     CROSS JOIN (VALUES ('day', current_date), ('month', date_trunc('month', current_date)::date), ('all', date '1970-01-01')) p
    ON CONFLICT (tenant_id, card_id, granularity, period, category)
    DO UPDATE SET amount = card_spending.amount + excluded.amount, authorizations = card_spending.authorizations + excluded.authorizations
  )
  INSERT INTO sandbox.card_transactions (tenant_id, id, card_id, cardholder_id, type, status, merchant, category, currency, requested,
    authorized, held, cleared, refunded, reversed, rules, history, metadata, created, updated)
  SELECT card.tenant_id, 'ctx_' || lpad(g::text, 26, '0'), card.id, card.cardholder_id, 'purchase', 'cleared',
         '{"name": "Harbor Diner", "category_code": "5812", "network_id": null, "city": null, "country": "US"}', '5812', 'usd',
         1, 1, 0, 1, 0, 0, '[]', '[]', '{}', now(), now()
    FROM generate_series(1, $1::int) g JOIN card ON card.n = g % card.cards`

async function startByHand(
  scratch: Scratch,
  url: string,
  access: SimulatorAccess,
): Promise<{ readonly pid: number; readonly api: string; readonly door: string }> {
  const env = {
    ...{ DATABASE_URL: url, NUMBER_KEY, SIGNING_KEY: access.signingKey },
    ...{ SERVER_PEM: join(scratch.directory, 'network', 'server.pem'), CLIENT_PEM: access.cert },
  }
  const child = spawn(process.execPath, ['test/bench/cards-by-hand.ts'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  scratch.own(child)
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { ...JSON.parse(String(line)), pid: child.pid }
}

/** An endpoint that takes questions and never answers. */
async function startHanging({ atEnd }: Scratch): Promise<string> {
  const server = createServer(() => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A way in, by hand and of the service. */
interface Pair {
  readonly name: 'api' | 'door'
  readonly byHand: Target
  readonly service: Target
}

interface Made {
  readonly pairs: readonly Pair[]
  /** Of one tenant, and one of each. */
  readonly one: readonly Use[]
  readonly many: readonly Use[]
  /** Whose endpoint never answers. */
  readonly hanging: readonly Use[]
}

async function makeTargets(scratch: Scratch): Promise<Made> {
  const { url, origin, network, pid } = await startDemoService(scratch, {
    SVC_WEBHOOK_ALLOW: '127.0.0.0/8',
    NETWORK_PORT: '0',
  })
  const database = await openDatabase({
    databaseUrl: url,
    pepper: BENCH_PEPPER,
    dataDir: '/nowhere',
    poolSize: 4,
    preparedStatements: true,
  })
  const operator = { control: database.control, clock: createClock(), pepper: BENCH_PEPPER }
  const settings = readSettings({ DATA_DIR: scratch.directory })
  const access = await setUpAccess(operator, settings, 'sandbox')
  const one = await makeTenant(operator, origin, CARDS)
  const many = [one[0]!]
  while (many.length < TENANTS) many.push(...(await makeTenant(operator, origin, 1)))
  const hanging = await makeTenant(operator, origin, CARDS, await startHanging(scratch))
  await database.close()
  const db = new pg.Client({ connectionString: url })
  await db.connect()
  await db.query(BY_HAND)
  for (const { card, number } of [...one, ...many])
    await db.query('UPDATE by_hand.cards SET number_digest = $2 WHERE id = $1', [card, digestNumber(number)])
  if (Number(options.rows) > 0) await db.query(BEFORE, [Number(options.rows), one[0]!.card])
  await db.query('VACUUM ANALYZE')
  const session = (await db.query<{ pid: number }>(SESSION)).rows[0]!.pid
  scratch.atEnd(() => db.end())
  const hand = await startByHand(scratch, url, access)
  const door = { tls: access, write: viaDoor(access.signingKey) }
  const byHand = { name: 'by hand', pids: [hand.pid, session] } as const
  const service = { name: 'service', pids: [pid, session] } as const
  const pairs: readonly Pair[] = [
    {
      name: 'api',
      byHand: { ...byHand, url: hand.api + PATH, write: viaApi },
      service: { ...service, url: origin + PATH, write: viaApi },
    },
    {
      name: 'door',
      byHand: { ...byHand, url: hand.door + DOOR_PATH, ...door },
      service: { ...service, url: network + DOOR_PATH, ...door },
    },
  ]
  return { pairs: pairs.filter(({ name }) => name === (options.only ?? name)), one, many, hanging }
}

/** Clients of the tenant that is measured, which with more would be held to its share beside any other, and of the one whose endpoint hangs. */
const MEASURED = 1
const HANGING = 16

/** Milliseconds, alone and beside. */
async function measureBesideHanging(
  service: Target,
  { one, hanging }: Made,
): Promise<readonly [number, number]> {
  const [alone, beside]: [number[], number[]] = [[], []]
  for (let round = 0; round < Number(options.rounds); round += 1) {
    alone.push((await measure(service, one, MEASURED)).p99)
    const [{ p99 }] = await Promise.all([measure(service, one, MEASURED), measure(service, hanging, HANGING)])
    beside.push(p99)
  }
  return [median(alone), median(beside)]
}

async function compare({ name, byHand, service }: Pair, made: Made): Promise<void> {
  const targets = [byHand, service]
  const scenarios = [
    ['one tenant, 1 client', 'one', 1],
    ['one tenant, 16 clients', 'one', 16],
    ['one tenant, 64 clients', 'one', 64],
    ['64 tenants, 64 clients', 'many', 64],
  ] as const
  const title = `authorizations per second, ${name}`.padEnd(32)
  console.log(
    `${title} by hand  service  ratio  p99 (ms)  processor of process, PostgreSQL and clients (ms each)   (${options.rows} transactions before)`,
  )
  for (const [what, uses, connections] of scenarios) {
    const figures = new Map<Target, Figures[]>(targets.map((target) => [target, []]))
    for (let round = 0; round <= Number(options.rounds); round += 1) {
      for (const target of targets) {
        const figure = await measure(target, made[uses], connections)
        if (round > 0) figures.get(target)!.push(figure) // the first warms up
      }
    }
    const [hand, own] = targets.map((target) =>
      median(figures.get(target)!.map(({ perSecond }) => perSecond)),
    )
    const columns = [
      hand!.toFixed(0).padStart(7),
      own!.toFixed(0).padStart(8),
      (own! / hand!).toFixed(2).padStart(6),
      median(figures.get(service)!.map(({ p99 }) => p99))
        .toFixed(0)
        .padStart(9),
      ...targets.map((target) => {
        const each = figures.get(target)!.map(({ processor }) => processor)
        const medians = [0, 1, 2].map((place) => median(each.map((times) => times[place]!)).toFixed(2))
        return `  ${target.name} ${medians.join(' ')}`
      }),
    ]
    console.log(`${what.padEnd(32)} ${columns.join(' ')}`)
  }
}

await withScratch(async (scratch) => {
  const made = await makeTargets(scratch)
  for (const pair of made.pairs) await compare(pair, made)
  const api = made.pairs.find(({ name }) => name === 'api')
  if (!api) return
  const [alone, beside] = await measureBesideHanging(api.service, made)
  const ratio = (beside / alone).toFixed(2)
  console.log(`p99 alone ${alone} ms, while another's endpoint hangs ${beside} ms: ${ratio}`)
})
