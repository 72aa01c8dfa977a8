/** Clearing files of the network: what each line does, and that a file is applied once, whatever interrupts it. */
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { FORMATS } from '../../../runtime/cards/clearing/formats.ts'
import { type ImportOptions, type ImportParts, importFile } from '../../../runtime/cards/clearing/import.ts'
import type { NetworkMessages } from '../../../runtime/cards/network/network.ts'
import { findFault } from '../../../runtime/money/ledger/verify.ts'
import {
  listExceptions,
  noteException,
  retryOpenException,
  showClearingFiles,
} from '../../../runtime/operator/clearing.ts'
import { checkEvent } from '../../support/contract.ts'
import { useService } from '../../support/service.ts'
import { type NetworkSend, openTestNetwork } from '../network/open-network.ts'
import { type TestFile, type TestRecord, writeClearingFile } from './clearing-file.ts'
import { MERCHANT, openCard, openImport, paying, record, type TestCard } from './clearing-world.ts'

const service = useService({ poolSize: 12 })
const folder = mkdtempSync(join(tmpdir(), 'svc-clearing-'))
afterAll(() => rmSync(folder, { recursive: true }))

let cards: readonly TestCard[]
let network: NetworkSend
let parts: ImportParts
let count = 0

beforeEach(async () => {
  count += 1
  cards = [await openCard(service), await openCard(service)]
  network = openTestNetwork(service)
  parts = openImport(service)
})

/** Sends the record as a message of its own. */
const tell = (kind: keyof NetworkMessages, { kind: _, ...message }: TestRecord) =>
  network(kind, message as NetworkMessages[typeof kind][0])

const importing = (file: Partial<TestFile> & Pick<TestFile, 'records'>, options?: ImportOptions) => {
  const { format = 'jsonl' } = file
  const path = writeClearingFile(join(folder, `${count}.${format}`), { fileId: `file-${count}`, ...file })
  return importFile(parts, path, FORMATS[format], options)
}

async function exceptions() {
  const { rows } = await service.database.control.query<Record<string, unknown>>(
    {
      text: 'SELECT line, reason, field, card_last4, resolved IS NOT NULL AS resolved FROM control.network_exceptions WHERE file_id = $1 ORDER BY line',
    },
    [`file-${count}`],
  )
  return rows
}

const transactionsOf = async ({ send }: TestCard) =>
  ((await send('/v1/card_transactions?order=asc')).body.data as { status: string; amounts: object }[]).map(
    ({ status, amounts }) => ({ status, ...amounts }),
  )

const expectSound = async () => {
  for (const { tenantId } of cards)
    expect(await findFault(service.database.control, 'sandbox', tenantId)).toBeUndefined()
}

/** Uses of each card: authorized ones that clear in part, in full and above, a force post, a refund and a reversal. */
async function makeRecords(of = cards): Promise<TestRecord[]> {
  const records: TestRecord[] = []
  for (const [index, card] of of.entries()) {
    const use = (name: string) => `${count}-${index}-${name}`
    for (const name of ['full', 'part', 'over', 'back', 'gone']) {
      await tell('authorize', record('', card, use(name), 0, { ...paying(1000), entry_method: 'chip' }))
    }
    records.push(
      record('clearing', card, use('full'), 1, { ...paying(1000), final: true }),
      record('clearing', card, use('part'), 1, { ...paying(300), final: false }),
      record('clearing', card, use('over'), 1, { ...paying(1500), interchange_category: 'keyed' }),
      record('clearing', card, use('part'), 2, paying(200)),
      record('clearing', card, use('force'), 1, paying(700)),
      record('clearing', card, use('back'), 1, paying(1000)),
      record('refund', card, use('back'), 2, paying(400)),
      record('reversal', card, use('gone'), 1),
      record('reversal', card, use('part'), 3, { amount: 100 }),
    )
  }
  return records
}

const ENDED = [
  { status: 'cleared', requested: 1000, authorized: 1000, held: 0, cleared: 1000, refunded: 0, reversed: 0 },
  {
    status: 'authorized',
    requested: 1000,
    authorized: 1000,
    held: 400,
    cleared: 500,
    refunded: 0,
    reversed: 100,
  },
  { status: 'cleared', requested: 1000, authorized: 1000, held: 0, cleared: 1500, refunded: 0, reversed: 0 },
  {
    status: 'cleared',
    requested: 1000,
    authorized: 1000,
    held: 0,
    cleared: 1000,
    refunded: 400,
    reversed: 0,
  },
  { status: 'reversed', requested: 1000, authorized: 1000, held: 0, cleared: 0, refunded: 0, reversed: 1000 },
  { status: 'cleared', requested: 700, authorized: 0, held: 0, cleared: 700, refunded: 0, reversed: 0 },
]

/** What a tenant's money came to, without what differs from run to run. */
async function moneyOf({ send, tenantId }: TestCard) {
  const [settlement] = (await send('/v1/settlements')).body.data
  const { transaction_amount, interchange_amount, fees_amount, net_amount, lines_count } = settlement
  const { available, pending } = (await send('/v1/balance')).body
  const { rows } = await service.database.control.query(
    {
      text: 'SELECT account_id, count(*) AS entries, sum(amount)::text AS sum FROM sandbox.ledger_entries WHERE tenant_id = $1 GROUP BY 1 ORDER BY 1',
    },
    [tenantId],
  )
  return {
    transaction_amount,
    interchange_amount,
    fees_amount,
    net_amount,
    lines_count,
    available,
    pending,
    rows,
  }
}

describe('a file', () => {
  test.each(['jsonl', 'csv'] as const)('in %s: every line takes effect, once', async (format) => {
    const file = { format, records: await makeRecords() }
    const { file: row, wasImported } = await importing(file)
    expect([row, wasImported]).toMatchObject([{ records: 18, lines: 18, exceptions: 0 }, false])
    for (const card of cards) expect(await transactionsOf(card)).toEqual(ENDED)
    await expectSound()
    const before = await Promise.all(cards.map(moneyOf))
    expect(await importing(file)).toMatchObject({ wasImported: true })
    const other = { ...file, records: file.records.slice(1) }
    await expect(importing(other)).rejects.toThrow(/A different file with the ID/)
    expect(await Promise.all(cards.map(moneyOf))).toEqual(before)
  })

  test('ends as the same messages one by one, with the same events', async () => {
    const [together, alone] = cards as [TestCard, TestCard]
    const records = await makeRecords([together])
    const singles = await makeRecords([alone])
    await importing({ records })
    const kinds = { clearing: 'clear', refund: 'refund', reversal: 'reverse' } as const
    for (const each of singles) await tell(kinds[each.kind as keyof typeof kinds], each)
    expect(await transactionsOf(alone)).toEqual(await transactionsOf(together))
    expect(await moneyOf(together)).toEqual(await moneyOf(alone))
    const eventsOf = async ({ send }: TestCard) => {
      const { data } = (await send('/v1/events?limit=100')).body
      expect(data.flatMap(checkEvent)).toEqual([])
      return data.map(({ type }: { type: string }) => type).toSorted()
    }
    expect(await eventsOf(together)).toEqual(await eventsOf(alone))
    await expectSound()
  })

  test('a refund before its clearing waits for it, and the exception ends by itself', async () => {
    const [card] = cards as [TestCard]
    const use = `${count}-late`
    const records = [
      record('refund', card, use, 2, paying(300)),
      record('clearing', card, use, 1, paying(1000)),
      record('refund', card, `${use}r`, 2, paying(300)),
    ]
    // The first card is found late. Windows of one line: the refund is applied before the clearing still.
    const { find } = parts.cards
    let found = 0
    const late: typeof find = async (...words) => {
      found += 1
      if (found === 1) await service.database.control.transaction((tx) => tx.query({ text: 'SELECT 1' }))
      return find(...words)
    }
    parts = { ...parts, cards: { find: late } }
    await importing({ records }, { window: 1 })
    expect(await exceptions()).toMatchObject([
      { line: 1, reason: 'waiting', resolved: true },
      { line: 3, reason: 'waiting', resolved: false },
    ])
    expect(await transactionsOf(card)).toMatchObject([{ cleared: 1000, refunded: 300 }])
    await expectSound()
  })
})

describe('a line that cannot take effect', () => {
  test('becomes an exception with its field, and the others take effect', async () => {
    const [card] = cards as [TestCard]
    const use = (name: string) => `${count}-${name}`
    const strange = { ...card, number: '4000009999999999' }
    const records = [
      record('clearing', card, use('a'), 1, paying(1000)),
      'not a record 4000001234567899',
      record('clearing', card, use('b'), 1, { ...paying(1000), amount: -5 }),
      record('clearing', strange, use('c'), 1, paying(1000)),
      record('clearing', card, use('d'), 1, { ...paying(1000), currency: 'eur' }),
      { ...record('clearing', card, use('e'), 1, paying(1000)), line: 9 },
      record('clearing', card, use('f'), 1, paying(999_999_999_999_999)),
      record('chargeback', card, use('a'), 2, { stage: 'won' }),
      record('clearing', card, use('g'), 1, {
        ...paying(1000),
        merchant: { ...MERCHANT, '4000001234567899': 1 },
      }),
      record('fee', card, use('h'), 1),
      `"${'x'.repeat(200_000)}"`,
      record('clearing', card, use('i'), 1, paying(1000)),
    ]
    // An amount below 0 cannot be in the sum.
    await importing({ records, trailer: { clearings_amount: '1000000000006999' } })
    expect(await exceptions()).toEqual([
      { line: 2, reason: 'unreadable_line', field: null, card_last4: null, resolved: false },
      { line: 3, reason: 'invalid_message', field: 'amount', card_last4: null, resolved: false },
      { line: 4, reason: 'unknown_card', field: 'card_number', card_last4: '9999', resolved: false },
      {
        line: 5,
        reason: 'unsupported_currency',
        field: 'currency',
        card_last4: card.number.slice(-4),
        resolved: false,
      },
      { line: 6, reason: 'invalid_message', field: 'line', card_last4: null, resolved: false },
      {
        line: 7,
        reason: 'beyond_bounds',
        field: 'amount',
        card_last4: card.number.slice(-4),
        resolved: false,
      },
      {
        line: 8,
        reason: 'unknown_dispute',
        field: 'dispute_id',
        card_last4: card.number.slice(-4),
        resolved: false,
      },
      { line: 9, reason: 'invalid_message', field: 'merchant.…', card_last4: null, resolved: false },
      { line: 10, reason: 'invalid_message', field: 'kind', card_last4: null, resolved: false },
      { line: 11, reason: 'unreadable_line', field: null, card_last4: null, resolved: false },
    ])
    expect(await transactionsOf(card)).toMatchObject([{ cleared: 1000 }, { cleared: 1000 }])
    const { rows } = await service.database.control.query<{ text: string }>(
      { text: 'SELECT e::text AS text FROM control.network_exceptions e WHERE file_id = $1' },
      [`file-${count}`],
    )
    for (const { text } of rows) expect(text).not.toMatch(/4000\d{12}/)
    await expectSound()
  })
})

test('an operator sees exceptions, tries one again when it can take effect, and resolves another', async () => {
  const [card] = cards as [TestCard]
  const use = `${count}-op`
  const records = [
    record('refund', card, use, 2, paying(300)),
    record('clearing', { number: '4000009999999999' }, `${use}x`, 1, paying(5)),
  ]
  await importing({ records })
  const { operator } = service
  const listed = async () => {
    const { exceptions: all } = (await listExceptions(operator, true)) as {
      exceptions: Record<string, unknown>[]
    }
    return all
      .filter(({ file_id }) => file_id === `file-${count}`)
      .toSorted((a, b) => Number(a.line) - Number(b.line))
  }
  const [waiting, unknown] = (await listed()) as [Record<string, string>, Record<string, string>]
  expect([waiting, unknown]).toMatchObject([
    { reason: 'waiting', amount: 300, what_to_do: expect.stringContaining('takes effect by itself') },
    { reason: 'unknown_card', card_last4: '9999', field: 'card_number' },
  ])
  await expect(retryOpenException(parts, waiting.id!)).rejects.toThrow(/cannot take effect: The clearing/)
  await tell('clear', record('clearing', card, use, 1, paying(1000)))
  expect(await retryOpenException(parts, waiting.id!)).toMatchObject({ resolved: expect.any(String) })
  expect(await noteException(operator, unknown.id!, 'returned')).toMatchObject({ note: 'returned' })
  await expect(noteException(operator, unknown.id!, 'again')).rejects.toThrow(/was resolved on/)
  expect(await listed()).toEqual([])
  expect(await showClearingFiles(operator, `file-${count}`)).toMatchObject({
    files: [{ status: 'imported', lines: 2, exceptions: 2, open_exceptions: 0, business_date: '2026-05-31' }],
  })
  expect(await transactionsOf(card)).toMatchObject([{ cleared: 1000, refunded: 300 }])
})

describe('a file that is not what its trailer says', () => {
  test.each([
    [{ sha256: '0'.repeat(64) }, /The checksum of the file is [0-9a-f]{64}, and its trailer says 0{64}/],
    [{ records: 2 }, /the number of records is 1, and the trailer says 2/],
    [{ clearings_amount: '999' }, /the sum of clearings is 1000, and the trailer says 999/],
    [{ refunds_amount: '1' }, /the sum of refunds is 0, and the trailer says 1/],
    [{ refunds_amount: undefined }, /The trailer of the file needs/],
  ])('%j: is refused, and nothing is applied', async (trailer, message) => {
    const [card] = cards as [TestCard]
    const records = [record('clearing', card, `${count}-a`, 1, paying(1000))]
    await expect(importing({ records, trailer })).rejects.toThrow(message)
    expect(await transactionsOf(card)).toEqual([])
  })

  test('without its end, or with a wrong header, it is refused', async () => {
    const records = [record('clearing', cards[0]!, `${count}-a`, 1, paying(1000))]
    const path = writeClearingFile(join(folder, 'cut.jsonl'), { fileId: 'cut', records })
    truncateSync(path, statSync(path).size - 20)
    await expect(importFile(parts, path, FORMATS.jsonl)).rejects.toThrow(/ends without a trailer/)
    await expect(importing({ records, businessDate: '2026-02-30' })).rejects.toThrow(
      /business_date is not a date/,
    )
  })
})

test('an import that ends at any window continues, and a repeated window changes nothing', async () => {
  const records = await makeRecords()
  class Killed extends Error {}
  let left = 3
  const report = () => {
    left -= 1
    if (left === 0) throw new Killed()
  }
  await expect(importing({ records }, { window: 4, batch: 2, report })).rejects.toThrow(Killed)
  // As if the process had been killed between the window and its progress.
  const back =
    'UPDATE control.network_files SET (lines, position) = (SELECT 4, position - $2::bigint FROM control.network_files WHERE id = $1) WHERE id = $1'
  const path = join(folder, `${count}.jsonl`)
  const lines = readFileSync(path, 'utf8').split('\n')
  const bytes = lines.slice(5, 13).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
  await service.database.control.query({ text: back }, [`file-${count}`, bytes])
  const { file } = await importing({ records }, { window: 4, batch: 2 })
  expect(file).toMatchObject({ lines: 18, exceptions: 0 })
  for (const card of cards) expect(await transactionsOf(card)).toEqual(ENDED)
  await expectSound()
})
