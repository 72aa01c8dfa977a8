/**
 * A worker is killed at each statement of the transaction in which holds of destinations end, a settlement is closed, processed
 * and settled, and its payout is made: all of it has happened or nothing, and the next worker does it once. The same holds for the
 * workers that keep the totals of each day, report low balances, replay spending controls, copy sandboxes and send messages.
 */
import { randomInt } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { CLOSED_TABLES, WIPED_TABLES } from '../../runtime/account/account/wipe-queries.ts'
import { snapshotWorker } from '../../runtime/account/snapshots/job.ts'
import { totalsWorker } from '../../runtime/account/totals/job.ts'
import { backtestWorker } from '../../runtime/cards/spending-control-backtests/job.ts'
import { createEndpointSecrets } from '../../runtime/events/webhook-endpoints/secrets.ts'
import { balanceAlertWorker } from '../../runtime/money/balance/alert-job.ts'
import { settlementWorker } from '../../runtime/money/settlements/job.ts'
import { passMessageBatchWorker } from '../../runtime/passes/pass-messages/batch-job.ts'
import { passMessageWorker } from '../../runtime/passes/pass-messages/job.ts'
import { createSeals } from '../../runtime/platform/secrets.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { issuePass, makeTemplate } from '../api/fixtures.ts'
import { type Account, openAccount, perform } from '../cards/money-account.ts'
import type { Operation } from '../cards/money-model.ts'
import { expectSound, expectTold } from '../cards/money-properties.ts'
import { endPrograms, startProgram, until } from '../support/programs.ts'
import { makeKey, makeTenant, speak, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { openWire, type Point, STEP, transactionPoints } from './wire.ts'

const service = useService({ guarded: false, keepsTime: true })
afterAll(async () => {
  await endPrograms()
})

/** The day of the line ends when the holds of both destinations are over. */
const USED: readonly Operation[] = [
  { kind: 'destination', isListed: false },
  { kind: 'seconds', seconds: 13 * 3600 },
  { kind: 'destination', isListed: false },
  { kind: 'force_post', card: 0, amount: 100_000 },
]

const THEN_MS = 48 * 3_600_000

const DONE = [
  ...['payout_destination.activated', 'settlement.pending'],
  ...['payout_destination.activated', 'settlement.processing'],
  ...['settlement.settled', 'payout.created'],
]

async function openUsed(): Promise<Account> {
  const account = await openAccount(service)
  for (const each of USED) await perform(account, each)
  return account
}

async function startWorker(
  worker: 'settlements' | 'totals' | 'alerts' | 'backtests' | 'snapshots' | 'batches' | 'messages',
  point: Point,
  by: 'sandbox' | 'control' = 'sandbox',
) {
  const { rows } = await service.database[by].query<{ role: string }>({
    text: 'SELECT current_user AS role',
  })
  const { role } = rows[0]!
  const wire = await openWire(service.database.url, { [role]: ['transaction'] })
  const program = startProgram(process.execPath, ['test/faults/settler.ts'], {
    ...{ TEST_DATABASE: wire.url, TEST_PEPPER: service.database.pepper },
    ...{ TEST_WORKER: worker, TEST_NOW: String(service.clock.now + THEN_MS) },
  })
  return { wire, program, role, point }
}

/** Kills the worker with SIGKILL at its point; returns false if it is done before. */
async function kill({
  wire,
  program,
  role,
  point,
}: Awaited<ReturnType<typeof startWorker>>): Promise<boolean> {
  await program.ready()
  wire.stopAt(point)
  program.child.kill('SIGUSR2')
  await until('a stop, or the end', () => wire.stopped().length > 0 || program.stdout().includes('done'))
  const isKilled = wire.stopped().length > 0
  await program.end('SIGKILL')
  wire.end()
  await forgotten(role)
  return isKilled
}

/** The killed worker's transaction ends when the server notices. */
async function forgotten(role: string): Promise<void> {
  const text = `SELECT count(*) AS count FROM pg_stat_activity
                 WHERE datname = current_database() AND usename = $1 AND xact_start IS NOT NULL
                  AND pid <> pg_backend_pid()`
  const count = async () =>
    (await service.database.control.query<{ count: number }>({ text }, [role])).rows[0]!.count
  await until('the transaction to end', async () => (await count()) === 0)
}

const toldOf = async (account: Account): Promise<string[]> =>
  (await account.list('/v1/events')).map(({ type }) => type).slice(-DONE.length)

const auditOf = async ({ tenantId }: Account): Promise<string[]> => {
  const text = `SELECT action FROM sandbox.audit_log WHERE tenant_id = $1 AND action = ANY ($2) ORDER BY sequence`
  const { rows } = await service.database.control.query<{ action: string }>({ text }, [
    tenantId,
    [...ENTERED],
  ])
  return rows.map(({ action }) => action)
}

/** A settlement is entered as what became of it in the end. */
const ENTERED = ['settlement.settled', 'payout_destination.activated', 'payout_destination.activated']

test('a settlement that is settled while workers are killed is settled once', {
  timeout: 300_000,
}, async () => {
  const settle = () =>
    settlementWorker({
      ...{
        database: service.database,
        sanctions: service.sanctions,
        log: strictLog,
        wakeUpChannel: { publish: () => {} },
      },
      clock: { machine: Date.now, service: () => service.clock.now + THEN_MS },
    }).runOnce()
  const all = transactionPoints()
  const next = () => startWorker('settlements', all.next().value!)
  let killed = 0
  let coming = next()
  for (;;) {
    const [worker, account] = await Promise.all([coming, openUsed()])
    coming = next()
    const isKilled = await kill(worker)
    const told = await toldOf(account)
    if (told.at(-1) === 'payout.created') expect(told).toEqual(DONE)
    else expect(await auditOf(account)).toEqual([])
    await expectSound(account, true)
    await Promise.all([settle(), settle()])
    expect([killed, await toldOf(account), await auditOf(account)]).toEqual([killed, DONE, ENTERED])
    const [settlement, payout] = [await account.list('/v1/settlements'), await account.list('/v1/payouts')]
    expect([settlement, payout]).toMatchObject([
      [{ status: 'settled', net_amount: 1400 }],
      [{ amount: 1400 }],
    ])
    await expectSound(account, true)
    await expectTold(account)
    await verifyAudit(service.operator, account.tenantId, 'sandbox')
    if (!isKilled) break
    killed += 1
  }
  // BEGIN, locks, three moves, two holds, a payout, the ledger, events, audit entries and COMMIT.
  expect(killed * STEP).toBeGreaterThan(25)
})

/** What the totals of a tenant come to, and what its events and ledger come to. */
async function countsOf({ tenantId }: Account) {
  const read = async (text: string) => (await service.database.control.query({ text }, [tenantId])).rows
  return {
    kept: await read(`SELECT kind, sum(count)::bigint AS count, sum(amount)::bigint AS amount FROM sandbox.daily_totals
                       WHERE tenant_id = $1 AND kind <> 'balance' GROUP BY kind ORDER BY kind`),
    happened:
      await read(`SELECT 'card.transaction.declined' AS kind, count(*) AS count, 0::bigint AS amount FROM sandbox.events
                           WHERE tenant_id = $1 AND type = 'card.transaction.declined'
                          UNION ALL
                          SELECT 'card_spending', count(*), -sum(amount)::bigint FROM sandbox.ledger_entries
                           WHERE tenant_id = $1 AND account_id = 'program_funds' AND cause LIKE 'ctx%'`),
  }
}

test('totals of each day count everything once while workers are killed', { timeout: 300_000 }, async () => {
  const count = () =>
    totalsWorker({ database: service.database, clock: { machine: Date.now }, log: strictLog }).runOnce()
  const account = await openAccount(service)
  await count()
  const points = transactionPoints()
  const next = () => startWorker('totals', points.next().value!)
  let killed = 0
  let before: unknown = []
  for (let coming = next(); ; ) {
    await perform(account, { kind: 'force_post', card: 0, amount: 100 })
    const merchant = { name: 'A', category_code: '5812' }
    const declined = { card_id: account.cards[0], amount: 100, merchant }
    await account.send('/v1/test/cards/simulate_authorization', declined)
    const worker = await coming
    coming = next()
    const isKilled = await kill(worker)
    const { kept, happened } = await countsOf(account)
    expect([before, happened]).toContainEqual(kept)
    await Promise.all([count(), count()])
    expect([killed, (await countsOf(account)).kept]).toEqual([killed, happened])
    if (!isKilled) break
    before = happened
    killed += 1
  }
  // BEGIN, the cursor, its lock, what follows, events, spending, the balance, the cursor and COMMIT.
  expect(killed * STEP).toBeGreaterThan(6)
})

test('a low balance is reported once while workers are killed', { timeout: 300_000 }, async () => {
  const compare = () =>
    balanceAlertWorker({
      ...{ database: service.database, log: strictLog, wakeUpChannel: { publish: () => {} } },
      clock: { machine: Date.now, service: () => service.clock.now },
    }).runOnce()
  const account = await openAccount(service)
  const setThreshold = (threshold: number | null) =>
    account.send('/v1/balance_alert', { threshold }, { method: 'PUT' })
  const countTold = async () =>
    (await account.list('/v1/events')).filter(({ type }) => type === 'balance.low').length
  const points = transactionPoints()
  const next = () => startWorker('alerts', points.next().value!)
  let killed = 0
  for (let coming = next(); ; ) {
    const worker = await coming
    coming = next()
    const answers = [await setThreshold(null), await setThreshold(1e15)]
    expect(answers.map(({ text }) => JSON.parse(text).status)).toEqual(['off', 'armed'])
    const isKilled = await kill(worker)
    expect([killed, killed + 1]).toContain(await countTold())
    await Promise.all([compare(), compare()])
    expect(await countTold()).toBe(killed + 1)
    if (!isKilled) break
    killed += 1
  }
  // BEGIN, the alert, the event, the audit entry and COMMIT.
  expect(killed * STEP).toBeGreaterThan(3)
  await verifyAudit(service.operator, account.tenantId, 'sandbox')
})

test('a backtest whose workers are killed is performed from the beginning, and ends once', {
  timeout: 300_000,
}, async () => {
  const replay = () =>
    backtestWorker({
      ...{ database: service.database, log: strictLog, wakeUpChannel: { publish: () => {} } },
      clock: { machine: Date.now, service: () => service.clock.now },
    }).runOnce()
  const account = await openAccount(service)
  await account.send('/v1/test/funding', { amount: 1000 })
  const merchant = { name: 'A', category_code: '5812' }
  await account.send('/v1/test/cards/simulate_authorization', {
    card_id: account.cards[0],
    amount: 100,
    merchant,
  })
  service.clock.now += 1000
  const post = async (path: string, body: object) => (await account.send(path, body)).body
  const draft = await post('/v1/spending_control_drafts', {
    name: 'D',
    spending_controls: { blocked_merchant_names: ['a'] },
  })
  const interval = {
    interval_start: new Date(service.clock.now - 86_400_000).toISOString(),
    interval_end: new Date(service.clock.now).toISOString(),
  }
  const expire = {
    text: `UPDATE sandbox.spending_control_backtests SET leased_until = '-infinity' WHERE status = 'pending'`,
  }
  const points = transactionPoints()
  const next = () => startWorker('backtests', points.next().value!)
  let killed = 0
  for (let coming = next(); ; ) {
    const worker = await coming
    coming = next()
    const { id } = await post(`/v1/spending_control_drafts/${draft.id}/backtests`, interval)
    const isKilled = await kill(worker)
    await service.database.control.query(expire) // as when the time of the killed worker is over
    await Promise.all([replay(), replay()])
    const [backtest] = (await account.list('/v1/spending_control_backtests')).filter((each) => each.id === id)
    expect([killed, backtest]).toMatchObject([
      killed,
      { status: 'succeeded', result: { approved_to_declined: { count: 1 } } },
    ])
    expect(await account.list(`/v1/spending_control_backtests/${id}/flips`)).toHaveLength(1)
    if (!isKilled) break
    killed += 1
  }
  const told = (await account.list('/v1/events')).filter(
    ({ type }) => type === 'spending_control_backtest.succeeded',
  )
  expect(told).toHaveLength(killed + 1)
  // Twice BEGIN, the lease and COMMIT; the progress; the flips, the end, the event and the audit entry.
  expect(killed * STEP).toBeGreaterThan(6)
  await verifyAudit(service.operator, account.tenantId, 'sandbox')
})

/** Number of rows that a space has in each table. */
async function rowsIn(space: string): Promise<Record<string, number>> {
  const counts = [...WIPED_TABLES, ...CLOSED_TABLES].map(
    (table) => `SELECT '${table}' AS name, count(*) AS count FROM sandbox.${table} WHERE tenant_id = $1`,
  )
  const { rows } = await service.database.control.query<{ name: string; count: number }>(
    { text: counts.join(' UNION ALL ') },
    [space],
  )
  return Object.fromEntries(rows.flatMap(({ name, count }) => (count > 0 ? [[name, count]] : [])))
}

/** A restore has a statement for each table, so the steps are wider. */
const WIDE = STEP === 1 ? 1 : 10 * STEP

test('a sandbox is copied whole or not yet while workers are killed', { timeout: 900_000 }, async () => {
  const copy = () =>
    snapshotWorker({
      ...{ database: service.database, log: strictLog, wakeUpChannel: { publish: () => {} } },
      endpointSecrets: createEndpointSecrets(createSeals(service.database.pepper), 'sandbox'),
      clock: { machine: Date.now, service: () => service.clock.now },
    }).runOnce()
  const tenantId = await makeTenant(service, 'standard')
  const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
  const send = speak(service.urls.sandbox, { secret, version: current })
  const original = (await send('/v1/sandboxes', { body: { name: 'Original' } })).body
  const within = speak(service.urls.sandbox, { secret: original.secret_key, version: current })
  await issuePass(within, await makeTemplate(within))
  const whole = await rowsIn(`${tenantId}.s1`)
  expect(whole).toMatchObject({ passes: 1, events: 2 })
  const points = transactionPoints(WIDE)
  const next = () => startWorker('snapshots', points.next().value!, 'control')
  let killed = 0
  for (let coming = next(); ; ) {
    const worker = await coming
    coming = next()
    const { body } = await send('/v1/sandboxes', { body: { name: 'Copy', from: original.id } })
    const isKilled = await kill(worker)
    const path = `/v1/sandboxes/${body.id}`
    const { status } = (await send(path)).body
    const [taken] = (await send(`${path}/snapshots`)).body.data
    const space = `${tenantId}.s${killed + 2}.1`
    const isWhole = status === 'ready'
    expect([killed, isWhole || isKilled, await rowsIn(space)]).toEqual([killed, true, isWhole ? whole : {}])
    const pages = await service.database.control.query(
      { text: 'SELECT FROM sandbox.sandbox_snapshot_pages WHERE snapshot_id = $1' },
      [taken.id],
    )
    const kept = taken.status === 'done' ? Object.keys(whole).length : 0
    expect([killed, pages.count]).toEqual([killed, kept])
    for (const _step of ['snapshot', 'restore']) await Promise.all([copy(), copy()])
    expect([killed, (await send(path)).body.status, await rowsIn(space)]).toEqual([killed, 'ready', whole])
    await send(path, { method: 'DELETE' })
    if (!isKilled) break
    killed += 1
  }
  // BEGIN, the snapshot, its pages and COMMIT; BEGIN, pages of each table, the new space and COMMIT.
  expect(killed * WIDE).toBeGreaterThan(60)
  await verifyAudit(service.operator, tenantId, 'sandbox')
})

/** A statement of a transaction with at least so many of them; with EVERY_STATEMENT=1 each. */
function* messagePoints(statements: number): Generator<Point> {
  if (STEP === 1) return yield* transactionPoints()
  yield { kind: 'transaction', statement: randomInt(statements) + 1, side: 'after' }
}

test('a batch is sent to each holder once while workers are killed', { timeout: 300_000 }, async () => {
  const parts = {
    ...{ database: service.database, log: strictLog, wakeUpChannel: { publish: () => {} } },
    clock: { machine: Date.now, service: () => service.clock.now + THEN_MS },
  }
  const work = { batches: passMessageBatchWorker(parts), messages: passMessageWorker(parts) }
  const tenantId = await makeTenant(service, 'enterprise')
  const { secret } = await makeKey(service, tenantId)
  const send = speak(service.urls.sandbox, { secret, version: current })
  const countTold = async (type: string): Promise<number> =>
    (await send(`/v1/events?type=${type}&limit=100`)).body.data.length
  let rounds = 0
  let killed = 0
  for (const [worker, statements] of [
    ['batches', 6],
    ['messages', 14],
  ] as const) {
    for (const point of messagePoints(statements)) {
      const coming = startWorker(worker, point)
      const template_id = await makeTemplate(send)
      for (const { id } of [await issuePass(send, template_id), await issuePass(send, template_id)])
        await send('/v1/test/passes/simulate_install', { body: { pass_id: id, platform: 'apple' } })
      const text = { header: 'Doors', body: 'Open at 18:30.', filter: { template_id } }
      const path = `/v1/pass_message_batches/${(await send('/v1/pass_message_batches', { body: text })).body.id}`
      if (worker === 'messages') await work.batches.runOnce()
      const isKilled = await kill(await coming)
      const batch = (await send(path)).body
      const messages = (await send('/v1/pass_messages?limit=100')).body.data
      const own = messages.filter((each: typeof batch) => each.pass_message_batch_id === batch.id)
      const sent = own.filter(({ status }: typeof batch) => status === 'sent')
      expect([point, own.length, sent.length]).toEqual([point, batch.total, batch.sent])
      for (const { runOnce } of Object.values(work)) await Promise.all([runOnce(), runOnce()])
      const end = { status: 'completed', total: 2, sent: 2, skipped: 0 }
      expect([point, (await send(path)).body]).toMatchObject([point, end])
      rounds += 1
      const told = ['pass_message.sent', 'pass_message_batch.completed'].map(countTold)
      expect(await Promise.all(told)).toEqual([2 * rounds, rounds])
      if (!isKilled) break
      killed += 1
    }
  }
  expect(killed).toBeGreaterThan(STEP === 1 ? 20 : 1)
  await verifyAudit(service.operator, tenantId, 'sandbox')
})
