/** Performs one task of a document, on any thread. */
import type { TypeMapping } from '../ir/type-mapping.ts'

/** Returns problems as JSON, or types as text. */
export async function perform({ kind, file, text, json, types }: Task): Promise<string> {
  if (kind === 'lint') {
    const { findProblems } = await import('../document/lint.ts')
    return JSON.stringify(await findProblems(file, text, json))
  }
  const { printDocumentTypes } = await import('../emit/types/types.ts')
  return printDocumentTypes(json, types)
}

export interface Task {
  readonly kind: TaskKind
  readonly file: string
  /** The text, for `lint`; empty for `types`, which only needs the JSON. */
  readonly text: string
  /** The parsed text: sending it to a thread is faster than parsing again. */
  readonly json: Readonly<Record<string, unknown>>
  readonly types?: TypeMapping
}

export type TaskKind = 'lint' | 'types'
