/** The sandbox simulator: an overview page, and one form for each simulated event. */
import { findOperation } from '../../../api/operate.ts'
import { html } from '../../../platform/html.ts'
import { showForm, submitForm } from '../../engine/form-page.ts'
import type { Menu, SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'
import { doneOf } from '../../html/toasts.ts'
import { HELPERS, type Helper } from './forms.ts'

export const SIMULATOR_PATH = 'simulator'
const environment = 'sandbox'

/** Search entries for the simulator forms. */
export const SIMULATOR_PAGES: Menu = HELPERS.flatMap(({ helpers }) =>
  helpers.map(({ name, title, operation }) => ({
    group: 'Simulator',
    title,
    path: `${SIMULATOR_PATH}/${name}`,
    needs: roleFor(operation),
    environment,
  })),
)

export function simulatorRoutes(send: SendFramed): DashboardRoute[] {
  return [
    {
      method: 'GET',
      path: `/${environment}/${SIMULATOR_PATH}`,
      environment,
      needs: 'developer',
      handle: (visit) => showAll(visit, send),
    },
    ...HELPERS.flatMap(({ helpers }) => helpers.flatMap((helper) => helperRoutes(helper, send))),
  ]
}

function showAll(visit: DashboardVisit, send: SendFramed): void {
  const link = linkIn(visit)
  const content = html`<p class="quiet">Simulate the actions of merchants, card networks, banks, and pass holders. Authorization rules, ledger postings, events, and webhooks work as in live.</p>
${HELPERS.map(
  ({ group, helpers }) => html`<section><h2>${group}</h2>
<dl class="choices">${helpers
    .filter(({ operation }) => mayAct(visit.member.role, roleFor(operation)))
    .map(
      ({ name, title, text }) => html`<dt>${link(`${SIMULATOR_PATH}/${name}`, title)}</dt><dd>${text}</dd>\n`,
    )}</dl></section>`,
)}`
  send(visit, 200, { title: 'Simulator', path: SIMULATOR_PATH, content })
}

function helperRoutes(helper: Helper, send: SendFramed): DashboardRoute[] {
  const back = `/${environment}/${SIMULATOR_PATH}`
  const address = `${back}/${helper.name}`
  const place = {
    title: helper.title,
    path: SIMULATOR_PATH,
    address,
    back,
    intro: `${helper.text} API operation: POST ${findOperation(helper.operation).path}.`,
  }
  const common = { path: address, environment, needs: roleFor(helper.operation) } as const
  return [
    { ...common, method: 'GET', handle: (visit) => showForm(visit, helper, place, send) },
    {
      ...common,
      method: 'POST',
      handle: async (visit) => {
        const answer = await submitForm(visit, helper, () => place, send)
        if (answer)
          visit.finish(`/${environment}/${helper.next(answer.body as never)}`, doneOf(helper.button))
      },
    },
  ]
}
