/** One field for everything: an identifier leads to its page, words to the pages and things that are called so. */

import { findEndpointOf } from '../../../events/delivery-attempts/queries.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import { isId } from '../../../platform/ids.ts'
import type { Menu, SendFramed } from '../../engine/frame.ts'
import { linkIn, queryText } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { type DashboardVisit, mayAct } from '../../engine/visit.ts'
import { field } from '../../html/components.ts'
import { findHits } from './named.ts'
import { type FoundPlace, findById, findByName } from './places.ts'

const PATH = 'search'

/** @param pages all that can be found by name. */
export function searchRoutes(send: SendFramed, pages: Menu): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'GET',
    path: `/${environment}/${PATH}`,
    environment,
    needs: 'viewer',
    handle: (visit) => search(visit, pages, send),
  }))
}

/** An attempt is shown below the endpoint that it was made to. */
async function findAttempt(visit: DashboardVisit, id: string): Promise<FoundPlace | undefined> {
  if (!isId('wdla', id)) return undefined
  const { db, space } = await visit.place()
  const endpointId = await findEndpointOf(db, space, id)
  return endpointId === undefined ? undefined : { path: `webhook-endpoints/${endpointId}/attempts/${id}` }
}

async function search(visit: DashboardVisit, pages: Menu, send: SendFramed): Promise<void> {
  const { environment, member, response } = visit
  const asked = queryText(visit, 'q').trim()
  const named = findById(asked) ?? (await findAttempt(visit, asked))
  if (named) return response.redirect(303, `/${named.environment ?? environment}/${named.path}`)
  const readable = pages.filter(
    ({ needs, environment: only = environment }) => only === environment && mayAct(member.role, needs),
  )
  const found = findByName(readable, asked)
  const { hits, isCut } = await findHits(visit, asked)
  const things = hits.map(({ id, name, about }) => ({ group: about, title: name, path: findById(id)!.path }))
  const all = [...found, ...things]
  if (all.length === 1) return response.redirect(303, `/${environment}/${all[0]!.path}`)
  const link = linkIn(visit)
  const content = html`<form method="get" role="search" aria-label="Everything">
${field({ name: 'q', label: 'Identifier, name or page', value: asked, hint: 'A whole identifier such as ctx_…, words of a title, or how a name or an e-mail address begins.' })}
<div class="actions"><button type="submit">Find</button></div>
</form>
${
  all.length > 0
    ? html`<ul class="plain">${all.map(
        ({ group, title, path }) =>
          html`<li>${link(path, title)}${group !== '' && html` <span class="quiet">${group}</span>`}</li>`,
      )}</ul>${isCut && html`<p class="quiet">More may be called so. Write more of the name.</p>`}`
    : asked !== '' &&
      html`<p class="empty">Nothing is called so. Look in the lists of the menu; each can be narrowed.</p>`
}`
  send(visit, 200, { title: 'Search', path: PATH, content })
}
