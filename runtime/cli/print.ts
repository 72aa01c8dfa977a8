/** One value for people. */
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

/** A table, a row for each; records that hold records are shown one below the other. */
function recordLines(records: readonly Record[], indent: string): readonly string[] {
  if (!records.every((record) => Object.values(record).every(isFlat)))
    return records.flatMap((record) => [...lines(record, indent), ''])
  return tabulateRecords(records)
    .split('\n')
    .map((line) => `${indent}${line}`)
}

/** A column for each member that any of them has, under its name. */
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

/** A whole answer that is a list needs no name above it. */
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

/** What an action answered: one line of JSON for programs, a line for each member for people. */
export function render(result: object, json: boolean): string {
  if (json) return `${JSON.stringify(result)}\n`
  if (!isList(result)) return `${lines(result, '').join('\n').trimEnd()}\n`
  const more = 'has_more' in result && result.has_more === true ? '\nThere are more.' : ''
  return `${recordLines(result.data, '').join('\n').trimEnd()}${more}\n`
}

/** Rows under their headings, in columns as wide as what stands in them. */
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
