/** The search page. An ID redirects to its page; words find pages and records by name. */

import { findEndpointOf } from '../../../events/delivery-attempts/queries.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import { isId } from '../../../platform/ids.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { entriesFor, type Menu } from '../../engine/menu.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { type DashboardVisit, queryText } from '../../engine/visit.ts'
import { field } from '../../html/components.ts'
import { pageHeaders } from '../../html/layout.ts'
import { findHits, type Hit } from './named.ts'
import { type FoundPlace, findById, findByName } from './places.ts'

const PATH = 'search'

/** Pages that the search finds by title. */
export interface Titled {
  readonly pages: Menu
  /** Pages with a form. */
  readonly actions: Menu
}

/** The path that shows results as a page. It sends them as JSON to clients that prefer JSON, such as the command palette. */
export function searchRoutes(send: SendFramed, titled: Titled): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'GET',
    path: `/${environment}/${PATH}`,
    environment,
    needs: 'viewer',
    handle: (visit) => search(visit, titled, send),
  }))
}

/** Returns the page of a delivery attempt, which is below the page of its endpoint. */
async function findAttempt(visit: DashboardVisit, id: string): Promise<FoundPlace | undefined> {
  if (!isId('wdla', id)) return undefined
  const { db, space } = await visit.place()
  const endpointId = await findEndpointOf(db, space, id)
  return endpointId === undefined
    ? undefined
    : { kind: 'Delivery attempts', path: `webhook-endpoints/${endpointId}/attempts/${id}` }
}

async function search(visit: DashboardVisit, titled: Titled, send: SendFramed): Promise<void> {
  const { environment, request, response } = visit
  const asked = queryText(visit, 'q').trim()
  const named = findById(asked) ?? (await findAttempt(visit, asked))
  const { hits, isCut } = named
    ? { hits: [{ ...named, title: asked, about: '' }], isCut: false }
    : await findAll(visit, titled, asked)
  const groups = [...Map.groupBy(hits, ({ kind }) => kind)]
  const addressOf = ({ environment: other = environment, path }: Hit) => `/${other}${path && `/${path}`}`
  if (request.accepts(['html', 'json']) === 'json') {
    const items = hits.map((hit) => ({
      kind: hit.kind,
      title: hit.title,
      about: hit.about,
      href: addressOf(hit),
    }))
    return void response.set(pageHeaders()).json({ items })
  }
  if (hits.length === 1) return response.redirect(303, addressOf(hits[0]!))
  const content = html`<form method="get" role="search" aria-label="All pages and records">
${field({ name: 'q', label: 'ID, name, or page', value: asked, hint: 'Enter a complete ID, for example, ctx_…, words of a page title, the beginning of a word of a name, an email address, a member number, or the last four digits of a card.' })}
<div class="actions"><button type="submit">Search</button></div>
</form>
${groups.map(
  ([kind, items]) => html`<section><h2>${kind}</h2>
<ul class="plain">${items.map(
    (item) =>
      html`<li><a href="${addressOf(item)}">${item.title}</a>${item.about !== '' && html` <span class="quiet">${item.about}</span>`}</li>`,
  )}</ul></section>`,
)}${isCut && html`<p class="quiet">More results may match. Enter more of the name to narrow the search.</p>`}
${asked !== '' && hits.length === 0 && html`<p class="empty">No results found. You can also filter the lists in the menu.</p>`}`
  send(visit, 200, { title: 'Search', path: PATH, content })
}

/** Returns pages and forms by title, and then records by name. */
async function findAll(
  visit: DashboardVisit,
  { pages, actions }: Titled,
  asked: string,
): ReturnType<typeof findHits> {
  const byTitle = (kind: string, entries: Menu): Hit[] =>
    findByName(entriesFor(visit, entries), asked).map(({ title, group, path }) => ({
      kind,
      title,
      about: group,
      path,
    }))
  const { hits, isCut } = await findHits(visit, asked)
  return { hits: [...byTitle('Pages', pages), ...byTitle('Actions', actions), ...hits], isCut }
}
