import type { Steps } from '../../platform/fairness/pauses.ts'

/**
 * Reads comma-separated values (RFC 4180) without a header: fields may be quoted, a quote within is doubled. What has no
 * comma at all, such as the Ctrl-Z at the end of OFAC's files, is no record.
 *
 * @param steps others are let in between records.
 */
export async function parseCsv(text: string, steps: Steps): Promise<string[][]> {
  const records: string[][] = []
  let record: string[] = []
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n][^,\r\n]*|))(,|\r\n|\n|\r|$)/y
  while (field.lastIndex < text.length) {
    const match = field.exec(text)
    if (!match) throw new Error(`a quote without its end in record ${records.length + 1}`)
    record.push((match[1]?.replaceAll('""', '"') ?? match[2]!).trim())
    if (match[3] === ',') continue
    if (record.length > 1) records.push(record)
    record = []
    if (steps.isOver()) await steps.next()
  }
  return records
}
