/**
 * Builds the server view of a version, in which requests and responses have separate components for read-only and
 * write-only properties.
 */
import { createReport } from '../diagnostics/diagnostic.ts'
import type { LoadedDocument } from '../document/load.ts'
import { originalPointers, splitAccess } from '../runtime/explain/access.ts'
import { buildApi } from './build.ts'
import type { Api } from './model.ts'

/**
 * Returns the server view of an API, or the API itself if its document has no read-only or write-only properties.
 *
 * @param api built from the document, without errors.
 * @returns an API whose lines are those of the document, and whose pointers are those under which `explain` finds
 *   the components.
 */
export function servedApi(api: Api, document: LoadedDocument): Api {
  const json = splitAccess(document.json, false)
  if (json === document.json) return api
  const originalOf = originalPointers(document.json)
  // The line is computed only if a finding needs it.
  const place = (pointer: string) => {
    const written = document.place(originalOf(pointer))
    return {
      file: written.file,
      get line() {
        return written.line
      },
      get column() {
        return written.column
      },
      pointer,
    }
  }
  return { ...buildApi({ ...document, json, place }, createReport(), false), version: api.version }
}
