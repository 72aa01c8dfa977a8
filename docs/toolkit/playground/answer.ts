/** Answers a request of the page. */
import { compare, type DocumentText, readDocument } from './compare.ts'
import type { CompareAnswer, CompareRequest, ListedFinding } from './messages.ts'

/** Names that messages give the documents. */
export const FILES = { old: 'old.yaml', new: 'new.yaml' } as const

/** Reads both documents and compares them. Never throws: failures are in the answer. */
export function answerRequest({ old, next, edits }: CompareRequest): CompareAnswer {
  try {
    const [before, after] = [read('old', old), read('new', next)]
    const findings = [...before.findings, ...after.findings]
    if (!before.api || !after.api) return { findings }
    return { findings, comparison: compare(before.api, after.api, edits) }
  } catch (error) {
    return { findings: [], failure: explain(error) }
  }
}

function explain(error: unknown): string {
  if (error instanceof RangeError && /call stack/.test(error.message))
    return 'a chain of thousands of references between components is too deep'
  return error instanceof Error ? error.message : String(error)
}

function read(document: keyof typeof FILES, text: string) {
  const source: DocumentText = { file: FILES[document], text }
  const { api, findings } = readDocument(source)
  const listed = findings.map(
    ({ severity, code, message, place, hint }): ListedFinding => ({
      severity,
      code,
      message,
      document,
      ...(place && { line: place.line }),
      ...(hint !== undefined && { hint }),
    }),
  )
  return { api, findings: listed }
}
