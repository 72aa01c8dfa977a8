/** Reconciliation of a day with the network's settlement report: every difference has its cause. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FORMATS } from '../../../runtime/cards/clearing/formats.ts'
import { type ImportParts, importFile } from '../../../runtime/cards/clearing/import.ts'
import { reconcile } from '../../../runtime/cards/clearing/reconcile.ts'
import { START, useService } from '../../support/service.ts'
import { type NetworkSend, openTestNetwork } from '../network/open-network.ts'
import { type TestRecord, writeClearingFile } from './clearing-file.ts'
import { MERCHANT, openCard, openImport, paying, record, type TestCard } from './clearing-world.ts'

const service = useService({ poolSize: 12 })
const folder = mkdtempSync(join(tmpdir(), 'svc-reconcile-'))
afterAll(() => rmSync(folder, { recursive: true }))

const DAY = '2026-06-01'
const TABLE = [{ id: 'travel', categories: ['3000-3999'], basis_points: 200 }]

let parts: ImportParts
let network: NetworkSend
let plain: TestCard
let travel: { readonly card: TestCard; readonly program: string }

beforeAll(async () => {
  service.clock.now = START
  parts = { ...openImport(service), rates: { interchange: 150, networkFee: 10, table: TABLE } }
  network = openTestNetwork(service)
  plain = await openCard(service)
  const { send } = plain
  const program = (await send('/v1/card_programs', { body: { name: 'Travel', kind: 'virtual' } })).body.id
  travel = { card: plain, program }
})

/** What the network says of the day, by its members. */
const row = (more: object) => ({
  ...{ business_date: DAY, environment: 'sandbox', interchange_category: 'standard' },
  ...{ clearings_count: 2, clearings_amount: 3000, refunds_count: 1, refunds_amount: 500 },
  ...{ interchange_amount: 37, fees_amount: 3 },
  ...more,
})

const TRAVEL = {
  interchange_category: 'travel',
  ...{ clearings_count: 1, clearings_amount: 10_000, refunds_count: 0, refunds_amount: 0 },
  ...{ interchange_amount: 200, fees_amount: 10 },
}

function compare(rows: readonly object[], format = 'json') {
  const path = join(folder, `report.${format}`)
  const names = Object.keys(row({}))
  const csv = [names, ...rows.map((each) => names.map((name) => (each as TestRecord)[name]))].join('\n')
  writeFileSync(path, format === 'csv' ? `${csv}\n` : JSON.stringify({ rows }))
  return reconcile(service.database.control, 'sandbox', DAY, path)
}

const idOf = async (use: string) => {
  const { rows } = await service.database.control.query<{ id: string }>(
    { text: 'SELECT id FROM sandbox.card_transactions WHERE network_id = $1' },
    [use],
  )
  return rows[0]!.id
}

const causesOf = async (rows: readonly object[]) =>
  (await compare(rows)).differences.map(({ causes }) => causes)

test('without a file, the day is missing', async () => {
  expect(await causesOf([row({})])).toEqual([[{ cause: 'missing_file', ids: [] }]])
})

describe('after a file', () => {
  beforeAll(async () => {
    const flight = { ...MERCHANT, category_code: '3500' }
    const records = [
      record('clearing', plain, 'a', 1, paying(1000)),
      record('clearing', plain, 'b', 1, paying(2000)),
      record('refund', plain, 'b', 2, paying(500)),
      record('clearing', travel.card, 'c', 1, { ...paying(10_000), merchant: flight }),
      record('clearing', { number: '4000009999999999' }, 'd', 1, paying(700)),
    ]
    const file = { fileId: 'day-1', businessDate: DAY, records }
    await importFile(parts, writeClearingFile(join(folder, 'day.jsonl'), file), FORMATS.jsonl)
    // The network sent it on the day, and counts it to the next one.
    const late = {
      fileId: 'day-2',
      businessDate: '2026-06-02',
      records: [record('clearing', plain, 'e', 3, paying(400))],
    }
    await importFile(parts, writeClearingFile(join(folder, 'late.jsonl'), late), FORMATS.jsonl)
  })

  test.each(['json', 'csv'])('a report in %s that agrees has no differences', async (format) => {
    expect(await compare([row({}), row(TRAVEL)], format)).toEqual({
      ...{ environment: 'sandbox', date: DAY, compared: 2, differences: [] },
    })
  })

  test('more clearings than booked: an open exception and a late clearing explain them', async () => {
    const more = { clearings_count: 4, clearings_amount: 4100, interchange_amount: 54, fees_amount: 4 }
    const [difference] = (await compare([row(more), row(TRAVEL)])).differences
    expect(difference).toMatchObject({
      ...{ card_program_id: null, interchange_category: 'standard' },
      differs: {
        clearings_count: { network: '4', service: '2' },
        clearings_amount: { network: '4100', service: '3000' },
      },
      causes: [
        { cause: 'open_exception', ids: [expect.stringMatching(/^nex_/)] },
        { cause: 'late_clearing', ids: [await idOf('e')] },
      ],
    })
  })

  test.each([
    [
      'an item that the network does not have',
      { clearings_count: 1, clearings_amount: 1000 },
      'unknown_to_network',
    ],
    ['another amount', { clearings_amount: 3001 }, 'amount_differs'],
    ['another rate', { interchange_amount: 38 }, 'rate_differs'],
    ['another fee', { fees_amount: 4 }, 'fee_differs'],
  ])('%s is named, with the transactions', async (_, more, cause) => {
    const ids = [await idOf('a'), await idOf('b')].toSorted()
    expect(await causesOf([row(more), row(TRAVEL)])).toEqual([[{ cause, ids }]])
  })

  test('an entry that the ledger does not have is found', async () => {
    const { control } = service.database
    const line = `SELECT l.id, l.ledger_entry_id FROM sandbox.settlement_lines l WHERE l.source_id = $1 AND l.type = 'card_transaction'`
    const [{ id, ledger_entry_id }] = (
      await control.query<{ id: string; ledger_entry_id: string }>({ text: line }, [await idOf('a')])
    ).rows as [{ id: string; ledger_entry_id: string }]
    const set = (value: string) =>
      control.query({ text: 'UPDATE sandbox.settlement_lines SET ledger_entry_id = $2 WHERE id = $1' }, [
        id,
        value,
      ])
    await set('len_gone')
    expect(await causesOf([row({}), row(TRAVEL)])).toEqual([[{ cause: 'not_in_ledger', ids: [id] }]])
    await set(ledger_entry_id)
  })

  test('a message of its own counts to the day on which the network sent it', async () => {
    const { kind: _, ...message } = record('clearing', plain, 'f', 5, paying(100))
    await network('clear', message as Parameters<NetworkSend>[1] as never)
    const more = { clearings_count: 3, clearings_amount: 3100, interchange_amount: 39 }
    expect(await causesOf([row(more), row(TRAVEL)])).toEqual([])
  })

  test('a report that cannot be read is refused', async () => {
    await expect(compare([row({ fees_amount: 'x' })])).rejects.toThrow(/fees_amount of row 1/)
    await expect(compare([row({}), row({})])).rejects.toThrow(/row 2 .* repeats/)
  })
})
