import type { AuthorizationEndpointHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { notFound, validationFailed } from '../../api/errors/errors.ts'
import { type Context, prepared } from '../../api/handler.ts'
import { pipelined } from '../../database/pipelined.ts'
import { RETIRED_FOR } from '../../events/outbound/signing.ts'
import { writeInstant } from '../../platform/instants.ts'
import {
  type AuthorizationEndpointRow,
  deleteEndpoint,
  lockEndpoint,
  readEndpoint,
  rotateSecret,
  setEndpoint,
} from './queries.ts'

type Schemas = components['schemas']

/** Used in place of an identifier when the endpoint's secret is sealed: each tenant has at most one endpoint. */
export const AUTHORIZATION_ENDPOINT = 'authorization_endpoint'

export const authorizationEndpointHandlers = {
  async getAuthorizationEndpoint({ caller, db }) {
    const row = await readEndpoint(db, caller.space)
    if (!row) throw notFound()
    return { status: 200, body: showEndpoint(row) }
  },

  putAuthorizationEndpoint: prepared(
    ({ destinations }, { body }: { body: Schemas['AuthorizationEndpointPut'] }) =>
      destinations.check(body.url),
    async ({ caller, request, db, endpointSecrets }, { body }, blocked) => {
      if (blocked !== undefined) throw validationFailed([{ field: 'url', issue: blocked }])
      const { url, timeout_ms = 2000, default_action = 'decline', default_max_amount } = body
      const { secret, sealed } = endpointSecrets.make(caller.space, AUTHORIZATION_ENDPOINT)
      const setting = {
        url,
        timeout_ms,
        default_action,
        ...(default_max_amount !== undefined && { default_max_amount }),
      }
      const row = await setEndpoint(db, caller.space, setting, sealed, request.now)
      const isNew = row.secret.equals(sealed)
      return { status: 200, body: { ...showEndpoint(row), ...(isNew && { secret }) } }
    },
  ),

  async deleteAuthorizationEndpoint({ caller, db }) {
    if (!(await deleteEndpoint(db, caller.space))) throw notFound()
    return { status: 200, body: { object: 'authorization_endpoint', deleted: true } }
  },

  async rotateAuthorizationEndpointSecret({ caller, request: { now }, db, endpointSecrets }) {
    const row = await lockEndpoint(db, caller.space)
    if (!row) throw notFound()
    const { secret, sealed } = endpointSecrets.make(caller.space, AUTHORIZATION_ENDPOINT)
    const replaced = { sealed: row.secret.toString('base64'), until: now + RETIRED_FOR }
    const rotated = { ...row, secret: sealed, retired_secrets: [replaced], updated: now }
    pipelined(rotateSecret(db, caller.space, rotated))
    return { status: 200, body: { ...showEndpoint(rotated), secret } }
  },
} satisfies AuthorizationEndpointHandlers<Context>

function showEndpoint(row: AuthorizationEndpointRow): Schemas['AuthorizationEndpoint'] {
  return {
    object: 'authorization_endpoint',
    url: row.url,
    timeout_ms: row.timeout_ms,
    default_action: row.default_action,
    ...(row.default_max_amount !== null && { default_max_amount: row.default_max_amount }),
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}
