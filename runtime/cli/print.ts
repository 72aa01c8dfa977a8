/** Formats one value for people. */
function words(value: unknown): string {
  if (value === null) return '–'
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ') || '–'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

type Record = Readonly<{ [name: string]: unknown }>

const isRecords = (value: unknown): value is readonly Record[] =>
  Array.isArray(value) && value.some((item) => typeof item === 'object' && item !== null)

const isFlat = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || (Array.isArray(value) && !isRecords(value))

/** Formats records as a table. Records that contain other records are printed one after the other. */
function recordLines(records: readonly Record[], indent: string): readonly string[] {
  if (!records.every((record) => Object.values(record).every(isFlat)))
    return records.flatMap((record) => [...lines(record, indent), ''])
  return tabulateRecords(records)
    .split('\n')
    .map((line) => `${indent}${line}`)
}

/** Formats records as a table, with a column for each name. */
export function tabulateRecords(
  records: readonly Record[],
  names: readonly string[] = [...new Set(records.flatMap(Object.keys))],
): string {
  const headings = names.map((name) => name.replaceAll('_', ' ').toUpperCase())
  return tabulate(
    headings,
    records.map((record) => names.map((name) => words(record[name] ?? null))),
  )
}

/** Returns whether a result is a list, which is printed without a name above it. */
const isList = (result: object): result is { readonly data: readonly Record[] } =>
  'data' in result && isRecords(result.data)

function lines(result: object, indent: string): readonly string[] {
  const entries = Object.entries(result)
  const width = Math.max(0, ...entries.map(([name]) => name.length))
  return entries.flatMap(([name, value]) => {
    if (isRecords(value)) return [`${indent}${name}:`, ...recordLines(value, `${indent}  `)]
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (isNested) return [`${indent}${name}:`, ...lines(value, `${indent}  `)]
    return [`${indent}${name.padEnd(width)}  ${words(value)}`]
  })
}

/** Formats a result: one line of JSON for programs, or one line for each member for people. */
export function render(result: object, json: boolean): string {
  if (json) return `${JSON.stringify(result)}\n`
  if (!isList(result)) return `${lines(result, '').join('\n').trimEnd()}\n`
  const more = 'has_more' in result && result.has_more === true ? '\nMore results are available.' : ''
  return `${recordLines(result.data, '').join('\n').trimEnd()}${more}\n`
}

/** Formats rows as a table. Each column is as wide as its longest cell. */
export function tabulate(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
