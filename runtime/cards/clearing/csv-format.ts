/**
 * Clearing files with comma-separated values (RFC 4180): a row `header,…`, a row with the names of the columns, a row for each
 * record, and a row `trailer,…`. A field holds no line break.
 */
import type { FileFormat, FilePart, RawRecord } from './format.ts'
import { readLines } from './text-lines.ts'

const HEADER = ['file_id', 'network', 'business_date', 'environment'] as const
const TRAILER = ['records', 'clearings_amount', 'refunds_amount', 'sha256'] as const

/** Columns of numbers. All other values are text. */
const NUMBERS = new Set(['line', 'amount', 'records'])

const FIELD = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y

/** Returns the fields of a row; undefined if a quote is not closed. */
export function splitRow(text: string): string[] | undefined {
  const fields: string[] = []
  FIELD.lastIndex = 0
  for (;;) {
    const match = FIELD.exec(text)
    if (!match) return undefined
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] !== ',') return fields
  }
}

function readValue(name: string, text: string): unknown {
  if (NUMBERS.has(name) && /^\d{1,16}$/.test(text)) return Number(text)
  if (name === 'final' && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

/** Names a row's fields. Empty ones are absent; `merchant_…` are members of the merchant. */
function nameFields(names: readonly string[], fields: readonly string[]): RawRecord {
  const merchant: Record<string, unknown> = {}
  const record: Record<string, unknown> = {}
  for (const [index, name] of names.entries()) {
    const text = fields[index] ?? ''
    if (text === '') continue
    if (name.startsWith('merchant_')) merchant[name.slice('merchant_'.length)] = text
    else record[name] = readValue(name, text)
  }
  return Object.keys(merchant).length === 0 ? record : { ...record, merchant }
}

export const csvFormat: FileFormat = {
  name: 'csv',
  async *read(stream) {
    let names: readonly string[] | undefined
    let header: { readonly bytes: Buffer; readonly fields: readonly string[] } | undefined
    const partOf = (bytes: Buffer, text: string): FilePart => {
      const fields = splitRow(text)
      if (!fields) return { bytes, type: 'unreadable', issue: 'has a quote that is not closed' }
      if (fields[0] === 'trailer')
        return { bytes, type: 'trailer', trailer: nameFields(TRAILER, fields.slice(1)) }
      if (names && fields.length === names.length)
        return { bytes, type: 'record', record: nameFields(names, fields) }
      if (names)
        return { bytes, type: 'unreadable', issue: `has ${fields.length} fields, not ${names.length}` }
      if (!header) {
        // The names of the columns belong to the header, so its bytes follow with theirs.
        header = { bytes, fields: fields[0] === 'header' ? fields.slice(1) : [] }
        return { bytes: Buffer.alloc(0), type: 'filling' }
      }
      names = fields
      return {
        bytes: Buffer.concat([header.bytes, bytes]),
        type: 'header',
        header: nameFields(HEADER, header.fields),
      }
    }
    for await (const { bytes, text, issue } of readLines(stream)) {
      if (text !== undefined) yield partOf(bytes, text)
      else yield issue === undefined ? { bytes, type: 'filling' } : { bytes, type: 'unreadable', issue }
    }
  },
}
