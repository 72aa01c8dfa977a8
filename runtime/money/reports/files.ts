/** Writes report files piece by piece, so that memory use does not depend on the number of rows. */
import { createHash } from 'node:crypto'
import { readSpace } from '../../database/space.ts'
import type { ReportFormat } from '../../tenants/addresses/report-links.ts'
import { createPdfWriter } from './pdf.ts'
import type { FileWriter, Piece } from './pieces.ts'
import type { ReportRow } from './queries.ts'
import type { ReportLine } from './rows.ts'

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

/** Creates a writer for each format. Statements are short, and also written as PDF. */
export function createWriters(
  columns: readonly string[],
  report: Pick<ReportRow, 'type' | 'interval_start' | 'interval_end'>,
  space: string,
): readonly FileWriter[] {
  return [
    createWriter('csv', csvForm(columns)),
    createWriter('json', jsonForm(columns)),
    ...(report.type === 'statement' ? [createPdfWriter(report, readSpace(space).tenantId)] : []),
  ]
}

/** Writes a JSON array with one line for each row. */
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

/** Writes CSV (RFC 4180). */
function csvForm(columns: readonly string[]): FileForm {
  return {
    begin: `${columns.join(',')}\r\n`,
    row: (row) => `${columns.map((column) => writeCell(row[column] ?? null)).join(',')}\r\n`,
    end: '',
  }
}

/**
 * Spreadsheets run text that begins with these characters as a formula (OWASP, "CSV Injection"). A leading apostrophe
 * prevents that.
 */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** Formats a CSV cell (RFC 4180). Numbers stay numbers; text is never run as a formula. */
export function writeCell(value: string | number | bigint | null): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
