/** Treasury reports while others write: consecutive reports join, and each entry and each line is in one of them. */
import { beforeEach, describe, expect, test } from 'vitest'
import { post } from '../../runtime/money/ledger/post.ts'
import { reportWorker, type TreasuryReportParts } from '../../runtime/money/reports/job.ts'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { openReportLinks } from '../../runtime/tenants/addresses/report-links.ts'
import { firstFault } from '../api/fixtures.ts'
import { make, makeCard } from '../cards/fixtures.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'

const service = useService({ poolSize: 12, guarded: false, keepsTime: true })
let tenantId: string
let send: Send
beforeEach(async () => {
  tenantId = await makeTenant(service, 'enterprise')
  const { secret } = await makeKey(service, tenantId)
  send = speak(service.urls.sandbox, { secret, version: '2026-05-19' })
})

const parts = (): TreasuryReportParts => ({
  database: service.database,
  clock: { machine: () => Date.now(), service: () => service.clock.now },
  wakeUpChannel: { publish: service.wakeUps.notify },
  log: strictLog,
  links: openReportLinks(service.database.pepper, service.urls),
})

const at = (ms: number) => new Date(ms).toISOString()

const TYPES = [
  'balance_summary',
  'ledger_entries',
  'settlement_reconciliation',
  'payout_reconciliation',
] as const
type ReportType = (typeof TYPES)[number]
type Row = Readonly<Record<string, string | number>> & { readonly amount: number }

interface Made {
  readonly type: ReportType
  readonly opening: number
  readonly closing: number
  readonly rows: readonly Row[]
}

/** Asks for a report of each type. */
async function ask(
  start: number,
  end: number,
): Promise<{ readonly type: ReportType; readonly id: string }[]> {
  service.clock.monotonic += 60_000
  const interval = { interval_start: at(start), interval_end: at(end) }
  const asked: { type: ReportType; id: string }[] = []
  for (const type of TYPES) {
    const { id } = await make(send, '/v1/treasury_reports', { type, ...interval })
    asked.push({ type, id })
  }
  return asked
}

/** What became of reports that are made. */
async function read(asked: Awaited<ReturnType<typeof ask>>): Promise<Record<ReportType, Made>> {
  const made = await Promise.all(
    asked.map(async ({ type, id }) => {
      const { status, result } = (await send(`/v1/treasury_reports/${id}`)).body
      expect([type, status]).toEqual([type, 'succeeded'])
      const { url } = result.files.find(({ format }: { format: string }) => format === 'json')
      const rows = (await (await fetch(url)).json()) as readonly Row[]
      const { opening, closing } = result
      expect([type, closing]).toEqual([type, rows.reduce((sum, { amount }) => sum + amount, opening)])
      return [type, { type, opening, closing, rows }] as const
    }),
  )
  return Object.fromEntries(made) as Record<ReportType, Made>
}

async function report(start: number, end: number): Promise<Record<ReportType, Made>> {
  const asked = await ask(start, end)
  for (const _ of TYPES) await reportWorker(parts()).runOnce() // one of a tenant at a time
  return read(asked)
}

const rowsOf = async <R>(text: string) => (await service.database.sandbox.query<R>({ text }, [tenantId])).rows

/** Each row of the ledger begins with the balance that the row before of its account has ended with, over all reports. */
function expectFollowing(rows: readonly Row[]): void {
  const balances = new Map<unknown, unknown>()
  for (const { id, account, previous_balance, balance } of rows) {
    expect([id, previous_balance]).toEqual([id, balances.get(account) ?? 0])
    balances.set(account, balance)
  }
}

/** What holds of reports that follow on each other and cover all that there is. */
async function expectJoined(chain: readonly Record<ReportType, Made>[]): Promise<void> {
  for (const type of TYPES) {
    const balances = chain.flatMap((each) => [each[type].opening, each[type].closing])
    expect([type, balances.slice(1, -1)]).toEqual([
      type,
      chain.slice(1).flatMap((each) => [each[type].opening, each[type].opening]),
    ])
    expect([type, balances[0]]).toEqual([type, 0])
  }
  const rows = (type: ReportType) => chain.flatMap((each) => each[type].rows)
  const entries = await rowsOf<{ id: string }>(
    'SELECT id FROM ledger_entries WHERE tenant_id = $1 ORDER BY id',
  )
  expect(
    rows('ledger_entries')
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(entries.map(({ id }) => id))
  expectFollowing(rows('ledger_entries'))
  for (const { ledger_entries: made } of chain) expect([made.opening, made.closing]).toEqual([0, 0])
  const lines = await rowsOf<{ id: string }>(
    'SELECT id FROM settlement_lines WHERE tenant_id = $1 ORDER BY id',
  )
  expect(
    rows('settlement_reconciliation')
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(lines.map(({ id }) => id))
  // A line is reported with its entry.
  for (const each of chain) {
    const own = new Set(each.ledger_entries.rows.map(({ id }) => id))
    for (const { ledger_entry_id } of each.settlement_reconciliation.rows)
      expect(own).toContain(ledger_entry_id)
    const funds = each.ledger_entries.rows.filter(({ account }) => account === 'program_funds')
    const count = each.balance_summary.rows.reduce((sum, { entries: own }) => sum + Number(own), 0)
    expect(count).toBe(funds.length)
  }
  const [books] = await rowsOf<{ funds: number; net: number }>(
    `SELECT (SELECT balance FROM ledger_accounts WHERE tenant_id = $1 AND id = 'program_funds') AS funds,
            (SELECT coalesce(sum(net_amount), 0)::bigint FROM settlements WHERE tenant_id = $1) AS net`,
  )
  const last = chain.at(-1)!
  expect(last.balance_summary.closing).toBe(books!.funds)
  expect(last.settlement_reconciliation.closing).toBe(books!.net)
  await verifyLedger(service.operator, tenantId)
}

const WRITERS = 10
const REPORTS = 2
const MERCHANT = { name: 'A', category_code: '5812' }

test(`${WRITERS} clients write while reports up to this moment are made: nothing is lost, nothing is there twice`, async () => {
  const start = service.clock.now
  const card = await makeCard(send)
  await send('/v1/test/funding', { body: { amount: 1_000_000 } })
  let isOver = false
  const write = async (writer: number) => {
    for (let count = 0; !isOver; count += 1) {
      service.clock.now += 1
      service.clock.monotonic += 10_000
      const amount = 100 + ((writer * 31 + count * 17) % 97)
      if (count % 4 === 3) await send('/v1/test/funding', { body: { amount } })
      else {
        const body = { card_id: card.id, amount, merchant: MERCHANT }
        const { id } = await make(send, '/v1/test/cards/simulate_force_post', body)
        if (count % 4 === 1)
          await send('/v1/test/cards/simulate_refund', { body: { card_transaction_id: id, amount: 50 } })
      }
    }
  }
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer))
  const chain: Record<ReportType, Made>[] = []
  let before = start
  while (chain.length < REPORTS) {
    const end = service.clock.now
    chain.push(await report(before, end))
    before = end
  }
  isOver = true
  await Promise.all(writers)
  service.clock.now += 1
  chain.push(await report(before, service.clock.now))
  await expectJoined(chain)
})

/** Writes of a transaction that is dated now and stays open until it is let go. */
async function writeLate(): Promise<() => Promise<unknown>> {
  const { promise: isLetGo, resolve } = Promise.withResolvers<void>()
  const { promise: isWritten, resolve: written } = Promise.withResolvers<void>()
  const transfer = { from: 'bank', to: 'program_funds', amount: 500 } as const
  const { now } = service.clock
  const done = service.database.sandbox.transaction(async (db) => {
    await post(db, tenantId, `len_${crypto.randomUUID()}`, { transfer }, now)
    written()
    await isLetGo
  })
  await isWritten
  return () => {
    resolve()
    return done
  }
}

describe('an entry dated in the interval and committed after the report', () => {
  test('an entry that is committed after the report is in the next report, and stays there', async () => {
    const start = service.clock.now
    await send('/v1/test/funding', { body: { amount: 1000 } })
    service.clock.now += 5
    const letGo = await writeLate()
    service.clock.now += 5
    const middle = service.clock.now
    const first = await report(start, middle)
    await letGo()
    service.clock.now += 5
    const second = await report(middle, service.clock.now)
    expect(second.balance_summary.rows).toMatchObject([{ type: 'funding', amount: 500 }])
    await expectJoined([first, second])
    expect(await report(start, middle)).toEqual(first)
  })

  test('an entry that is committed late is in the right report of earlier intervals that are made for the first time afterwards', async () => {
    const start = service.clock.now
    await send('/v1/test/funding', { body: { amount: 1000 } })
    service.clock.now += 5
    const middle = service.clock.now
    const letGo = await writeLate()
    service.clock.now += 5
    const late = service.clock.now
    await report(start, late)
    await letGo()
    service.clock.now += 5
    const end = service.clock.now
    const chain = [await report(start, middle), await report(middle, late), await report(late, end)]
    await expectJoined(chain)
    expect(chain.map(({ balance_summary }) => balance_summary.closing)).toEqual([1000, 1000, 1500])
  })
})

test('entries that came in another order than their times are followed over any boundary, transactions whole', async () => {
  const start = service.clock.now
  const accounts = ['bank', 'program_funds', 'network_clearing', 'provisional_credit'] as const
  const times = Array.from({ length: 60 }, (_, n) => start + ((n * 7) % 13) + n)
  for (const [n, now] of times.entries()) {
    const from = accounts[n % 4]!
    const transfer = { from, to: accounts[(n + 1 + (n % 3)) % 4]!, amount: 1 + n }
    await service.database.sandbox.transaction((db) => post(db, tenantId, `len_${n}`, { transfer }, now))
  }
  service.clock.now += 100
  const bounds = [0, 10, 11, 12, 30, 47, 100].map((ms) => start + ms)
  const spans = bounds.slice(1).map((end, index) => [bounds[index]!, end] as const)
  const made = new Map<number, Record<ReportType, Made>>()
  // Not in their order.
  for (const index of [3, 0, 5, 1, 4, 2]) made.set(index, await report(...spans[index]!))
  const chain = spans.map((_, index) => made.get(index)!)
  await expectJoined(chain)
  for (const [index, { ledger_entries }] of chain.entries())
    for (const { created } of ledger_entries.rows)
      expect(Date.parse(String(created))).toBeLessThan(spans[index]![1])
})

test('reports that workers make at once for the same end are the same', async () => {
  const start = service.clock.now
  await send('/v1/test/funding', { body: { amount: 1000 } })
  service.clock.now += 5
  const asked = [await ask(start, service.clock.now), await ask(start, service.clock.now)]
  const workers = async () => {
    for (let count = 0; count < 4 * TYPES.length; count += 1) await reportWorker(parts()).runOnce()
  }
  await Promise.all([workers(), workers(), workers()])
  await workers() // what a worker left to another that had begun
  const [first, second] = await Promise.all(asked.map(read))
  expect(second).toEqual(first)
})

test('a clock that was set back loses nothing', async () => {
  const start = service.clock.now
  await send('/v1/test/funding', { body: { amount: 1000 } })
  service.clock.now += 86_400_000
  await send('/v1/test/funding', { body: { amount: 100 } })
  service.clock.now += 5
  const ahead = service.clock.now
  const first = await report(start, ahead)
  service.clock.now = start + 5
  await send('/v1/test/funding', { body: { amount: 10 } })
  service.clock.now += 5
  const early = await report(start, service.clock.now)
  expect(early.balance_summary.closing).toBe(1000)
  service.clock.now = ahead + 5
  const chain = [first, await report(ahead, service.clock.now)]
  await expectJoined(chain)
  expect(chain[1]!.balance_summary.closing).toBe(1110)
  service.clock.now = start
})

test.each(['2025-11-01', '2026-02-01', '2026-05-19'])(
  'an end in the future is refused in %s',
  async (version) => {
    const { secret } = await makeKey(service, tenantId)
    const by = speak(service.urls.sandbox, { secret, version })
    const { now } = service.clock
    const interval = { interval_start: at(now - 1000), interval_end: at(now + 1) }
    const issue = expect.stringMatching(/future/)
    expect(
      firstFault(await by('/v1/treasury_reports', { body: { type: 'balance_summary', ...interval } })),
    ).toEqual([...[422, 'validation_failed', { field: 'interval_end', issue }]])
    const ended = { ...interval, interval_end: at(now) }
    expect((await by('/v1/treasury_reports', { body: { type: 'balance_summary', ...ended } })).status).toBe(
      201,
    )
  },
)
