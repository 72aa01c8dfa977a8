/** Clearing files in JSON Lines: the header is the line with a `file_id`, the trailer the one with a `sha256`. */
import type { FileFormat, FilePart, RawRecord } from './format.ts'
import { readLines } from './text-lines.ts'

function parse(text: string): RawRecord | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as RawRecord) : undefined
  } catch {
    return undefined
  }
}

function partOf(bytes: Buffer, text: string): FilePart {
  const record = parse(text)
  if (!record) return { bytes, type: 'unreadable', issue: 'is not a JSON object' }
  if ('file_id' in record) return { bytes, type: 'header', header: record }
  if ('sha256' in record) return { bytes, type: 'trailer', trailer: record }
  return { bytes, type: 'record', record }
}

export const jsonlFormat: FileFormat = {
  name: 'jsonl',
  async *read(stream) {
    for await (const { bytes, text, issue } of readLines(stream)) {
      if (text !== undefined) yield partOf(bytes, text)
      else yield issue === undefined ? { bytes, type: 'filling' } : { bytes, type: 'unreadable', issue }
    }
  },
}
