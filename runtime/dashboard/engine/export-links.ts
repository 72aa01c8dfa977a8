/** Links to the exports of a list. */
import { type Html, html } from '../../platform/html.ts'
import { icon } from '../html/icons.ts'
import { type AskedFilters, writeQuery } from './filters.ts'
import type { DashboardVisit } from './visit.ts'

export const EXPORT_FORMATS = ['csv', 'json'] as const

/** Writes the links to the exports of a list with its filters. @param path of the list, below the environment. */
export function writeExports({ environment }: DashboardVisit, path: string, asked: AskedFilters): Html {
  const query = writeQuery(asked)
  return html`<details class="pops export"><summary>${icon('download')}Export</summary>
<ul>${EXPORT_FORMATS.map(
    (format) =>
      html`<li><a href="/${environment}/${path}/export.${format}${query}" download data-export="${format}">${format.toUpperCase()}</a></li>`,
  )}</ul></details>`
}
