/** Emits the documents as JSON. */
import type { Api, OutputFile } from '../../ir/model.ts'
import { HEADER } from '../../print/file.ts'
import { stringLiteral } from '../../print/literal.ts'
import { withWebhookUnion } from './webhook-union.ts'

/** Returns `<version>/openapi.json`: the whole document and the union of webhook bodies, with one value on each line. */
export const printDocument = (api: Api): OutputFile => ({
  path: `${api.version}/openapi.json`,
  text: `${JSON.stringify(withWebhookUnion(api.published, api), null, 1)}\n`,
})

/** @returns `documents.js` with its types: loads the document of a version when a program asks for it. */
export function printDocumentIndex(apis: readonly Api[]): OutputFile[] {
  const loaders = apis.map(({ version }) => {
    const file = stringLiteral(`./${version}/openapi.json`)
    const load = `import(${file}, { with: { type: 'json' } })`
    return `  ${stringLiteral(version)}: async () => (await ${load}).default,\n`
  })
  const purpose = '/** Loads the OpenAPI document of a version, by its name. */\n'
  return [
    {
      path: 'documents.js',
      text: `${HEADER}${purpose}export const documents = {\n${loaders.join('')}}\n`,
    },
    {
      path: 'documents.d.ts',
      text: `${HEADER}${purpose}export declare const documents: Readonly<Record<string, () => Promise<Readonly<Record<string, unknown>>>>>\n`,
    },
  ]
}
