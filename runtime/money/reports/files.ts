/** Files of reports, written piece by piece: what is held of one is a piece, however many rows it has. */
import { createHash } from 'node:crypto'
import type { ReportFormat } from '../../tenants/addresses/report-links.ts'
import type { WrittenFile } from './queries.ts'
import type { ReportLine } from './row-sources.ts'

/** Some bytes of a file. */
export interface Piece {
  readonly format: ReportFormat
  /** In the file, from 0. */
  readonly position: number
  readonly content: Buffer
}

export interface FileWriter {
  add(rows: readonly ReportLine[]): void
  /** What has been written since it was asked last, where that is enough for a piece. */
  takePiece(): Piece | undefined
  /** The last piece, and the file as a whole. Nothing can be added after it. */
  end(): { readonly piece: Piece; readonly file: WrittenFile }
}

const PIECE_BYTES = 256 * 1024

interface FileForm {
  readonly begin: string
  readonly row: (row: ReportLine, isFirst: boolean) => string
  readonly end: string
}

function createWriter(format: ReportFormat, form: FileForm): FileWriter {
  const hash = createHash('sha256')
  let texts = [form.begin]
  let waiting = form.begin.length
  let size = 0
  let position = 0
  let isFirst = true
  const take = (): Piece => {
    const content = Buffer.from(texts.join(''))
    hash.update(content)
    size += content.length
    texts = []
    waiting = 0
    return { format, position: position++, content }
  }
  return {
    add(rows) {
      for (const row of rows) {
        const text = form.row(row, isFirst)
        isFirst = false
        waiting += text.length
        texts.push(text)
      }
    },
    takePiece: () => (waiting < PIECE_BYTES ? undefined : take()),
    end() {
      texts.push(form.end)
      const piece = take()
      return { piece, file: { format, size, sha256: hash.digest('hex') } }
    },
  }
}

/** A file of each format. */
export function createWriters(columns: readonly string[]): readonly FileWriter[] {
  return [createWriter('csv', csvForm(columns)), createWriter('json', jsonForm(columns))]
}

/** A JSON array with a line for each row. */
function jsonForm(columns: readonly string[]): FileForm {
  const member = (name: string, value: ReportLine[string]) =>
    `${JSON.stringify(name)}:${typeof value === 'bigint' ? value : JSON.stringify(value)}`
  const write = (row: ReportLine) =>
    `{${columns.map((column) => member(column, row[column] ?? null)).join(',')}}`
  return {
    begin: '[',
    row: (row, isFirst) => `${isFirst ? '\n' : ',\n'}${write(row)}`,
    end: '\n]\n',
  }
}

/** RFC 4180. */
function csvForm(columns: readonly string[]): FileForm {
  return {
    begin: `${columns.join(',')}\r\n`,
    row: (row) => `${columns.map((column) => writeCell(row[column] ?? null)).join(',')}\r\n`,
    end: '',
  }
}

/** Spreadsheets take a text that begins like this for a formula (OWASP, "CSV Injection"); an apostrophe keeps it a text. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** A cell as RFC 4180 has it. Numbers stay numbers; no text is run by a spreadsheet. */
export function writeCell(value: string | number | bigint | null): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
