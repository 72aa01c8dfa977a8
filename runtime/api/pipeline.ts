import type { IncomingMessage, ServerResponse } from 'node:http'
import { newId } from '../platform/ids.ts'
import { clientAddress } from './address.ts'
import { answer, refuse, send } from './answer.ts'
import { authenticate } from './authenticate.ts'
import { authorize } from './authorize.ts'
import { preflightHeaders } from './cors.ts'
import { countUse } from './count-use.ts'
import type { Exchange, Service, Stage } from './exchange.ts'
import { requireFactor } from './factor.ts'
import { judgeAddress } from './judge-address.ts'
import { judgeRole } from './judge-role.ts'
import { matchRoute } from './match-route.ts'
import { perform } from './perform.ts'
import { readBody } from './read-body.ts'
import { readParameters } from './read-parameters.ts'
import { resolveVersion } from './resolve-version.ts'
import { shedLoad, shedTenant } from './shed-load.ts'
import { takeAllowance, takeToken } from './take-allowance.ts'
import { takeTurn } from './take-turn.ts'
import { limitTransport } from './transport.ts'

/** What every request under /v1 goes through, top to bottom. The order is part of the contract. */
const STAGES: readonly Stage[] = [
  shedLoad,
  limitTransport,
  authenticate,
  shedTenant,
  judgeAddress,
  judgeRole,
  resolveVersion,
  matchRoute,
  takeAllowance,
  countUse,
  authorize,
  readParameters,
  readBody,
  requireFactor,
  takeTurn,
  perform, // idempotency claim, translation to head, handler, audit, stored answer, commit
  answer, // translation to the caller's version
]

/** Carries one request through the pipeline. Never rejects: whatever happens is answered. */
export async function runPipeline(
  request: IncomingMessage,
  response: ServerResponse,
  service: Service,
): Promise<void> {
  const exchange = beginExchange(request, response, service)
  service.traffic?.enter(exchange)
  try {
    const preflight = preflightHeaders(request, exchange.path, service)
    if (preflight) {
      const limited = await takeToken(exchange, service)
      if (limited) throw limited
      send(exchange, service, 204, undefined, preflight)
      return
    }
    for (const stage of STAGES) {
      const pending = stage(exchange, service)
      if (pending === undefined) continue
      await pending
      // The client went away, or this took too long and was answered meanwhile.
      if (response.destroyed || response.headersSent) return
    }
  } catch (thrown) {
    await refuse(exchange, service, thrown)
  } finally {
    exchange.leave?.()
    service.traffic?.leave(exchange)
  }
}

function beginExchange(request: IncomingMessage, response: ServerResponse, service: Service): Exchange {
  const now = service.clock.service(service.environment)
  const { path, search } = splitTarget(request.url ?? '/')
  return {
    request,
    response,
    requestId: newId('req', now),
    beganAt: performance.now(),
    now,
    path,
    search,
    address: clientAddress(request, service.proxies),
    credential: undefined,
    version: service.versions.current,
    route: undefined,
    allowance: undefined,
    pathParameters: {},
    query: {},
    idempotencyKey: undefined,
    body: undefined,
    items: undefined,
    leave: undefined,
    reached: false,
    reply: undefined,
    refusal: undefined,
    notes: [],
    events: [],
    newSpace: undefined,
    deliveriesDue: false,
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
