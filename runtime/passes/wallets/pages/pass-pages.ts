import type { ServerResponse } from 'node:http'
import type { Pool } from '../../../database/pool/pool.ts'
import { readSpace } from '../../../database/space.ts'
import type { Environment } from '../../../platform/environment.ts'
import { showLink } from '../../passes/links.ts'
import { readLinks } from '../../passes/queries.ts'
import { pageUrlOf, readChanged, readPassState, type StateSources } from '../../passes/state.ts'
import type { PassPlace, PassTokens } from '../render/pass-tokens.ts'
import type { Barcodes } from './barcodes.ts'
import { isConditional } from './conditions.ts'
import { type HolderRequest, type HolderRoute, requireMethod } from './holders.ts'
import { answerMissing, answerPassPage, answerUnchanged, type PageAnswer } from './pass-page.ts'

export interface PassPageParts {
  readonly environment: Environment
  readonly database: Pick<Pool, 'forTenant'>
  readonly sources: StateSources
  readonly passTokens: Pick<PassTokens, 'read'>
  readonly barcodes: Pick<Barcodes, 'draw'>
}

/** Routes `/p/{token}`. Every address that is not a pass gets the same page. */
export function passPageRoute(parts: PassPageParts): HolderRoute {
  return async (visit) => {
    requireMethod(visit, 'GET', 'HEAD')
    const place = parts.passTokens.read('page', visit.rest)
    send(visit, (place && (await answer(parts, visit, place))) ?? answerMissing(visit.request.headers))
  }
}

async function answer(
  { environment, database, sources, barcodes }: PassPageParts,
  { request: { headers }, now }: HolderRequest,
  place: PassPlace,
): Promise<PageAnswer | undefined> {
  const { tenantId } = readSpace(place.space)
  const db = database.forTenant(tenantId)
  const isTest = environment === 'sandbox'
  if (isConditional(headers)) {
    const [changed, organization] = await Promise.all([
      readChanged(db, place, now),
      sources.tenantNames.find(tenantId),
    ])
    if (changed === undefined || organization === undefined) return undefined
    const pageUrl = pageUrlOf(sources, place)
    const unchanged = answerUnchanged({ place, organization, pageUrl, changed }, { headers, isTest })
    if (unchanged) return unchanged
  }
  const [state, [link]] = await Promise.all([
    readPassState(db, place, sources, now),
    readLinks(db, place.space, [place.passId]),
  ])
  if (!state || !link) return undefined
  return answerPassPage(state, { headers, googleUrl: showLink(link), isTest, now }, barcodes)
}

function send({ request, response }: HolderRequest, { status, headers, body }: PageAnswer): ServerResponse {
  const length = status === 304 ? [] : ['Content-Length', String(body.length)]
  response.writeHead(status, [...headers, ...length])
  return response.end(request.method === 'HEAD' ? undefined : body)
}
