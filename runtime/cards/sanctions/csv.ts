import type { Steps } from '../../platform/fairness/pauses.ts'

/**
 * Parses comma-separated values (RFC 4180) without a header row. Skips records without a comma, such as the Ctrl-Z at the
 * end of OFAC files. Throws if a quoted field has no closing quote.
 * @param steps lets other work run between records.
 */
export async function parseCsv(text: string, steps: Steps): Promise<string[][]> {
  const records: string[][] = []
  let record: string[] = []
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n][^,\r\n]*|))(,|\r\n|\n|\r|$)/y
  while (field.lastIndex < text.length) {
    const match = field.exec(text)
    if (!match) throw new Error(`Record ${records.length + 1} has an opening quote without a closing quote.`)
    record.push((match[1]?.replaceAll('""', '"') ?? match[2]!).trim())
    if (match[3] === ',') continue
    if (record.length > 1) records.push(record)
    record = []
    if (steps.isOver()) await steps.next()
  }
  return records
}
