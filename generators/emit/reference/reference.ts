/** The API reference: one static page for each version, complete in itself. */
import type { Api, OutputFile } from '../../ir/model.ts'
import { type WireConfig, wireOf } from '../client/wire.ts'
import { render } from '../templates/templates.ts'
import { createPage } from './page.ts'
import { type OtherVersion, viewPage } from './page-view.ts'

/**
 * @param versions all versions, oldest first.
 * @param docsPath where the pages are served: `{docsPath}/{version}`.
 * @returns one page: no script, no outside request, a line for each thing.
 */
export function printReference(
  api: Api,
  versions: readonly OtherVersion[],
  wire: WireConfig = {},
  docsPath = '/docs',
): string {
  return render('reference', viewPage(createPage(api, wireOf(wire)), versions, docsPath))
}

/**
 * @param apis oldest first.
 * @param print makes a page, or knows one that was made of the same before.
 * @returns `<version>/reference.html` for each.
 */
export function emitReference(
  apis: readonly Api[],
  wire: WireConfig = {},
  print: typeof printReference = printReference,
): OutputFile[] {
  const versions = apis.map(({ version, info }) => ({ version, info }))
  return apis.map((api) => ({
    path: `${api.version}/reference.html`,
    text: print(api, versions, wire),
  }))
}
