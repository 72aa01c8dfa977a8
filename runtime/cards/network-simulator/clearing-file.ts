/** Writes clearing files as the network does: JSON Lines or CSV, with control totals and a checksum. */
import { createHash } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import type { Environment } from '../../platform/environment.ts'
import type { FormatName } from '../clearing/formats.ts'
import type { SimulatedMessage } from './messages.ts'

/** A message that a file can carry. */
export type FiledMessage = Extract<SimulatedMessage, { kind: 'clear' | 'refund' }>

export interface ClearingFile {
  add(sent: FiledMessage): void
  /** Writes the trailer and returns what the file has. Amounts are cents. */
  close(): { readonly records: number; readonly clearings_amount: string; readonly refunds_amount: string }
}

interface ClearingFileHeader {
  readonly file_id: string
  readonly network: string
  /** ISO 8601 date of the network's business day. */
  readonly business_date: string
  readonly environment: Environment
}

type Row = Readonly<Record<string, string | number | boolean | undefined>>

const COLUMNS = [
  ...['line', 'kind', 'message_id', 'transaction_id', 'sent_at', 'card_number', 'amount', 'currency'],
  ...['merchant_name', 'merchant_category_code', 'merchant_network_id', 'merchant_city', 'merchant_country'],
  ...['entry_method', 'wallet', 'final'],
]

/** Quotes a field if it needs that (RFC 4180). */
const field = (value: Row[string] = '') =>
  /[",]/.test(`${value}`) ? `"${`${value}`.replaceAll('"', '""')}"` : `${value}`

const row = (values: readonly Row[string][]) => values.map(field).join(',')

const KINDS = { clear: 'clearing', refund: 'refund' } as const

/** Opens a file, or empties one that exists. Blocks. */
export function openClearingFile(path: string, format: FormatName, header: ClearingFileHeader): ClearingFile {
  const file = openSync(path, 'w', 0o600)
  const hash = createHash('sha256')
  const write = (line: string) => {
    hash.update(`${line}\n`)
    writeSync(file, `${line}\n`)
  }
  if (format === 'jsonl') write(JSON.stringify(header))
  else for (const values of [['header', ...Object.values(header)], COLUMNS]) write(row(values))
  const sums = { clear: 0n, refund: 0n }
  let records = 0
  return {
    add: ({ kind, message }) => {
      records += 1
      sums[kind] += BigInt(message.amount)
      const record = { line: records, kind: KINDS[kind], ...message }
      if (format === 'jsonl') return write(JSON.stringify(record))
      const { merchant, ...others } = record
      const named = Object.entries(merchant).map(([name, value]) => [`merchant_${name}`, value] as const)
      const values: Row = { ...others, ...Object.fromEntries(named) }
      write(row(COLUMNS.map((name) => values[name])))
    },
    close: () => {
      const totals = { records, clearings_amount: `${sums.clear}`, refunds_amount: `${sums.refund}` }
      const trailer = { ...totals, sha256: hash.digest('hex') }
      writeSync(
        file,
        format === 'jsonl'
          ? `${JSON.stringify(trailer)}\n`
          : `${row(['trailer', ...Object.values(trailer)])}\n`,
      )
      closeSync(file)
      return totals
    },
  }
}
