/** The connected apps page: lists authorized applications, which owners can disconnect. */
import {
  type ConnectedApp,
  listConnectedApps,
  revokeConnectedApp,
} from '../../account/oauth/connected-apps.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { html } from '../../platform/html.ts'
import { sayScope } from '../authorization/consent-page.ts'
import type { SendFramed } from '../engine/frame.ts'
import { linkIn } from '../engine/links.ts'
import { writeTable } from '../engine/list-page.ts'
import type { DashboardRoute } from '../engine/routes.ts'
import type { ListColumn } from '../engine/shapes.ts'
import { when } from '../engine/values.ts'
import { ApiRefused, type DashboardVisit, mayAct } from '../engine/visit.ts'

const PATH = 'connected-apps'

export function connectedAppRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment): DashboardRoute[] => [
    {
      method: 'GET',
      path: `/${environment}/${PATH}`,
      environment,
      needs: 'viewer',
      handle: (visit) => showApps(visit, send),
    },
    {
      method: 'POST',
      path: `/${environment}/${PATH}/:id/disconnect`,
      environment,
      needs: 'owner',
      handle: async (visit, id) => {
        if (!(await readApps(visit)).some((app) => app.id === id)) {
          throw new ApiRefused(404, 'Connected app not found. It may already be disconnected.')
        }
        await revokeConnectedApp(visit.operator, id)
        visit.finish(`/${environment}/${PATH}`, 'App disconnected')
      },
    },
  ])
}

async function readApps({ operator, member, environment }: DashboardVisit): Promise<readonly ConnectedApp[]> {
  const { data } = await listConnectedApps(operator, member.tenantId)
  return data.filter((app) => app.environment === environment)
}

const COLUMNS: readonly ListColumn<ConnectedApp>[] = [
  { title: 'Application', show: ({ name }) => name },
  {
    title: 'Permissions',
    show: ({ scopes }) => html`<ul>${scopes.map((scope) => html`<li>${sayScope(scope)}</li>`)}</ul>`,
  },
  { title: 'Connected', show: ({ created }) => when(created) },
]

async function showApps(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const apps = await readApps(visit)
  const disconnect: ListColumn<ConnectedApp> = {
    title: 'Actions',
    show: ({ id, name }) => {
      const address = `/${visit.environment}/${PATH}/${id}/disconnect`
      return html`<form method="post" action="${address}">${visit.guard(address)}<button type="submit" class="danger" aria-label="Disconnect app ${name}">Disconnect app</button></form>`
    },
  }
  const columns = mayAct(visit.member.role, 'owner') ? [...COLUMNS, disconnect] : COLUMNS
  const content = html`<p class="quiet">Applications that members have authorized to act for this account. If you disconnect an application, it loses access immediately.</p>
${
  apps.length > 0
    ? writeTable('Connected apps', columns, apps, linkIn(visit))
    : html`<p class="empty">No connected apps yet. An application that requests access sends you to a page where you can allow or deny it.</p>`
}`
  send(visit, 200, { title: 'Connected apps', path: PATH, content })
}
