/**
 * `npm run bench:backtest`: replays the controls in force over a million recorded authorizations of one account, from the
 * worker's first statement to its last: it reads pages, rebuilds what was spent, decides again, compares, and writes the flips.
 * Then it replays stricter controls. Prints the time, the processor time of the worker and of PostgreSQL, and the differences.
 *
 * Options: --authorizations N (1000000).
 */
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { current } from '../../generated/versions.ts'
import {
  NO_CONTROLS,
  readControls,
  type SpendingControls,
} from '../../runtime/cards/programs/spending-controls.ts'
import { backtestWorker } from '../../runtime/cards/spending-control-backtests/job.ts'
import { insertBacktest, readBacktest } from '../../runtime/cards/spending-control-backtests/queries.ts'
import { periodsOf } from '../../runtime/cards/transactions/periods.ts'
import { decide } from '../../runtime/cards/transactions/rules.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { createTenant } from '../../runtime/tenants/admin/tenants.ts'
import { strictLog } from '../support/strict-log.ts'
import { BENCH_PEPPER, startDatabase } from './bench-database.ts'
import { processorSeconds, SESSION, serverSeconds } from './processor.ts'
import { withScratch } from './scratch.ts'

const { values: options } = parseArgs({ options: { authorizations: { type: 'string', default: '1000000' } } })
const authorizations = Number(options.authorizations)

const CARDS = 5000
const MERCHANTS = 400
const DAY_MS = 86_400_000
const FROM = Date.UTC(2025, 0, 1)
const TO = FROM + 365 * DAY_MS

const ACTIVE = readControls({
  blocked_categories: ['7995'],
  blocked_merchant_names: ['*casino*', 'shop 39*'],
  spending_limits: [
    { amount: 90_000, interval: 'monthly' },
    { amount: 20_000, interval: 'daily' },
  ],
  merchant_limits: [{ amount: 15_000, interval: 'weekly' }],
  allowed_times: [
    {
      days: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
      start: '05:00',
      end: '02:00',
      time_zone: 'America/New_York',
    },
  ],
})
const STRICTER: SpendingControls = {
  ...ACTIVE,
  spending_limits: [{ amount: 60_000, interval: 'monthly', categories: null }],
}

/** The same numbers in each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Sums of the bench's own, by card, period and merchant, so that the record does not depend on the replay. */
const sums = new Map<string, number>()
const spentIn = (key: string) => sums.get(key) ?? 0

const CARD = {
  status: 'active',
  frozen: false,
  cancellation_reason: null,
  exp_month: 12,
  exp_year: 2040,
  spending_controls: ACTIVE,
} as const

/** Yields rows of `COPY card_transactions`: authorizations that the controls decided, most of them cleared a day later. */
function* record(tenantId: string): Iterable<string> {
  const pick = seeded(3)
  for (let index = 0; index < authorizations; index += 1) {
    const created = FROM + Math.floor((index * (TO - FROM)) / authorizations)
    const card = `card_${String(pick(CARDS)).padStart(26, '0')}`
    const shop = pick(MERCHANTS)
    const categoryCode = ['5812', '5411', '5541', '4121', '7995'][pick(40) === 0 ? 4 : pick(4)]!
    const amount = 100 + pick(9000)
    const merchant = {
      name: `Shop ${shop}`,
      category_code: categoryCode,
      network_id: `m${shop}`,
      city: null,
      country: 'US',
    }
    const { day, week, month } = periodsOf(created)
    const keys = [`month ${card} ${month}`, `day ${card} ${day}`, `week ${card} ${week} ${shop}`]
    const [inMonth, inDay, atShop] = keys.map(spentIn)
    const use = { merchant, entryMethod: 'chip', checks: {}, at: created } as const
    const { declined, rules } = decide(
      { amount, currency: 'usd', categoryCode, country: 'US', authorized: 0, wallet: null, use },
      {
        card: CARD,
        cardholder: { status: 'active', sanctions_status: 'clear' },
        spent: [inMonth!, inDay!],
        authorizations: 0,
        uses: { spent: [atShop!], merchants: [], isCountryKnown: false },
        available: Number.MAX_SAFE_INTEGER,
        wallets: [],
        now: created,
      },
    )
    const id = `ctx_${String(index).padStart(26, '0')}`
    const asked = { id: `${id}/0`, kind: 'authorization', at: created, created, amount }
    if (declined === undefined) for (const key of keys) sums.set(key, spentIn(key) + amount)
    const cleared = created + DAY_MS
    const messages =
      declined === undefined
        ? [
            { ...asked, approved: amount, expires: created + 7 * DAY_MS },
            { id: `${id}/1`, kind: 'clearing', at: cleared, created: cleared, amount },
          ]
        : [{ ...asked, declined }]
    const paid = declined === undefined ? amount : 0
    const time = new Date(created).toISOString()
    yield `${[
      ...[tenantId, id, card, `chd_${'0'.repeat(26)}`, 'purchase', declined ? 'declined' : 'cleared'],
      ...[
        JSON.stringify(merchant),
        categoryCode,
        'usd',
        amount,
        paid,
        0,
        paid,
        0,
        0,
        0,
        'chip',
        declined ?? '\\N',
      ],
      ...[JSON.stringify(rules), '[]', JSON.stringify(messages), '{}', time, time],
    ].join('\t')}\n`
  }
}

const COLUMNS = `tenant_id, id, card_id, cardholder_id, type, status, merchant, category, currency, requested, authorized, held, cleared,
  refunded, reversed, disputed, entry_method, decline_code, rules, history, messages, metadata, created, updated`

await withScratch(async (scratch) => {
  const database = await openDatabase({
    databaseUrl: await startDatabase(scratch),
    ...{ pepper: BENCH_PEPPER, dataDir: '.', poolSize: 4, preparedStatements: true },
  })
  scratch.atEnd(() => database.close())
  const clock = { machine: Date.now, service: () => TO }
  const operator = { control: database.control, clock, pepper: database.pepper }
  const { id: space } = await createTenant(operator, { name: 'Bench', plan: 'enterprise' }, current)
  const file = join(scratch.directory, 'transactions')
  await pipeline(Readable.from(record(space)), createWriteStream(file, { mode: 0o644 }))
  await database.control.query({ text: `COPY sandbox.card_transactions (${COLUMNS}) FROM '${file}'` })
  await database.control.query({ text: 'VACUUM (ANALYZE) sandbox.card_transactions' })
  sums.clear()

  const worker = backtestWorker({ database, clock, log: strictLog, wakeUpChannel: { publish: () => {} } })
  const session = (await database.control.query<{ pid: number }>({ text: SESSION })).rows[0]!.pid
  console.log(`${authorizations} authorizations`)
  for (const [name, controls] of Object.entries({ active: ACTIVE, stricter: STRICTER, none: NO_CONTROLS })) {
    const id = `scb_${name.padStart(26, '0')}`
    await insertBacktest(database.sandbox, space, {
      ...{ id, spending_control_draft_id: 'scd_0', version: 1, spending_controls: controls, card_id: null },
      ...{ card_program_id: null, interval_start: FROM, interval_end: TO, status: 'pending', progress: 0 },
      ...{ result: null, created: TO, updated: TO },
    })
    const [began, ours, theirs] = [performance.now(), processorSeconds(process.pid), serverSeconds(session)]
    await worker.runOnce()
    const seconds = (performance.now() - began) / 1000
    const used = [processorSeconds(process.pid) - ours, serverSeconds(session) - theirs]
    const { status, result } = (await readBacktest(database.sandbox, space, id))!
    const { evaluated, approved_to_declined, declined_to_approved } = result!
    console.log(
      `${name.padEnd(9)} ${status}: ${seconds.toFixed(1)} s; processor time: ${used[0]!.toFixed(1)} s of the worker, ${used[1]!.toFixed(1)} s of PostgreSQL; ` +
        `${evaluated.count} evaluated, differences: ${approved_to_declined.count} declined, ${declined_to_approved.count} approved`,
    )
  }
})
