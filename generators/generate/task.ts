/** Doing one task of a document, in whatever thread. */
import type { Task } from './tasks.ts'

/** @returns problems as JSON, or types as text. */
export async function perform({ kind, file, text, json }: Task): Promise<string> {
  if (kind === 'lint') {
    const { findProblems } = await import('../document/lint.ts')
    return JSON.stringify(await findProblems(file, text, json))
  }
  const { printDocumentTypes } = await import('../emit/types/types.ts')
  return printDocumentTypes(json)
}
