/** Links to records, with the names that people know the records by. */

import { html } from '../../platform/html.ts'
import { isId, PREFIXES } from '../../platform/ids.ts'
import type { LinkTo, ShownText } from './shapes.ts'
import { shortId } from './values.ts'
import type { DashboardVisit } from './visit.ts'

/** Returns links that show IDs. */
export function linkIn(
  visit: Pick<DashboardVisit, 'environment' | 'pageOf'>,
  names: ReadonlyMap<string, string> = new Map(),
): LinkTo {
  const { environment, pageOf } = visit
  const link = (path: string, text: ShownText) => html`<a href="/${environment}/${path}">${text}</a>`
  return Object.assign(link, {
    to: (id: string | null) => {
      if (id === null) return '–'
      const page = pageOf(id)
      const name = names.get(id)
      const text =
        name === undefined ? shortId(id) : html`<span class="long" title="${name} (${id})">${name}</span>`
      return page === undefined ? text : link(page, text)
    },
  })
}

/** Returns links that show the names of the records that the shown API objects refer to. */
export async function linkNaming(visit: DashboardVisit, ...shown: readonly unknown[]): Promise<LinkTo> {
  const ids = new Set<string>()
  collectIds(shown, ids)
  return linkIn(visit, ids.size === 0 ? undefined : await visit.names([...ids]))
}

function collectIds(value: unknown, into: Set<string>): void {
  if (typeof value === 'string') {
    if (PREFIXES.some((prefix) => isId(prefix, value))) into.add(value)
  } else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) collectIds(member, into)
}
