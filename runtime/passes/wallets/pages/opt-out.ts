/** The switch for messages on the page of a pass. It is a form, so it works without scripts. */
import { ApiError } from '../../../api/errors/errors.ts'
import type { Pool } from '../../../database/pool/pool.ts'
import { readSpace } from '../../../database/space.ts'
import type { Environment } from '../../../platform/environment.ts'
import { setOptedOut } from '../../passes/opt-out.ts'
import { pageUrlOf, type StateSources } from '../../passes/state.ts'
import { MESSAGES_PATH } from '../render/page/messages.ts'
import type { PassPlace, PassTokens } from '../render/pass-tokens.ts'
import { type HolderRequest, type HolderRoute, nothingHere, requireMethod } from './holders.ts'
import { readBody } from './read-body.ts'

export interface OptOutParts {
  readonly environment: Environment
  readonly database: Pick<Pool, 'forTenant'>
  readonly sources: Omit<StateSources, 'passTokens'>
  readonly passTokens: PassTokens
  /** Returns the tenant's pinned version in the environment. */
  readonly readPin: (tenantId: string) => Promise<string | null>
  /** Called when the space may have deliveries due. */
  readonly deliveriesDue: (space: string) => void
}

const MAX_BODY = 100

/** Routes `POST /p/{token}/messages` with `messages=on` or `messages=off`. It redirects to the page of the pass. */
export function optOutRoute(parts: OptOutParts): HolderRoute {
  return (visit) => {
    if (!visit.rest.endsWith(MESSAGES_PATH)) return undefined
    requireMethod(visit, 'POST')
    const place = parts.passTokens.read('page', visit.rest.slice(0, -MESSAGES_PATH.length))
    return place ? take(parts, visit, place) : Promise.reject(nothingHere())
  }
}

async function take(
  { environment, database, sources, passTokens, readPin, deliveriesDue }: OptOutParts,
  { request, response, now }: HolderRequest,
  place: PassPlace,
): Promise<void> {
  const wanted = new URLSearchParams(await readBody(request, MAX_BODY)).get('messages')
  if (wanted !== 'on' && wanted !== 'off') {
    const message = 'messages must be on or off.'
    throw new ApiError(400, 'invalid_parameter', 'invalid_format', message, { param: 'messages' })
  }
  const { space, passId } = place
  const { tenantId } = readSpace(space)
  const { baseUrl } = sources
  const pin = await readPin(tenantId)
  const due = await database
    .forTenant(tenantId)
    .transaction((db) =>
      setOptedOut({ db, environment, pin, space, now, baseUrl, passTokens }, passId, wanted === 'off'),
    )
  if (due === undefined) throw nothingHere()
  if (due) deliveriesDue(space)
  const location = pageUrlOf({ baseUrl, passTokens }, place)
  response.writeHead(303, ['Location', location, 'Content-Length', '0']).end()
}
