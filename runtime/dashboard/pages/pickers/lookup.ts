/** The lookup of the pickers: finds records by name or ID while a member types. */
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { LOOKUP_PATH } from '../../engine/picking.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { isServed, queryText, roleFor } from '../../engine/visit.ts'
import { pageHeaders } from '../../html/layout.ts'
import { PICKABLE } from './pickable.ts'

/** Returns one route for each kind of record. The response is a JSON list of matches. */
export function lookupRoutes(): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment) =>
    PICKABLE.filter(({ operation }) => !operation || isServed(operation, environment)).map(
      ({ path, operation, find }): DashboardRoute => ({
        method: 'GET',
        path: `/${environment}/${LOOKUP_PATH}/${path}`,
        environment,
        needs: operation ? roleFor(operation) : 'viewer',
        handle: async (visit) => {
          const matches = await find(visit, queryText(visit, 'q').trim(), queryText(visit, 'status'))
          // Escaped, so that no client reads a name as HTML.
          const text = JSON.stringify(matches).replaceAll('<', '\\u003c')
          visit.response.set(pageHeaders()).type('json').send(text)
        },
      }),
    ),
  )
}

/** Addresses of the lookups of sandbox records, by the prefix of their IDs. */
export const SANDBOX_LOOKUPS: Readonly<Record<string, string>> = Object.fromEntries(
  PICKABLE.flatMap(({ prefix, path }) =>
    prefix === undefined ? [] : [[prefix, `/sandbox/${LOOKUP_PATH}/${path}`]],
  ),
)
