/** Doing one task of a document, in whatever thread. */

/** @returns problems as JSON, or types as text. */
export async function perform({ kind, file, text, json }: Task): Promise<string> {
  if (kind === 'lint') {
    const { findProblems } = await import('../document/lint.ts')
    return JSON.stringify(await findProblems(file, text, json))
  }
  const { printDocumentTypes } = await import('../emit/types/types.ts')
  return printDocumentTypes(json)
}

export interface Task {
  readonly kind: TaskKind
  readonly file: string
  /** What `lint` quotes; types are made of the JSON alone. */
  readonly text: string
  /** The same as plain JSON: handing it over is faster than reading it again. */
  readonly json: Readonly<Record<string, unknown>>
}

export type TaskKind = 'lint' | 'types'
