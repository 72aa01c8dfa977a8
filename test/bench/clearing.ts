/**
 * `npm run bench:clearing`: imports a clearing file of the network with the operator's command, and prints time, memory and the
 * processor time of the command and of PostgreSQL. The file clears, reverses and refunds authorizations that are there, and has
 * force posts. Half of the lines are for one tenant, the others for 63.
 *
 * `npm run prove:clearing`: the same lines go into the sandbox at once, and into live by a command that is killed at random
 * moments. Both end with the same money.
 *
 * Options: --lines N (1000000), --kills N (0).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { current } from '../../generated/versions.ts'
import { createCardKeys } from '../../runtime/cards/card-keys/card-keys.ts'
import { type OpenDatabase, openDatabase } from '../../runtime/database/open/open-database.ts'
import { findFault } from '../../runtime/money/ledger/verify.ts'
import { ENVIRONMENTS, type Environment } from '../../runtime/platform/environment.ts'
import { createTenant } from '../../runtime/tenants/admin/tenants.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { type TestRecord, writeClearingFile } from '../cards/clearing/clearing-file.ts'
import { BENCH_PEPPER, startDatabase } from './bench-database.ts'
import { processorSeconds, SESSION, serverSeconds } from './processor.ts'
import { type Scratch, withScratch } from './scratch.ts'

const { values: options } = parseArgs({
  options: { lines: { type: 'string', default: '1000000' }, kills: { type: 'string', default: '0' } },
})
const lines = Number(options.lines)
const kills = Number(options.kills)

/** The operator's command as package.json runs it, after `exec node`. */
const ADMIN = (
  JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { admin: string } }
).scripts.admin
  .split(' ')
  .slice(2)

const TENANTS = 64
const CARDS = 8192
/** Twenty lines: clearings of authorizations, force posts, refunds of the clearing before, and a reversal. */
const ROUND = [
  'a',
  'a',
  'a',
  'a',
  'r',
  'a',
  'a',
  'f',
  'a',
  'a',
  'f',
  'a',
  'a',
  'r',
  'a',
  'f',
  'a',
  'a',
  'a',
  'v',
] as const
const AUTHORIZED = ROUND.filter((kind) => kind === 'a' || kind === 'v').length

const numberOf = (card: number) => `400000${String(card).padStart(10, '0')}`
const SENT = Date.UTC(2026, 10, 25, 12)
const sentAt = new Date(SENT).toISOString()

/** Every second card is of the first tenant. */
const FILL = `
  CREATE TEMPORARY TABLE bench_cards AS
    SELECT n, tenant.id AS tenant_id, 'card_' || lpad(n::text, 26, '0') AS id, 'chd_' || lpad(n::text, 26, '0') AS cardholder_id
      FROM generate_series(0, ${CARDS - 1}) n
      JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM control.tenants) tenant
        ON tenant.place = CASE WHEN n % 2 = 0 THEN 0 ELSE 1 + n / 2 % ${TENANTS - 1} END;
  CREATE UNIQUE INDEX ON bench_cards (n);
  INSERT INTO ENV.cards (tenant_id, id, cardholder_id, type, status, frozen, last4, exp_month, exp_year, spending_controls, metadata, created, updated)
    SELECT tenant_id, id, cardholder_id, 'virtual', 'active', false, lpad((n % 10000)::text, 4, '0'), 1, 2030, '{"spending_limits": []}', '{}', now(), now()
      FROM bench_cards;
  INSERT INTO control.card_directory (environment, digest, space, card_id)
    SELECT 'ENV', decode(d.digest, 'hex'), c.tenant_id, c.id
      FROM bench_cards c JOIN json_array_elements_text('DIGESTS') WITH ORDINALITY AS d (digest, place) ON d.place = c.n + 1;
  INSERT INTO ENV.card_transactions (tenant_id, id, network_id, card_id, cardholder_id, type, status, merchant, category, currency, requested,
      authorized, held, cleared, refunded, reversed, entry_method, hold_id, expires_at, rules, history, messages, metadata, created, updated)
    SELECT c.tenant_id, 'ctx_' || lpad(g::text, 26, '0'), 'n' || g, c.id, c.cardholder_id, 'purchase', 'authorized',
           '{"name": "Harbor Diner", "category_code": "5812", "network_id": null, "city": null, "country": "US"}', 'eating_places_restaurants', 'usd',
           1000, 1000, 1000, 0, 0, 0, 'chip', 'ctx_' || lpad(g::text, 26, '0') || '/1', now() + interval '7 days', '[]',
           '[{"type":"authorization","amount":1000,"created":"${sentAt}"}]',
           json_build_array(json_build_object('id', 'a' || g, 'kind', 'authorization', 'at', ${SENT - 3_600_000}, 'created', ${SENT - 3_600_000},
             'amount', 1000, 'approved', 1000, 'expires', ${SENT + 7 * 86_400_000})), '{}', now(), now()
      FROM generate_series(0, COUNT - 1) g JOIN bench_cards c ON c.n = g % ${CARDS};
  INSERT INTO ENV.ledger_holds (tenant_id, id, amount, created)
    SELECT tenant_id, hold_id, held, created FROM ENV.card_transactions;
  INSERT INTO ENV.ledger_accounts (tenant_id, id, balance, held, version)
    SELECT t.id, a.id, a.sign * 100000000000, CASE WHEN a.sign > 0 THEN (SELECT coalesce(sum(h.amount), 0) FROM ENV.ledger_holds h WHERE h.tenant_id = t.id) ELSE 0 END, 1
      FROM control.tenants t CROSS JOIN (VALUES ('program_funds', 1), ('bank', -1)) a (id, sign);
  INSERT INTO ENV.ledger_transactions (tenant_id, cause, created) SELECT id, 'bench', now() FROM control.tenants;
  INSERT INTO ENV.ledger_entries (tenant_id, id, cause, account_id, amount, previous, current, version, created)
    SELECT a.tenant_id, 'len_' || a.id, 'bench', a.id, a.balance, 0, a.balance, 1, now() FROM ENV.ledger_accounts a;
  DROP TABLE bench_cards`

function* records(): Generator<TestRecord> {
  const merchant = { name: 'Harbor Diner', category_code: '5812', country: 'US' }
  let authorized = 0
  let use = { transaction_id: 'n0', card_number: numberOf(0) }
  for (let line = 0; line < lines; line += 1) {
    const kind = ROUND[line % ROUND.length]!
    if (kind === 'a' || kind === 'v') {
      use = { transaction_id: `n${authorized}`, card_number: numberOf(authorized % CARDS) }
      authorized += 1
    } else if (kind === 'f') use = { transaction_id: `f${line}`, card_number: numberOf((line * 7) % CARDS) }
    const sent = { message_id: `l${line}`, sent_at: sentAt, ...use }
    if (kind === 'v') yield { kind: 'reversal', ...sent }
    else if (kind === 'r') yield { kind: 'refund', ...sent, amount: 400, currency: 'usd', merchant }
    else
      yield {
        kind: 'clearing',
        ...sent,
        amount: 1000,
        currency: 'usd',
        merchant,
        entry_method: 'chip',
        final: true,
      }
  }
}

interface Run {
  readonly seconds: number
  readonly processor: number
  readonly mib: number
  readonly isDone: boolean
}

function startImport(scratch: Scratch, url: string, path: string): ChildProcess {
  const child = spawn(process.execPath, [...ADMIN, 'network', 'import', path], {
    env: { ...process.env, DATABASE_URL: url, SVC_PEPPER: BENCH_PEPPER, NODE_ENV: 'test' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  // At SIGTERM, the command ends after the import.
  scratch.atEnd(() => child.kill('SIGKILL'))
  return child
}

/** Runs the command. @param killAfter lines after which it is killed. */
async function runImport(
  scratch: Scratch,
  url: string,
  path: string,
  killAfter = Number.POSITIVE_INFINITY,
): Promise<Run> {
  const began = performance.now()
  const child = startImport(scratch, url, path)
  let [mib, processor, said] = [0, 0, '']
  const look = () => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      mib = Math.max(mib, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
      processor = processorSeconds(child.pid!)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error // it has ended meanwhile
    }
  }
  const looking = setInterval(look, 100)
  child.stderr!.on('data', (bytes: Buffer) => {
    said += bytes.toString()
    const done = Number(/(\d+) of \d+ lines/.exec(said.trim().split('\n').at(-1) ?? '')?.[1] ?? 0)
    // Within the window after it.
    if (done >= killAfter) setTimeout(() => child.kill('SIGKILL'), Math.random() * 1000)
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  clearInterval(looking)
  if (code !== 0 && code !== null) throw new Error(said)
  return { seconds: (performance.now() - began) / 1000, processor, mib, isDone: code === 0 }
}

/** What a tenant's money came to. */
async function moneyOf({ control }: OpenDatabase, environment: Environment): Promise<readonly unknown[]> {
  const text = `
    SELECT a.tenant_id, a.id, a.balance::text, a.held::text, a.version::text FROM ${environment}.ledger_accounts a
    UNION ALL SELECT t.tenant_id, t.status, sum(t.cleared)::text, sum(t.refunded)::text, count(*)::text FROM ${environment}.card_transactions t GROUP BY 1, 2
    UNION ALL SELECT l.tenant_id, l.type, sum(l.amount)::text, count(DISTINCT l.source_id)::text, count(*)::text FROM ${environment}.settlement_lines l GROUP BY 1, 2
    UNION ALL SELECT s.tenant_id, e.type, '', '', count(*)::text FROM ${environment}.event_heads s JOIN ${environment}.events e ON e.tenant_id = s.tenant_id GROUP BY 1, 2
    ORDER BY 1, 2`
  return (await control.query({ text })).rows
}

await withScratch(async (scratch) => {
  const url = await startDatabase(scratch)
  const settings = {
    databaseUrl: url,
    pepper: BENCH_PEPPER,
    dataDir: '.',
    poolSize: 4,
    preparedStatements: true,
  }
  const database = await openDatabase(settings, console.error)
  scratch.atEnd(() => database.close())
  const clock = createClock()
  const operator = { control: database.control, clock, pepper: database.pepper }
  for (let count = 0; count < TENANTS; count += 1)
    await createTenant(operator, { name: `Bench ${count}`, plan: 'enterprise' }, current)
  const keys = createCardKeys(database.cards!, clock)
  const digests = await Promise.all(
    Array.from({ length: CARDS }, async (_, card) => (await keys.digest(numberOf(card))).toString('hex')),
  )
  const environments = kills > 0 ? ENVIRONMENTS : (['live'] as const)
  const count = Math.ceil(lines / ROUND.length) * AUTHORIZED
  for (const environment of environments) {
    const text = FILL.replaceAll('ENV', environment)
      .replace('COUNT', String(count))
      .replace('DIGESTS', JSON.stringify(digests))
    await database.control.transaction((tx) => tx.query({ text }))
  }
  await database.control.query({ text: 'VACUUM ANALYZE' })
  const path = (environment: Environment) =>
    writeClearingFile(join(scratch.directory, `${environment}.jsonl`), {
      ...{ fileId: 'bench', businessDate: '2026-11-25', environment, records: records() },
    })
  const [session] = (await database.control.query<{ pid: number }>({ text: SESSION })).rows
  const before = serverSeconds(session!.pid)
  const steady = await runImport(scratch, url, path(environments[0]))
  const used = serverSeconds(session!.pid) - before
  const rate = Math.round(lines / steady.seconds)
  console.log(
    `${lines} lines: ${steady.seconds.toFixed(1)} s, ${rate} lines/s, at most ${Math.round(steady.mib)} MiB; processor: ${steady.processor.toFixed(1)} s of the command, ${used.toFixed(1)} s of PostgreSQL`,
  )
  const { rows } = await database.control.query<{ id: string }>({
    text: 'SELECT id FROM control.tenants ORDER BY id LIMIT 2',
  })
  for (const { id } of rows) {
    const fault = await findFault(database.control, environments[0], id)
    if (fault !== undefined) throw new Error(`${id}: ${fault}`)
  }
  if (kills === 0) return
  const file = path('live')
  for (let kill = 1; kill <= kills; kill += 1) {
    const after = Math.floor((lines * kill) / (kills + 1))
    const { seconds, isDone } = await runImport(scratch, url, file, after)
    console.log(`killed ${kill}: ${isDone ? 'it was done' : `after ${seconds.toFixed(1)} s`}`)
  }
  const { isDone } = await runImport(scratch, url, file)
  const [whole, resumed] = [await moneyOf(database, 'sandbox'), await moneyOf(database, 'live')]
  if (!isDone || JSON.stringify(whole) !== JSON.stringify(resumed)) throw new Error('the totals differ')
  console.log(
    `killed ${kills} times and continued: the totals are those of the uninterrupted import (${whole.length} sums)`,
  )
})
