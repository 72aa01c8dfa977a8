/**
 * `npm run bench:cards`: authorizations per second over HTTP, beside the same decision written by hand (cards-by-hand.ts), on one
 * database, in one run. Rounds alternate; medians are printed. A tenant has 64 cards, each with a limit by month. Then the
 * 99th percentile of one tenant, alone and while the authorization endpoint of another hangs, in alternating rounds.
 *
 * Options: --rounds N (5), --seconds S (3), --rows N (0): transactions that the first tenant has before.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import pg from 'pg'
import { current } from '../../generated/versions.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import type { Operator } from '../../runtime/tenants/admin/change.ts'
import { createKey } from '../../runtime/tenants/admin/keys.ts'
import { liftLimit } from '../../runtime/tenants/admin/limits.ts'
import { createTenant } from '../../runtime/tenants/admin/tenants.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { BENCH_PEPPER } from './bench-database.ts'
import { startDemoService } from './demo-service.ts'
import { type Scratch, withScratch } from './scratch.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    rows: { type: 'string', default: '0' },
  },
})

const TENANTS = 64
const CARDS = 64
const LIMIT = 100_000_000_000_000

/** Whose card is used, and with which key. */
interface Use {
  readonly key: string
  readonly card: string
}

interface Target {
  readonly name: string
  readonly origin: string
  /** Of one tenant, and one of each. */
  readonly one: readonly Use[]
  readonly many: readonly Use[]
}

const PATH = '/v1/test/cards/simulate_authorization'
const MERCHANT = { name: 'Harbor Diner', category_code: '5812' }

/** How a target did. */
interface Figures {
  readonly perSecond: number
  /** Milliseconds. */
  readonly p99: number
}

async function measure(
  { name, origin }: Pick<Target, 'name' | 'origin'>,
  uses: readonly Use[],
  connections: number,
): Promise<Figures> {
  let next = 0
  const setupRequest = (request: autocannon.Request) => {
    const { key, card } = uses[next++ % uses.length]!
    return {
      ...request,
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        'service-version': current,
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify({ card_id: card, amount: 100, merchant: MERCHANT }),
    }
  }
  const result = await autocannon({
    url: origin + PATH,
    method: 'POST',
    connections,
    duration: Number(options.seconds),
    requests: [{ setupRequest }],
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${name}: ${result.non2xx} answers without success, ${result.errors} errors`)
  }
  return { perSecond: result['2xx'] / result.duration, p99: result.latency.p99 }
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
  for (const bucket of ['cards_write', 'concurrent_connections']) {
    await liftLimit(operator, { tenantId, environment: 'sandbox', bucket, factor: 1000, hours: 1 })
  }
  const send = async (path: string, body: object, method = 'POST'): Promise<string> => {
    const response = await fetch(origin + path, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return ((await response.json()) as { id: string }).id
  }
  await send('/v1/test/funding', { amount: LIMIT })
  const cardholder_id = await send('/v1/cardholders', { name: 'Ada Moreau' })
  const spending_controls = { spending_limits: [{ amount: LIMIT, interval: 'monthly' }] }
  const made: Use[] = []
  for (let n = 0; n < cards; n += 1) {
    const card = await send('/v1/cards', { cardholder_id, type: 'virtual', spending_controls })
    await send(PATH, { card_id: card, amount: 100, merchant: MERCHANT })
    made.push({ key: secret, card })
  }
  if (endpoint !== undefined) {
    await send('/v1/authorization_endpoint', { url: endpoint, timeout_ms: 2000 }, 'PUT')
  }
  return made
}

/** The same cards for the one by hand, an account for each tenant. */
const BY_HAND = `
  CREATE SCHEMA by_hand;
  CREATE TABLE by_hand.accounts (id text PRIMARY KEY, balance bigint NOT NULL, held bigint NOT NULL);
  CREATE TABLE by_hand.cards (id text PRIMARY KEY, account_id text NOT NULL REFERENCES by_hand.accounts, status text NOT NULL,
    blocked text[] NOT NULL, monthly_limit bigint NOT NULL);
  CREATE TABLE by_hand.transactions (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), card_id text NOT NULL REFERENCES by_hand.cards,
    amount bigint NOT NULL, merchant jsonb NOT NULL, status text NOT NULL, created timestamptz NOT NULL DEFAULT now());
  CREATE INDEX ON by_hand.transactions (card_id, created);
  INSERT INTO by_hand.accounts SELECT DISTINCT tenant_id, ${LIMIT}, 0 FROM sandbox.cards;
  INSERT INTO by_hand.cards SELECT id, tenant_id, 'active', '{}', ${LIMIT} FROM sandbox.cards;
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

async function startByHand(scratch: Scratch, url: string): Promise<string> {
  const child = spawn(process.execPath, ['test/bench/cards-by-hand.ts'], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  scratch.own(child)
  return String((await once(createInterface({ input: child.stdout }), 'line'))[0])
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

interface Targets {
  readonly byHand: Target
  readonly service: Target
  /** Whose endpoint never answers. */
  readonly hanging: readonly Use[]
}

async function makeTargets(scratch: Scratch): Promise<Targets> {
  const { url, origin } = await startDemoService(scratch, { SVC_WEBHOOK_ALLOW: '127.0.0.0/8' })
  const database = await openDatabase({
    databaseUrl: url,
    pepper: BENCH_PEPPER,
    dataDir: '/nowhere',
    poolSize: 4,
    preparedStatements: true,
  })
  const operator = { control: database.control, clock: createClock(), pepper: BENCH_PEPPER }
  const one = await makeTenant(operator, origin, CARDS)
  const many = [one[0]!]
  while (many.length < TENANTS) many.push(...(await makeTenant(operator, origin, 1)))
  const hanging = await makeTenant(operator, origin, CARDS, await startHanging(scratch))
  await database.close()
  const db = new pg.Client({ connectionString: url })
  await db.connect()
  await db.query(BY_HAND)
  if (Number(options.rows) > 0) await db.query(BEFORE, [Number(options.rows), one[0]!.card])
  await db.query('VACUUM ANALYZE')
  await db.end()
  const byHand = await startByHand(scratch, url)
  return {
    byHand: { name: 'by hand', origin: byHand, one, many },
    service: { name: 'service', origin, one, many },
    hanging,
  }
}

/** Clients of the tenant that is measured, which with more would be held to its share beside any other, and of the one whose endpoint hangs. */
const MEASURED = 1
const HANGING = 16

/** Milliseconds, alone and beside. */
async function measureBesideHanging({ service, hanging }: Targets): Promise<readonly [number, number]> {
  const [alone, beside]: [number[], number[]] = [[], []]
  for (let round = 0; round < Number(options.rounds); round += 1) {
    alone.push((await measure(service, service.one, MEASURED)).p99)
    const [{ p99 }] = await Promise.all([
      measure(service, service.one, MEASURED),
      measure(service, hanging, HANGING),
    ])
    beside.push(p99)
  }
  return [median(alone), median(beside)]
}

await withScratch(async (scratch) => {
  const made = await makeTargets(scratch)
  const targets = [made.byHand, made.service]
  const scenarios = [
    ['one tenant, 1 client', 'one', 1],
    ['one tenant, 16 clients', 'one', 16],
    ['one tenant, 64 clients', 'one', 64],
    ['64 tenants, 64 clients', 'many', 64],
  ] as const
  console.log(
    `${'authorizations per second'.padEnd(26)} by hand  service  ratio   (${options.rows} transactions before)`,
  )
  for (const [name, uses, connections] of scenarios) {
    const figures = new Map<Target, number[]>(targets.map((target) => [target, []]))
    for (let round = 0; round <= Number(options.rounds); round += 1) {
      for (const target of targets) {
        const { perSecond } = await measure(target, target[uses], connections)
        if (round > 0) figures.get(target)!.push(perSecond) // the first warms up
      }
    }
    const [hand, service] = targets.map((target) => median(figures.get(target)!))
    const columns = [
      hand!.toFixed(0).padStart(7),
      service!.toFixed(0).padStart(8),
      (service! / hand!).toFixed(2).padStart(6),
    ]
    console.log(`${name.padEnd(26)} ${columns.join(' ')}`)
  }
  const [alone, beside] = await measureBesideHanging(made)
  const ratio = (beside / alone).toFixed(2)
  console.log(`p99 alone ${alone} ms, while another's endpoint hangs ${beside} ms: ${ratio}`)
})
