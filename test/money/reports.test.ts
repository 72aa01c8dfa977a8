/** Treasury reports: each type row by row, in each version, however it is interrupted. */
import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { writeCell } from '../../runtime/money/reports/files.ts'
import {
  reportExpiryWorker,
  reportWorker,
  type TreasuryReportParts,
} from '../../runtime/money/reports/job.ts'
import { PENDING_REPORTS } from '../../runtime/money/reports/work-queries.ts'
import { openReportLinks } from '../../runtime/tenants/addresses/report-links.ts'
import { firstFault, refusal, speakFor } from '../api/fixtures.ts'
import { type CardVersion, eventsOf, make, makeCard, speakAll } from '../cards/fixtures.ts'
import { makePayable, settleInto } from '../support/payable.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'

const service = useService({ keepsTime: true })
let tenantId: string
let versions: Record<CardVersion, Send>
let send: Send
beforeEach(async () => {
  tenantId = await makeTenant(service, 'enterprise')
  versions = await speakAll(service, tenantId)
  send = versions['2026-05-19']
})

const parts = (): TreasuryReportParts => ({
  database: service.database,
  clock: { machine: () => service.clock.now, service: () => service.clock.now },
  wakeUpChannel: { publish: service.wakeUps.notify },
  log: strictLog,
  links: openReportLinks(service.database.pepper, service.urls),
})
const at = (ms: number) => new Date(ms).toISOString()
/** Up to this moment: what is written from now on is later. */
const around = () => {
  service.clock.now += 1
  return { interval_start: at(service.clock.now - 3_600_000), interval_end: at(service.clock.now) }
}
const ask = (content: object, by = send) => by('/v1/treasury_reports', { body: { ...around(), ...content } })
const get = async (id: string) => (await send(`/v1/treasury_reports/${id}`)).body

interface Report {
  readonly id: string
  readonly status: string
  readonly result: {
    readonly files: readonly { readonly format: string; readonly url: string; readonly sha256: string }[]
    readonly row_count: number
    readonly opening: number
    readonly closing: number
    readonly expires_at: string
  }
}
type Row = Readonly<Record<string, string | number | null>> & { readonly amount: number }

/** Asks, waits and downloads; checks what holds for every report. */
async function report(content: object, by = send): Promise<{ report: Report; rows: Row[]; csv: string }> {
  const asked = await ask(content, by)
  expect([asked.status, asked.body.status, asked.body.result]).toEqual([201, 'pending', null])
  await reportWorker(parts()).runOnce()
  const made: Report = await get(asked.body.id)
  expect(made.status).toBe('succeeded')
  const texts = await Promise.all(
    made.result.files.map(async ({ url, sha256 }) => {
      const bytes = Buffer.from(await (await fetch(url)).arrayBuffer())
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
      return bytes.toString()
    }),
  )
  expect(made.result.files.map(({ format }) => format)).toEqual(['csv', 'json'])
  const [csv = '', json = ''] = texts
  const rows: Row[] = JSON.parse(json)
  expect(rows.length).toBe(made.result.row_count)
  expect(made.result.closing).toBe(rows.reduce((sum, { amount }) => sum + amount, made.result.opening))
  const lines = csv.split('\r\n')
  expect(lines.at(-1)).toBe('')
  const columns = lines[0]!.split(',')
  expect(lines.slice(1, -1).map((line) => line.split(','))).toEqual(
    rows.map((row) => columns.map((column) => String(row[column] ?? ''))),
  )
  return { report: made, rows, csv }
}

const MERCHANT = { name: 'A', category_code: '5812' }

/** A card that is funded, used and refunded. */
async function spend(): Promise<{ id: string }> {
  await send('/v1/test/funding', { body: { amount: 100_000 } })
  const card = await makeCard(send)
  const post = { card_id: card.id, amount: 10_000, merchant: MERCHANT }
  const transaction = await make(send, '/v1/test/cards/simulate_force_post', post)
  await send('/v1/test/cards/simulate_refund', { body: { card_transaction_id: transaction.id, amount: 400 } })
  return transaction
}

/** Asks for a report, waits, and downloads its files by format. */
async function download(
  content: object,
): Promise<{ report: Report; files: Readonly<Record<string, Buffer>> }> {
  const { id } = await make(send, '/v1/treasury_reports', content)
  await reportWorker(parts()).runOnce()
  const made: Report = await get(id)
  const entries = made.result.files.map(
    async ({ format, url }) => [format, Buffer.from(await (await fetch(url)).arrayBuffer())] as const,
  )
  return { report: made, files: Object.fromEntries(await Promise.all(entries)) }
}

const JUNE = { interval_start: '2026-06-01T00:00:00Z', interval_end: '2026-07-01T00:00:00Z' }

test('the statement of a month adds up, and never changes', async () => {
  const began = service.clock.now
  const { id } = await spend()
  await settleInto(service.database, 'sandbox', tenantId, 700, service.clock.now)
  service.clock.now = Date.parse(JUNE.interval_end) + 5
  await send('/v1/test/funding', { body: { amount: 7 } })
  const { report: made, files } = await download({ type: 'statement', ...JUNE })
  const { csv = '', json = '', pdf } = files
  expect(Object.keys(files)).toEqual(['csv', 'json', 'pdf'])
  const rows: Row[] = JSON.parse(String(json))
  const balances = (await send(`/v1/balance?at=${JUNE.interval_end}`)).body
  for (const [account, closing] of [
    ['program_funds', balances.available + balances.held],
    ['settlement_payable', balances.payable],
  ]) {
    const own = rows.filter((row) => row.account === account)
    expect(own[0]).toMatchObject({ kind: 'opening_balance', amount: 0, balance: 0 })
    expect(own.reduce((sum, { amount }) => sum + amount, 0)).toBe(closing)
    expect(own.at(-1)).toMatchObject({ kind: 'closing_balance', amount: 0, balance: closing })
    const query = `account=${account}&limit=100&created[gte]=${JUNE.interval_start}&created[lt]=${JUNE.interval_end}`
    const entries: { kind: string; amount: number }[] = (await send(`/v1/balance_entries?${query}`)).body.data
    for (const { kind, entries: count, amount } of own.slice(1, -1)) {
      const same = entries.filter((entry) => entry.kind === kind)
      expect([kind, same.length, same.reduce((sum, entry) => sum + entry.amount, 0)]).toEqual([
        kind,
        count,
        amount,
      ])
    }
  }
  expect(made.result.closing).toBe(balances.available + balances.held + balances.payable)
  expect(String(csv).split('\r\n')[0]).toBe('account,kind,entries,credits,debits,amount,balance,currency')
  expect(pdf!.subarray(0, 5).toString()).toBe('%PDF-')
  await send('/v1/test/cards/simulate_refund', { body: { card_transaction_id: id, amount: 1 } })
  service.clock.now += 86_400_000
  expect((await download({ type: 'statement', ...JUNE })).files).toEqual(files)

  const refuse = async (content: object, by = send) =>
    firstFault(await by('/v1/treasury_reports', { body: content }))
  const days = { ...JUNE, interval_start: '2026-06-02T00:00:00Z' }
  expect(await refuse({ type: 'statement', ...days })).toMatchObject([
    422,
    'validation_failed',
    { field: 'interval_end' },
  ])
  const old = versions['2026-02-01']
  expect(await refuse({ type: 'statement', ...JUNE }, old)).toMatchObject([
    422,
    'validation_failed',
    { field: 'type' },
  ])
  expect((await old('/v1/treasury_reports')).body.data).toEqual([])
  expect((await old(`/v1/treasury_reports/${made.id}`)).status).toBe(404)
  service.clock.now = began
})

test('the debits of a journal equal its credits, line by line', async () => {
  const { id } = await spend()
  await settleInto(service.database, 'sandbox', tenantId, 700, service.clock.now)
  const { files, report: made } = await download({ type: 'journal', ...around() })
  expect([made.result.opening, made.result.closing]).toEqual([0, 0])
  const lines: Readonly<Record<string, string>>[] = JSON.parse(String(files.json))
  const sumOf = (column: string) =>
    lines.reduce((sum, line) => sum + BigInt((line[column] || '0.00').replace('.', '')), 0n)
  expect(sumOf('debit')).toBe(sumOf('credit'))
  expect(lines.length).toBeGreaterThan(6)
  for (let place = 0; place < lines.length; place += 2) {
    const [debit, credit] = lines.slice(place, place + 2)
    const { reference, memo, date } = debit!
    expect(credit).toMatchObject({ reference, memo, date, debit: '', credit: debit!.debit })
  }
  const day = at(service.clock.now).slice(0, 10)
  expect(
    String(files.csv)
      .split('\r\n')
      .filter((line) => line.includes(`${id},`)),
  ).toEqual([
    `${day},network_clearing,100.00,,usd,${id},Card transaction`,
    `${day},program_funds,,100.00,usd,${id},Card transaction`,
    `${day},program_funds,4.00,,usd,${id},Card transaction`,
    `${day},network_clearing,,4.00,usd,${id},Card transaction`,
  ])
})

describe('the rows', () => {
  test('the rows of a balance report say what moved it', async () => {
    await spend()
    const { rows, report: made } = await report({ type: 'balance_summary' })
    const row = (type: string, entries: number, credits: number, debits: number) => ({
      ...{ type, entries, credits, debits, amount: credits + debits, currency: 'usd' },
    })
    expect(rows).toEqual([
      row('card_refund', 1, 400, 0),
      row('card_transaction', 1, 0, -10_000),
      row('funding', 1, 100_000, 0),
    ])
    expect([made.result.opening, made.result.closing]).toEqual([0, 90_400])
    expect((await send('/v1/balance')).body.available).toBe(90_400)
  })

  test('the rows of a ledger report are its entries, each with the balance of its account', async () => {
    const transaction = await spend()
    const { rows } = await report({ type: 'ledger_entries' })
    const { rows: entries } = await service.database.sandbox.query<{ id: string }>(
      { text: 'SELECT * FROM ledger_entries WHERE tenant_id = $1 ORDER BY account_id, version' },
      [tenantId],
    )
    expect(rows.map(({ id }) => id)).toEqual(entries.map(({ id }) => id))
    const funds = rows.filter(({ account }) => account === 'program_funds')
    expect(funds).toMatchObject([
      { amount: 100_000, previous_balance: 0, balance: 100_000 },
      { amount: -10_000, previous_balance: 100_000, balance: 90_000, source_id: transaction.id },
      { amount: 400, previous_balance: 90_000, balance: 90_400, source_id: transaction.id },
    ])
  })

  test.each([
    ['2025-11-01', 'cardTransaction'],
    ['2026-02-01', 'cardTransaction'],
    ['2026-05-19', 'card_transaction'],
  ] as const)(
    'the rows of a settlement report are its lines, as %s spells them: %s',
    async (version, type) => {
      const transaction = await spend()
      const { rows, report: made } = await report({ type: 'settlement_reconciliation' }, versions[version])
      const [settlement] = (await versions[version]('/v1/settlements')).body.data
      expect(rows).toEqual(
        settlement.lines.map(({ object: _, ...line }: Row) => ({ ...line, settlement_status: 'open' })),
      )
      expect(rows[0]).toMatchObject({ type, source_id: transaction.id })
      expect(made.result.closing).toBe(settlement.net_amount)
    },
  )

  test('the rows of a payout report are what made money payable and what paid it', async () => {
    const address = '0x52908400098527886E0F7030069857D2E4169EE7'
    const { error } = (
      await send('/v1/payout_destinations', {
        body: { type: 'usdc_address', address: `eip155:0:${address}`, holder_name: 'Harbour Coffee LLC' },
      })
    ).body
    const chain = /eip155:[1-9]\d*/.exec(JSON.stringify(error))?.[0]
    const body = { type: 'usdc_address', address: `${chain}:${address}`, holder_name: '=Harbour' }
    const destination = await make(send, '/v1/payout_destinations', body)
    await makePayable(service.database, 'sandbox', tenantId, destination.id, 10_000, service.clock.now)
    const order = { amount: 1_000, currency: 'usdc', destination_id: destination.id }
    const kept = await make(send, '/v1/payouts', order)
    const canceled = await make(send, '/v1/payouts', order)
    await send(`/v1/payouts/${canceled.id}/cancel`, { method: 'POST' })
    const { rows, report: made } = await report({ type: 'payout_reconciliation' })
    expect(rows).toMatchObject([
      { type: 'settlement', payout_id: null, amount: 10_000 },
      { type: 'payout', payout_id: kept.id, payout_status: 'pending', amount: -1_000 },
      { type: 'payout', payout_id: canceled.id, payout_status: 'canceled', amount: -1_000 },
      { type: 'payout_reversal', payout_id: canceled.id, amount: 1_000 },
    ])
    expect(made.result.closing).toBe((await send('/v1/balance')).body.payable)
  })

  test('begin where the report before has ended', async () => {
    await spend()
    const middle = service.clock.now + 1
    service.clock.now += 60_000
    await spend()
    const first = { interval_start: at(middle - 60_000), interval_end: at(middle) }
    const second = { interval_start: at(middle), interval_end: at(service.clock.now + 1) }
    service.clock.now += 1
    for (const type of ['balance_summary', 'settlement_reconciliation']) {
      const before = await report({ type, ...first })
      const after = await report({ type, ...second })
      expect(after.report.result.opening).toBe(before.report.result.closing)
      expect(before.rows.length).toBeGreaterThan(0)
    }
    expect((await report({ type: 'balance_summary', ...second })).report.result.closing).toBe(180_800)
  })
})

describe('the files', () => {
  test('the files of a report are there for a week, for every holder of the address, and no longer', async () => {
    await spend()
    const { report: made } = await report({ type: 'balance_summary' })
    const { url, sha256 } = made.result.files[0]!
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, head.headers.get('etag')]).toEqual([200, `"${sha256}"`])
    expect(head.headers.get('content-type')).toContain('text/csv')
    expect(head.headers.get('content-disposition')).toBe(`attachment; filename="${made.id}.csv"`)
    expect((await fetch(`${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`)).status).toBe(404)
    expect((await fetch(url.replace(service.urls.sandbox, service.urls.live))).status).toBe(404)
    service.clock.now = Date.parse(made.result.expires_at)
    expect((await fetch(url)).status).toBe(404)
    await reportExpiryWorker(parts()).runOnce()
    const pieces = 'SELECT FROM treasury_report_pieces WHERE tenant_id = $1'
    expect((await service.database.sandbox.query({ text: pieces }, [tenantId])).count).toBe(0)
    expect((await get(made.id)).result.row_count).toBe(made.result.row_count)
  })

  test.each([
    ['=1+1', '"\'=1+1"'],
    ['+1', '"\'+1"'],
    ['-1', '"\'-1"'],
    ['@a', '"\'@a"'],
    ['\tx', '"\'\tx"'],
    ['a"b', '"a""b"'],
    ['a,b', '"a,b"'],
    ['a\nb', '"a\nb"'],
    ['a', 'a'],
    [-1, '-1'],
    [null, ''],
  ])('hold %j as %j in CSV: no spreadsheet runs it', (value, cell) => {
    expect(writeCell(value)).toBe(cell)
  })
})

describe('the work', () => {
  test('a report whose worker died is begun anew, and leaves nothing twice', async () => {
    await spend()
    const { body } = await ask({ type: 'ledger_entries' })
    const pool = service.database.sandbox
    const now = service.clock.now
    const lease = { token: crypto.randomUUID(), now, until: now + 30_000 }
    expect(await PENDING_REPORTS.leases.acquire(pool, [tenantId, body.id], lease)).toBeDefined()
    await pool.query(
      {
        text: `INSERT INTO treasury_report_pieces (tenant_id, report_id, format, position, content)
               VALUES ($1, $2, 'csv', 0, 'half a file')`,
      },
      [tenantId, body.id],
    )
    await reportWorker(parts()).runOnce()
    expect((await get(body.id)).status).toBe('pending')
    service.clock.now += 30_000
    await Promise.all([reportWorker(parts()).runOnce(), reportWorker(parts()).runOnce()])
    const made: Report = await get(body.id)
    expect(made.status).toBe('succeeded')
    const csv = await (await fetch(made.result.files[0]!.url)).text()
    expect(csv).toMatch(/^id,/)
    expect((await eventsOf(send)).filter((type) => type.startsWith('treasury_report'))).toEqual([
      'treasury_report.succeeded',
    ])
  })

  test('a report ends with a reason where the ledger does not add up, and where it never succeeds', async () => {
    await spend()
    const wrong = `UPDATE sandbox.ledger_entries SET previous = previous + 1
      WHERE tenant_id = $1 AND account_id = 'program_funds' AND version = 2`
    await service.database.control.query({ text: wrong }, [tenantId])
    const broken = await ask({ type: 'balance_summary' })
    await reportWorker(parts()).runOnce()
    expect(await get(broken.body.id)).toMatchObject({
      ...{ status: 'failed', failure_code: 'inconsistent_records', result: null },
    })
    const { body } = await ask({ type: 'ledger_entries' })
    const text = 'UPDATE sandbox.treasury_reports SET tries = 5 WHERE tenant_id = $1 AND id = $2'
    await service.database.control.query({ text }, [tenantId, body.id])
    await reportWorker(parts()).runOnce()
    expect(await get(body.id)).toMatchObject({ status: 'failed', failure_code: 'processing_error' })
    expect(await eventsOf(send)).toContain('treasury_report.failed')
  })
})

describe('asked for wrongly', () => {
  test.each([
    [{ interval_end: at(0) }, 'interval_end', /after interval_start/],
    [
      { interval_start: '2016-01-01T00:00:00Z', interval_end: '2026-01-01T00:00:00Z' },
      'interval_end',
      /five years/,
    ],
    [{ interval_start: '9999-12-31T23:59:59-00:01' }, 'interval_start', /in the years 0001 to 9999/],
  ])('POST of a treasury report refuses %j: %s %s', async (content, field, issue) => {
    const answer = await ask({ type: 'balance_summary', ...content })
    const fault = { field, issue: expect.stringMatching(issue) }
    expect(firstFault(answer)).toEqual([422, 'validation_failed', fault])
  })

  test('too many concurrent reports are refused with 409 until some are made', async () => {
    for (let count = 0; count < 20; count += 1)
      expect((await ask({ type: 'balance_summary' })).status).toBe(201)
    expect(refusal(await ask({ type: 'balance_summary' }))).toEqual([409, 'conflict', 'invalid_state'])
    await reportWorker(parts()).runOnce()
    expect((await ask({ type: 'balance_summary' })).status).toBe(201)
  })

  test('a live report is refused without a verified business', async () => {
    const live = await speakFor(service, tenantId, 'live')
    const answer = await ask({ type: 'balance_summary' }, live)
    expect(refusal(answer)).toEqual([403, 'permission_error', 'business_verification_required'])
  })
})
