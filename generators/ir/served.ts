/** What servers are generated from: a version in which requests and answers have components of their own. */
import { createReport } from '../diagnostics/diagnostic.ts'
import type { LoadedDocument } from '../document/load.ts'
import { originalPointer, splitAccess } from '../runtime/explain/access.ts'
import { buildApi } from './build.ts'
import type { Api } from './model.ts'

/**
 * @param api that was built of the document, without findings.
 * @returns the API itself if the document restricts the access of no property. Places name the lines of the document, and the
 * pointers under which `explain` finds the components.
 */
export function servedApi(api: Api, document: LoadedDocument): Api {
  const json = splitAccess(document.json, false)
  if (json === document.json) return api
  // The line is looked for only if a finding asks for it.
  const place = (pointer: string) => {
    const written = document.place(originalPointer(document.json, pointer))
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
