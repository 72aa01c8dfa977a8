import { csvFormat } from './csv-format.ts'
import { jsonlFormat } from './jsonl-format.ts'

/** The formats of clearing files, by the extension of their names. */
export const FORMATS = { jsonl: jsonlFormat, csv: csvFormat } as const

export type FormatName = keyof typeof FORMATS

export const FORMAT_NAMES = Object.keys(FORMATS) as readonly FormatName[]
