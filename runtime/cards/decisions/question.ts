/** Renders, signs and sends an authorization question to a tenant's endpoint, and reads the answer. */

import type { components } from '../../../generated/canonical/types.ts'
import { events as views } from '../../../generated/events.ts'
import { AuthorizationAnswer as isAnswer } from '../../../generated/validators.js'
import { versions } from '../../../generated/versions.ts'
import { renderEvent, renderingVersion } from '../../events/emit/emit.ts'
import type { OutboundFailureKind } from '../../events/outbound/failures.ts'
import type { OutboundPost, OutboundResult } from '../../events/outbound/outbound.ts'
import { signBody } from '../../events/outbound/signing.ts'
import { writeInstant } from '../../platform/instants.ts'
import { parsePeerJson } from '../../platform/json/peer-json.ts'

type Schemas = components['schemas']
type StandInReason = Schemas['StandInReason']

/** The first version with authorization decisions. Tenants pinned to an older version get the question in this version. */
const OLDEST = versions.findIndex(({ operations }) =>
  operations.some(({ id }) => id === 'getAuthorizationDecision'),
)

/** The question shows the transaction in the form that this event would have. */
const TYPE = 'card.transaction.authorized'

export interface Question {
  readonly id: string
  readonly transaction: Schemas['CardTransaction']
  readonly url: string
  /** Each of these secrets signs the request. */
  readonly secrets: readonly string[]
  /** Pinned version of the tenant in this environment. */
  readonly pin: string | null
  /** Service time. */
  readonly now: number
  /** Machine time, used as the timestamp of the signature. */
  readonly machineNow: number
}

/** Returns the request to the tenant's endpoint. */
export function writeQuestion(question: Question): OutboundPost {
  const { id, transaction, url, secrets, now, machineNow } = question
  const pinned = versions.findIndex(({ name }) => name === renderingVersion(question.pin, now))
  const version = versions[Math.max(pinned, OLDEST)]!.name
  const event = renderEvent(views, version, { type: TYPE, data: { card_transaction: transaction } }, now)
  if (!event) throw new Error(`Version ${version} does not define the event ${TYPE}.`)
  const body = JSON.stringify({
    id,
    object: 'authorization_decision',
    version,
    created: writeInstant(now),
    data: (JSON.parse(event.body) as { data: unknown }).data,
  })
  const signature = views[version]?.[TYPE]?.headers?.['Service-Signature'] ?? 'Service-Signature'
  const headers = {
    'Content-Type': 'application/json',
    [signature]: signBody(secrets, body, Math.floor(machineNow / 1000)),
  }
  return { url, headers, body }
}

const FAILURES: Readonly<Record<OutboundFailureKind, StandInReason>> = {
  timeout: 'timed_out',
  connection: 'connection_failed',
  tls: 'connection_failed',
  dns: 'connection_failed',
  blocked: 'connection_failed',
  response: 'bad_answer',
}

/** The endpoint's answer; `errored` if the answer cannot be used. */
export type EndpointAnswer =
  | {
      readonly status: 'responded'
      readonly given: Schemas['AuthorizationAnswer']
      readonly durationMs: number
    }
  | {
      readonly status: 'errored'
      readonly reason: StandInReason
      readonly durationMs: number | null
    }

/**
 * Reads the endpoint's answer. A usable answer has status 200, matches the schema, and approves at most the requested
 * amount. It approves zero only if zero was requested.
 * @param requested cents.
 */
export function readAnswer(outcome: OutboundResult, requested: number): EndpointAnswer {
  const { durationMs } = outcome
  if ('error' in outcome) return { status: 'errored', reason: FAILURES[outcome.kind], durationMs: null }
  if (outcome.status !== 200) return { status: 'errored', reason: 'bad_status', durationMs }
  const given = parse(outcome.body)
  if (!given || !isWithin(given.amount, requested))
    return { status: 'errored', reason: 'bad_answer', durationMs }
  return { status: 'responded', given, durationMs }
}

const isWithin = (amount: number | undefined, requested: number): boolean =>
  amount === undefined || (amount <= requested && (amount > 0 || requested === 0))

function parse(text: string): Schemas['AuthorizationAnswer'] | undefined {
  try {
    const value: unknown = parsePeerJson(text)
    return isAnswer(value) ? value : undefined
  } catch {
    return undefined // invalid JSON counts as no answer
  }
}
