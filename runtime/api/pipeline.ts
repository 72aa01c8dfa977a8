import type { IncomingMessage, ServerResponse } from 'node:http'
import { clientAddress } from '../platform/client-address.ts'
import { newId } from '../platform/ids.ts'
import { runInSpan } from '../tracing/span.ts'
import { authenticate, authenticateAgain, authorize, checkHolder, requireFactor } from './access.ts'
import { answer, answerPreflight, refuse } from './answer.ts'
import { limitTransport, readBody } from './body.ts'
import { countUse, requireAllowance, shedLoad, shedTenant, takeAllowance, takeTurn } from './capacity.ts'
import { preflightHeaders } from './cors.ts'
import type { ApiCall, ApiService, Exchange, ReceivedRequest, RequestingMember } from './exchange.ts'
import { faultsOf, injectFaults } from './faults.ts'
import { readParameters } from './parameters.ts'
import { perform } from './perform.ts'
import { describeSpan } from './request-span.ts'
import { matchRoute, requireSupported, resolveVersion } from './routing.ts'
import { requireServed } from './served.ts'

/**
 * Runs one request through all stages, top to bottom. The order of the stages is part of the contract. A stage throws
 * an `ApiError` to end the request. Never rejects: every failure is answered.
 *
 * @param member the member for whom the dashboard makes the request; undefined for a request from the network.
 */
export async function runPipeline(
  request: IncomingMessage,
  response: ServerResponse,
  service: ApiService,
  member?: RequestingMember,
): Promise<void> {
  const received = receive(request, response, service, member)
  await runInSpan(received.span, () => runStages(received, service))
}

async function runStages(received: ReceivedRequest, service: ApiService): Promise<void> {
  const { request, response } = received
  const exchange = beginExchange(received, service)
  let turn: Awaited<ReturnType<typeof takeTurn>> | undefined
  service.traffic?.enter(exchange)
  try {
    const preflight = preflightHeaders(request, received.path, service)
    if (preflight) return await answerPreflight(exchange, service, preflight)
    shedLoad(service)
    limitTransport(received, service)
    const credential = await whileOpen(response, authenticate(received, service))
    exchange.credential = credential
    shedTenant(credential, service)
    checkHolder(received, credential)
    await whileOpen(response, requireServed(received, credential, service))
    const version = resolveVersion(received, credential, service)
    exchange.answerVersion = version
    requireSupported(received, version, service)
    const { route, pathValues } = matchRoute(received, version, service)
    exchange.route = route
    const allowance = await whileOpen(response, takeAllowance(received, credential, route, service))
    exchange.allowance = allowance
    requireAllowance(received, credential, route, allowance, service)
    countUse(received, credential, route, service)
    authorize(credential, route)
    const parameters = readParameters(received, version, route, pathValues)
    const content = await whileOpen(response, readBody(received, version, route, service))
    exchange.body = content.body
    const call: ApiCall = {
      ...{ ...received, credential, version, route, allowance, ...parameters, ...content },
      time: received.now,
    }
    const faults = faultsOf(call)
    if (faults) await whileOpen(response, injectFaults(exchange, call, faults, service))
    await whileOpen(response, requireFactor(call, service))
    turn = await takeTurn(call, service)
    requireOpen(response)
    exchange.reached = true
    // Idempotency claim, translation to the canonical version, handler, audit entry, stored response, commit.
    const authenticateCaller = async () => {
      exchange.credential = await authenticateAgain(received, service)
      return exchange.credential
    }
    const reply = await whileOpen(response, perform(call, turn, service, authenticateCaller))
    await answer(exchange, call, reply, service)
  } catch (thrown) {
    if (thrown !== CLOSED) await refuse(exchange, service, thrown)
  } finally {
    turn?.end()
    service.traffic?.leave(exchange)
    describeSpan(exchange, service)
  }
}

/**
 * Ends a request that needs no answer: the client disconnected, or the request took too long and is already answered.
 */
const CLOSED = Symbol('closed')

function requireOpen(response: ServerResponse): void {
  if (response.destroyed || response.headersSent) throw CLOSED
}

/** Returns what a stage found. Only a stage that waited can find the response closed. */
function whileOpen<Found>(response: ServerResponse, found: Found | Promise<Found>): Found | Promise<Found> {
  if (!(found instanceof Promise)) return found
  return found.then((waitedFor) => {
    requireOpen(response)
    return waitedFor
  })
}

function receive(
  request: IncomingMessage,
  response: ServerResponse,
  service: ApiService,
  member: RequestingMember | undefined,
): ReceivedRequest {
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
    touched: new Set(),
    span: service.tracer?.receive(request.headers, { name: request.method ?? '', kind: 'server' }),
  }
}

function beginExchange(received: ReceivedRequest, { versions }: ApiService): Exchange {
  return {
    ...received,
    credential: undefined,
    answerVersion: versions.current,
    route: undefined,
    allowance: undefined,
    body: undefined,
    reached: false,
    refusal: undefined,
    injected: [],
  }
}

/**
 * Splits a request target into path and query. Proxies may send it with scheme and host (RFC 9112, section 3.2.2).
 */
export function splitTarget(target: string): { readonly path: string; readonly search: string } {
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0] ?? ''
  const local = origin === '' ? target : target.slice(origin.length)
  const question = local.indexOf('?')
  if (question < 0) return { path: local, search: '' }
  return { path: local.slice(0, question), search: local.slice(question + 1) }
}
