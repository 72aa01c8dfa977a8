/** Client of Google Wallet's REST API (v1): creates and updates classes and objects. */
import type {
  OutboundRequest,
  OutboundResponse,
  OutboundResult,
  PeerOutbound,
} from '../../../../events/outbound/outbound.ts'
import { parsePeerJson } from '../../../../platform/json/peer-json.ts'
import type { GoogleMessage, KnownObject } from '../../render/google/messages.ts'
import { type GoogleResource, withoutEmpty } from '../../render/google/resource.ts'
import { type AccessTokens, NoAccessToken } from './access-tokens.ts'
import type { Pace } from './pace.ts'

/** The result. `refused`: the same request would be refused again. `later`: a later attempt may succeed. */
export type SyncOutcome =
  | { readonly outcome: 'done' }
  | { readonly outcome: 'refused'; readonly status: number; readonly message: string }
  | { readonly outcome: 'later'; readonly message: string; readonly retryAfterMs: number }

export const DONE: SyncOutcome = { outcome: 'done' }

export interface GoogleClient {
  /**
   * Creates or updates a resource. An insert that finds an existing resource becomes a patch; a patch that finds none
   * becomes an insert. Google refuses an object with 404 if its class is missing.
   *
   * @param type last segment of the path.
   * @param first the method to try first.
   */
  put(type: string, resource: GoogleResource, first: How): Promise<SyncOutcome>

  /** Reads an object. The result has no `object` if Google does not have it. */
  find(type: string, id: string): Promise<Found>

  /**
   * Adds a message to an object. If the limit of notifications is reached, Google gets the message as a text without
   * one.
   */
  addMessage(type: string, id: string, message: GoogleMessage): Promise<SyncOutcome>
}

type How = 'insert' | 'patch'

type Found = { readonly outcome: 'done'; readonly object?: KnownObject } | Exclude<SyncOutcome, typeof DONE>

export interface GoogleClientOptions {
  readonly walletUrl: string
  readonly tokens: AccessTokens
  readonly outbound: Pick<PeerOutbound, 'send'>
  readonly pace: Pace
}

/** Reasons of a 403 that is temporary (Google, "Standard error responses"). */
const QUOTA = /rateLimitExceeded|quotaExceeded/i

/** Maximum number of requests for one `put`: the first one, and two changes of method if another client interferes. */
const MAX_STEPS = 3

export function createGoogleClient({ walletUrl, tokens, outbound, pace }: GoogleClientOptions): GoogleClient {
  const send = async (request: Omit<OutboundRequest, 'headers'>, token: string): Promise<OutboundResult> => {
    await pace.turn()
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    return outbound.send({ ...request, headers })
  }

  /** Sends a request. If Google refuses the token, it gets a new one and tries once more. */
  const ask = async (request: Omit<OutboundRequest, 'headers'>): Promise<OutboundResult> => {
    const token = await tokens.find()
    const outcome = await send(request, token)
    if ('error' in outcome || outcome.status !== 401) return outcome
    tokens.drop(token)
    return send(request, await tokens.find())
  }

  const urlOf = (type: string) => `${walletUrl}/walletobjects/v1/${type}`

  const step = (type: string, resource: GoogleResource, how: How): Promise<OutboundResult> => {
    const url = urlOf(type)
    return how === 'insert'
      ? ask({ method: 'POST', url, body: JSON.stringify(withoutEmpty(resource)) })
      : ask({ method: 'PATCH', url: `${url}/${resource.id}`, body: JSON.stringify(resource) })
  }

  const read = (outcome: OutboundResult): SyncOutcome => {
    if ('error' in outcome) return later(outcome.error)
    const { status, body, retryAfter } = outcome
    if (status >= 200 && status <= 299) {
      pace.succeeded()
      return DONE
    }
    const { reason, message } = readError(body)
    const waiting = later(`${status} ${message}`, retryAfter)
    if (status === 429 || (status === 403 && QUOTA.test(reason))) {
      pace.slowDown(waiting.retryAfterMs)
      return waiting
    }
    if (status === 401 || status === 408 || status === 409 || status >= 500) return waiting
    return { outcome: 'refused', status, message }
  }

  return {
    async put(type, resource, first) {
      let how = first
      for (let count = 1; ; count += 1) {
        const outcome = await step(type, resource, how).catch(noToken)
        const other = 'error' in outcome ? undefined : otherWay(outcome, how)
        if (!other || count === MAX_STEPS) return read(outcome)
        how = other
      }
    },

    async find(type, id) {
      const outcome = await ask({ method: 'GET', url: `${urlOf(type)}/${id}`, body: '' }).catch(noToken)
      if (!('error' in outcome) && outcome.status === 404) return { outcome: 'done' }
      const sent = read(outcome)
      if (sent.outcome !== 'done' || 'error' in outcome) return sent
      return { outcome: 'done', object: parsePeerJson(outcome.body) as KnownObject }
    },

    async addMessage(type, id, message) {
      const url = `${urlOf(type)}/${id}/addMessage`
      const add = (each: GoogleMessage) =>
        ask({ method: 'POST', url, body: JSON.stringify({ message: each }) }).catch(noToken)
      const outcome = await add(message)
      const isOver =
        !('error' in outcome) && outcome.status >= 400 && QUOTA.test(readError(outcome.body).reason)
      return read(isOver ? await add({ ...message, messageType: 'TEXT' }) : outcome)
    },
  }
}

function noToken(error: unknown): OutboundResult {
  if (!(error instanceof NoAccessToken)) throw error
  return { error: error.message, kind: 'response', durationMs: 0 }
}

/** Returns the other method if the resource exists (after an insert) or is missing (after a patch). */
function otherWay({ status, body }: OutboundResponse, how: How): How | undefined {
  if (how === 'insert') return status === 409 ? 'patch' : undefined
  return status === 404 && readError(body).reason !== 'classNotFound' ? 'insert' : undefined
}

function later(message: string, retryAfter?: string): Extract<SyncOutcome, { outcome: 'later' }> {
  const seconds = /^\d{1,5}$/.test(retryAfter ?? '') ? Number(retryAfter) : 0
  return { outcome: 'later', message, retryAfterMs: seconds * 1000 }
}

/** Parses Google's error body: the first reason, and the message. */
function readError(body: string): { readonly reason: string; readonly message: string } {
  try {
    const { error } = JSON.parse(body) as {
      error?: { message?: unknown; status?: unknown; errors?: { reason?: unknown }[] }
    }
    const reason = error?.errors?.[0]?.reason ?? error?.status ?? ''
    return { reason: String(reason), message: String(error?.message ?? '').slice(0, 500) }
  } catch {
    return { reason: '', message: body.slice(0, 200) } // probably an error page of a proxy
  }
}
