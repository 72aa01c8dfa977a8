/** Routes of what documentation pages show to members who are signed in. */
import type { DashboardRoute } from '../../engine/routes.ts'
import { REQUESTS_NEED } from '../watch/requests.ts'
import type { Watching } from '../watch/watching.ts'
import { showErrors } from './errors.ts'
import { showUpgrading } from './upgrading.ts'

/** Both cover both environments, so the environment of the routes has no meaning. */
export function docsRoutes(watching: Watching): DashboardRoute[] {
  const common = { method: 'GET', environment: 'sandbox' } as const
  return [
    {
      ...common,
      path: '/docs/account/errors',
      needs: REQUESTS_NEED,
      handle: (visit) => showErrors(watching, visit),
    },
    {
      ...common,
      path: '/docs/account/upgrading/:from/:to',
      needs: 'viewer',
      handle: (visit) => showUpgrading(watching, visit),
    },
  ]
}
