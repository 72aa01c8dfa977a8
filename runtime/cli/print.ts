/** One value for people. */
function words(value: unknown): string {
  if (value === null) return '–'
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ') || '–'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function lines(result: object, indent: string): readonly string[] {
  const entries = Object.entries(result)
  const width = Math.max(0, ...entries.map(([name]) => name.length))
  return entries.flatMap(([name, value]) => {
    const isTable = Array.isArray(value) && value.some((item) => typeof item === 'object')
    if (isTable) return [`${indent}${name}:`, ...value.flatMap((item) => [...lines(item, `${indent}  `), ''])]
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (isNested) return [`${indent}${name}:`, ...lines(value, `${indent}  `)]
    return [`${indent}${name.padEnd(width)}  ${words(value)}`]
  })
}

/** What an action answered: one line of JSON for programs, a line for each member for people. */
export function render(result: object, json: boolean): string {
  return json ? `${JSON.stringify(result)}\n` : `${lines(result, '').join('\n').trimEnd()}\n`
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
