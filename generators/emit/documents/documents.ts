/** Emits the documents as JSON. */
import type { Api, OutputFile } from '../../ir/model.ts'

/** Returns `<version>/openapi.json`: the whole document, with one value on each line. */
export const printDocument = (api: Api): OutputFile => ({
  path: `${api.version}/openapi.json`,
  text: `${JSON.stringify(api.document, null, 1)}\n`,
})
