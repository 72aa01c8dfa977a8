import type { IncomingMessage, ServerResponse } from 'node:http'
import { clientAddress } from '../platform/client-address.ts'
import { newId } from '../platform/ids.ts'
import { authenticate, authorize, checkHolder, requireFactor } from './access.ts'
import { answer, refuse, send } from './answer.ts'
import { limitTransport, readBody } from './body.ts'
import { countUse, refusalOf, shedLoad, shedTenant, takeAllowance, takeToken, takeTurn } from './capacity.ts'
import { preflightHeaders } from './cors.ts'
import {
  type AnsweredExchange,
  type ApiService,
  createStages,
  type Exchange,
  type RequestingMember,
  type Stages,
} from './exchange.ts'
import { readParameters } from './parameters.ts'
import { perform } from './perform.ts'
import { matchRoute, resolveVersion } from './routing.ts'

/** What every request under /v1 goes through, top to bottom. The order is part of the contract. */
const STAGES: Stages<AnsweredExchange> = createStages()
  .step(shedLoad)
  .step(limitTransport)
  .step(authenticate)
  .step(shedTenant)
  .step(checkHolder) // the address it comes from, the role of the key's owner
  .step(resolveVersion)
  .step(matchRoute)
  .step(takeAllowance)
  .step(countUse)
  .step(authorize)
  .step(readParameters)
  .step(readBody)
  .step(requireFactor)
  .step(takeTurn)
  .step(perform) // idempotency claim, translation to the canonical version, handler, audit, stored response, commit
  .step(answer) // translation to the caller's version

/**
 * Carries one request through the pipeline. Never rejects: whatever happens is answered.
 *
 * @param member who makes it, known by other means than a key; never of a request that came over the network.
 */
export async function runPipeline(
  request: IncomingMessage,
  response: ServerResponse,
  service: ApiService,
  member?: RequestingMember,
): Promise<void> {
  const exchange = beginExchange(request, response, service, member)
  service.traffic?.enter(exchange)
  try {
    const preflight = preflightHeaders(request, exchange.path, service)
    if (preflight) {
      const metered = await takeToken(exchange, service)
      if (!metered.allowance.allowed) throw refusalOf(metered.allowance)
      send(metered, service, 204, undefined, preflight)
      return
    }
    for (const stage of STAGES.list) {
      const pending = stage(exchange, service)
      if (!(pending instanceof Promise)) continue
      await pending
      // The client went away, or this took too long and was answered meanwhile.
      if (response.destroyed || response.headersSent) return
    }
  } catch (thrown) {
    await refuse(exchange, service, thrown)
  } finally {
    exchange.endTurn?.()
    service.traffic?.leave(exchange)
  }
}

function beginExchange(
  request: IncomingMessage,
  response: ServerResponse,
  service: ApiService,
  member: RequestingMember | undefined,
): Exchange {
  const now = service.clock.service(service.environment)
  const { path, search } = splitTarget(request.url ?? '/')
  return {
    request,
    response,
    member,
    requestId: newId('req', now),
    beganAt: performance.now(),
    now,
    path,
    search,
    address: clientAddress(request, service.proxies),
    credential: undefined,
    version: undefined,
    answerVersion: service.versions.current,
    route: undefined,
    pathValues: undefined,
    allowance: undefined,
    pathParameters: undefined,
    query: undefined,
    idempotencyKey: undefined,
    body: undefined,
    sent: undefined,
    items: undefined,
    endTurn: undefined,
    reached: false,
    reply: undefined,
    refusal: undefined,
    touched: undefined,
  }
}

/** Path and query of a request target, which proxies may send whole, with scheme and host (RFC 9112, 3.2.2). */
export function splitTarget(target: string): { readonly path: string; readonly search: string } {
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0] ?? ''
  const local = origin === '' ? target : target.slice(origin.length)
  const question = local.indexOf('?')
  if (question < 0) return { path: local, search: '' }
  return { path: local.slice(0, question), search: local.slice(question + 1) }
}
