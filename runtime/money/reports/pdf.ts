/** Writes statements as PDF. The same rows give the same bytes. */
import { createHash } from 'node:crypto'
import { writeDollars } from './journal.ts'
import type { FileWriter } from './pieces.ts'
import type { ReportRow } from './queries.ts'
import type { ReportLine } from './rows.ts'

const ACCOUNTS: Readonly<Record<string, string>> = {
  program_funds: 'Money that cards spend',
  settlement_payable: 'Money to pay out',
}

/** A4, in points. */
const PAGE = [595, 842] as const
const LEFT = 56
const LINE = 18
/** Right edges of the columns. */
const COLUMNS = [
  ['entries', 'Entries', 260],
  ['credits', 'Credits', 340],
  ['debits', 'Debits', 420],
  ['balance', 'Balance', PAGE[0] - LEFT],
] as const

/** Creates a writer of one page. A statement has two balances with at most a dozen rows each. */
export function createPdfWriter(
  report: Pick<ReportRow, 'interval_start' | 'interval_end'>,
  tenantId: string,
): FileWriter {
  const rows: ReportLine[] = []
  return {
    add: (added) => void rows.push(...added),
    takePiece: () => undefined,
    async end() {
      const content = await writePdf(rows, report, tenantId)
      const sha256 = createHash('sha256').update(content).digest('hex')
      return {
        piece: { format: 'pdf', position: 0, content },
        file: { format: 'pdf', size: content.length, sha256 },
      }
    },
  }
}

async function writePdf(
  rows: readonly ReportLine[],
  { interval_start, interval_end }: Pick<ReportRow, 'interval_start' | 'interval_end'>,
  tenantId: string,
): Promise<Buffer> {
  // Few processes write statements, so the library is not part of the start.
  const { PDFDocument, StandardFonts } = await import('pdf-lib')
  const month = new Date(interval_start).toLocaleDateString('en-US', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  })
  const document = await PDFDocument.create({ updateMetadata: false })
  document.setTitle(`Statement of ${month}`)
  document.setLanguage('en')
  document.setCreationDate(new Date(interval_end))
  const regular = await document.embedFont(StandardFonts.Helvetica)
  const bold = await document.embedFont(StandardFonts.HelveticaBold)
  const page = document.addPage([...PAGE])
  let y = PAGE[1] - 72
  const write = (
    text: string,
    {
      x = LEFT,
      right,
      size = 10,
      font = regular,
    }: { x?: number; right?: number; size?: number; font?: typeof bold } = {},
  ) =>
    page.drawText(text, {
      x: right === undefined ? x : right - font.widthOfTextAtSize(text, size),
      y,
      size,
      font,
    })
  write(`Statement of ${month}`, { size: 18, font: bold })
  y -= 2 * LINE
  write(`Account ${tenantId}. Amounts in US dollars. Days in UTC.`)
  let account: ReportLine[string] | undefined
  for (const row of rows) {
    if (row.account !== account) {
      account = row.account
      y -= 2 * LINE
      write(ACCOUNTS[String(account)] ?? String(account), { size: 12, font: bold })
      for (const [, title, right] of COLUMNS) write(title, { right, font: bold })
    }
    y -= LINE
    const isBalance = row.kind === 'opening_balance' || row.kind === 'closing_balance'
    const font = isBalance ? bold : regular
    const words = String(row.kind).replaceAll('_', ' ')
    write(words.slice(0, 1).toUpperCase() + words.slice(1), { font })
    for (const [name, , right] of COLUMNS) {
      if (isBalance && name !== 'balance') continue
      const value = row[name] ?? 0
      write(typeof value === 'bigint' ? writeDollars(value) : String(value), { right, font })
    }
  }
  return Buffer.from(await document.save())
}
