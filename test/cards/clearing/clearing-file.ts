/** Writes clearing files as a network does. */
import { createHash } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'

export type TestRecord = Readonly<Record<string, unknown>>

export interface TestFile {
  readonly format?: 'jsonl' | 'csv'
  readonly fileId: string
  readonly businessDate?: string
  readonly environment?: 'sandbox' | 'live'
  /** Numbered from 1 by itself; a text is a line as it is. */
  readonly records: Iterable<TestRecord | string>
  /** Changes members of the trailer. */
  readonly trailer?: TestRecord
}

const COLUMNS = [
  ...[
    'line',
    'kind',
    'message_id',
    'transaction_id',
    'sent_at',
    'card_number',
    'amount',
    'currency',
    'merchant_name',
  ],
  ...[
    'merchant_category_code',
    'merchant_network_id',
    'merchant_city',
    'merchant_country',
    'entry_method',
    'wallet',
  ],
  ...['final', 'stage', 'dispute_id', 'interchange_category'],
]

const quote = (value: unknown) => {
  const text = value === undefined ? '' : String(value)
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function rowOf(record: TestRecord): string {
  const merchant = (record.merchant ?? {}) as TestRecord
  return COLUMNS.map((name) =>
    quote(name.startsWith('merchant_') ? merchant[name.slice('merchant_'.length)] : record[name]),
  ).join(',')
}

/** Writes the file with its control totals and its checksum. Memory is bounded, however many records there are. */
export function writeClearingFile(
  path: string,
  {
    format = 'jsonl',
    fileId,
    businessDate = '2026-05-31',
    environment = 'sandbox',
    records,
    trailer,
  }: TestFile,
): string {
  const file = openSync(path, 'w')
  const hash = createHash('sha256')
  let held: string[] = []
  const flush = () => {
    const text = held.join('')
    hash.update(text)
    writeSync(file, text)
    held = []
  }
  const add = (line: string) => {
    if (held.push(`${line}\n`) === 1000) flush()
  }
  const header = { file_id: fileId, network: 'Test Network', business_date: businessDate, environment }
  if (format === 'csv') for (const row of [`header,${Object.values(header)}`, COLUMNS.join(',')]) add(row)
  else add(JSON.stringify(header))
  let [count, clearings, refunds] = [0, 0n, 0n]
  for (const record of records) {
    count += 1
    if (typeof record === 'string') {
      add(record)
      continue
    }
    const { kind, amount } = record
    if (kind === 'clearing') clearings += BigInt(Number(amount))
    if (kind === 'refund') refunds += BigInt(Number(amount))
    const numbered = { line: count, ...record }
    add(format === 'csv' ? rowOf(numbered) : JSON.stringify(numbered))
  }
  flush()
  const totals = {
    records: count,
    clearings_amount: `${clearings}`,
    refunds_amount: `${refunds}`,
    sha256: hash.digest('hex'),
  }
  const end = { ...totals, ...trailer }
  writeSync(file, format === 'csv' ? `trailer,${Object.values(end)}\n` : `${JSON.stringify(end)}\n`)
  closeSync(file)
  return path
}
