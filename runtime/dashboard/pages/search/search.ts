/** The search page. An ID redirects to its page; words find pages and records by name. */

import { findEndpointOf } from '../../../events/delivery-attempts/queries.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import { isId } from '../../../platform/ids.ts'
import { entriesFor, type Menu, type SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import { queryText } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { field } from '../../html/components.ts'
import { findHits } from './named.ts'
import { type FoundPlace, findById, findByName } from './places.ts'

const PATH = 'search'

/** @param pages the pages that the search finds by title. */
export function searchRoutes(send: SendFramed, pages: Menu): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'GET',
    path: `/${environment}/${PATH}`,
    environment,
    needs: 'viewer',
    handle: (visit) => search(visit, pages, send),
  }))
}

/** Returns the page of a delivery attempt, which is below the page of its endpoint. */
async function findAttempt(visit: DashboardVisit, id: string): Promise<FoundPlace | undefined> {
  if (!isId('wdla', id)) return undefined
  const { db, space } = await visit.place()
  const endpointId = await findEndpointOf(db, space, id)
  return endpointId === undefined ? undefined : { path: `webhook-endpoints/${endpointId}/attempts/${id}` }
}

async function search(visit: DashboardVisit, pages: Menu, send: SendFramed): Promise<void> {
  const { environment, response } = visit
  const asked = queryText(visit, 'q').trim()
  const named = findById(asked) ?? (await findAttempt(visit, asked))
  if (named) return response.redirect(303, `/${named.environment ?? environment}/${named.path}`)
  const found = findByName(entriesFor(visit, pages), asked)
  const { hits, isCut } = await findHits(visit, asked)
  const things = hits.map(({ id, name, about }) => ({ group: about, title: name, path: findById(id)!.path }))
  const all = [...found, ...things]
  if (all.length === 1) return response.redirect(303, `/${environment}/${all[0]!.path}`)
  const link = linkIn(visit)
  const content = html`<form method="get" role="search" aria-label="All pages and records">
${field({ name: 'q', label: 'ID, name, or page', value: asked, hint: 'Enter a complete ID, for example, ctx_…, words of a page title, or the beginning of a name or email address.' })}
<div class="actions"><button type="submit">Search</button></div>
</form>
${
  all.length > 0
    ? html`<ul class="plain">${all.map(
        ({ group, title, path }) =>
          html`<li>${link(path, title)}${group !== '' && html` <span class="quiet">${group}</span>`}</li>`,
      )}</ul>${isCut && html`<p class="quiet">More results may match. Enter more of the name to narrow the search.</p>`}`
    : asked !== '' && html`<p class="empty">No results found. You can also filter the lists in the menu.</p>`
}`
  send(visit, 200, { title: 'Search', path: PATH, content })
}
