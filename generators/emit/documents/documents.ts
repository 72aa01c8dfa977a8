/** The documents as JSON, for programs. */
import type { Api, OutputFile } from '../../ir/model.ts'

/** @returns `<version>/openapi.json`: all that the document says, a line for each value. */
export const printDocument = (api: Api): OutputFile => ({
  path: `${api.version}/openapi.json`,
  text: `${JSON.stringify(api.document, null, 1)}\n`,
})
