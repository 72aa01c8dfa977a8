/** CSV (RFC 4180). The header determines whether the separator is a comma, a semicolon, or a tab. */

export interface CsvRow {
  /** First line of the row, starting at 1. */
  readonly line: number
  readonly cells: readonly string[]
}

/** Returns the nonempty rows, header first, or an error message if a quote is misplaced or not closed. */
export function parseCsv(text: string): readonly CsvRow[] | string {
  const source = text.replace(/^\uFEFF/, '')
  const header = source.slice(0, source.search(/[\r\n]|$/))
  const separator = [',', ';', '\t'].find((each) => header.includes(each)) ?? ','
  const cell = new RegExp(
    `(?:"((?:[^"]|"")*)"|([^"${separator}\\r\\n][^${separator}\\r\\n]*|))(${separator}|\\r\\n|\\n|\\r|$)`,
    'y',
  )
  const rows: CsvRow[] = []
  let [line, begun, cells] = [1, 1, [] as string[]]
  while (cell.lastIndex < source.length) {
    const match = cell.exec(source)
    if (!match) return `Line ${line} contains a misplaced or unclosed quotation mark.`
    const [whole, quoted, plain = '', end] = match
    cells.push((quoted?.replaceAll('""', '"') ?? plain).trim())
    line += whole.match(/\r\n|\n|\r/g)?.length ?? 0
    if (end === separator && cell.lastIndex < source.length) continue
    if (cells.some((each) => each !== '')) rows.push({ line: begun, cells })
    begun = line
    cells = []
  }
  return rows
}

export function writeCsv(rows: readonly (readonly string[])[]): string {
  const write = (cell: string) =>
    /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
  return rows.map((cells) => `${cells.map(write).join(',')}\n`).join('')
}
