/**
 * What is written with the commit of a write: its events, its entries in the audit log and the stored response. None of it
 * is waited for: the statements travel with the COMMIT, which fails with them.
 */

import type { AuditNote } from '../contract.ts'
import { appendEvents } from '../events/queries.ts'
import type { RenderedEvent } from '../events/render.ts'
import type { AuditEntry } from '../platform/audit/entry.ts'
import { appendAudit, appendAuditIn } from '../platform/audit/queries.ts'
import type { Database } from '../platform/database/database.ts'
import { enqueue } from '../platform/database/enqueue.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { newId } from '../platform/ids.ts'
import { plainAddress } from './address.ts'
import type { Effects } from './context.ts'
import { type ApiError, describeError } from './errors.ts'
import type { Admitted, Service } from './exchange.ts'
import { type ClaimedKey, isStored, sealBody } from './idempotency.ts'
import { appendOutcome } from './outcomes.ts'
import type { WriteRules } from './routes.ts'

/** A write and the transaction in which it is made. */
export interface Writing extends Write {
  readonly db: Database
}

/** A write, whichever transaction it is made in. */
export interface Write {
  readonly service: Service
  readonly exchange: Admitted
  readonly rules: WriteRules
  /** Undefined without an Idempotency-Key. */
  readonly claimed: ClaimedKey | undefined
}

/** What the handler answered, in the form of the canonical version. */
interface Answer {
  readonly status: number
  readonly body: unknown
  /** The body as JSON, as it is stored. */
  readonly text: string
}

/** Writes what follows on the handler's success; gives whether there may be deliveries to plan. */
export function enqueueSuccess(
  writing: Writing,
  effects: Effects,
  { status, body, text }: Answer,
): Promise<boolean> {
  const { exchange, rules } = writing
  const { events, notes, newSpace } = effects
  const concernsBoth = rules.account === 'whole'
  const outcome = { status, text, targetId: idOf(body), outcome: 'succeeded', newSpace } as const
  if (notes.length === 0 && newSpace === undefined && !concernsBoth) {
    return enqueueOutcome(writing, outcome, events)
  }
  const due = appendEvents(writing.db, exchange.credential.space, events)
  enqueueNotes(writing, notes)
  if (concernsBoth) enqueueInBothLogs(writing)
  else enqueueOutcome(writing, outcome, [])
  return due
}

/** Writes that the handler refused, and the refusal where a repeated request is to get it too. */
export function enqueueRefusal(writing: Writing, error: ApiError): void {
  const { exchange, claimed } = writing
  const outcome = {
    status: error.status,
    text: JSON.stringify(describeError(error, exchange.requestId)),
    targetId: null,
    outcome: 'failed',
    newSpace: undefined,
  } as const
  enqueueOutcome({ ...writing, claimed: isStored(error) ? claimed : undefined }, outcome, [])
}

interface Outcome {
  readonly status: number
  /** Body of the answer in the form of the canonical version: of success, or the error object. */
  readonly text: string
  readonly targetId: string | null
  readonly outcome: AuditEntry['outcome']
  /** Of the tenant, where it has another one from now on. */
  readonly newSpace: string | undefined
}

/** Writes the events, the audit entry, and the answer under the claimed key: last, because the end of the chain stays locked. */
function enqueueOutcome(
  { db, service, exchange, rules, claimed }: Writing,
  { status, text, targetId, outcome, newSpace }: Outcome,
  events: readonly RenderedEvent[],
): Promise<boolean> {
  const { credential, pathParameters, route } = exchange
  const entry: AuditEntry = {
    ...entryOf(exchange, service.environment),
    action: rules.auditAction,
    targetId: nameOf(pathParameters[route.pathNames[0] ?? '']) ?? targetId,
    outcome,
  }
  const isSecret = rules.sensitive && outcome === 'succeeded'
  const answer = claimed && {
    key: claimed.key,
    fingerprint: claimed.fingerprint,
    status,
    body: isSecret ? sealBody(service, credential.tenant.id, claimed, text) : text,
    head: service.versions.current.name,
  }
  return appendOutcome(db, newSpace ?? credential.space, entry, answer, events)
}

const nameOf = (value: unknown): string | undefined => (value === undefined ? undefined : String(value))

/** What a request's entries have in common. */
function entryOf(exchange: Admitted, environment: Environment) {
  const { credential, now, address, requestId, version } = exchange
  return {
    id: newId('aud', now),
    environment,
    actorType: 'key',
    actorId: credential.key.id,
    requestId,
    ip: plainAddress(address),
    version: version.name,
    created: now,
  } as const
}

/** One entry for each thing that the handler noted. */
function enqueueNotes({ db, service, exchange }: Writing, notes: readonly AuditNote[]): void {
  for (const { action, targetId } of notes) {
    const entry = {
      ...entryOf(exchange, service.environment),
      action,
      targetId,
      outcome: 'succeeded',
    } as const
    enqueue(appendAudit(db, exchange.credential.space, entry))
  }
}

/**
 * What concerns the whole account, in the logs of both environments, each by its own clock. Always in the same order, so
 * that two such transactions cannot wait for each other.
 */
function enqueueInBothLogs({ db, service, exchange, rules }: Writing): void {
  const tenantId = exchange.credential.tenant.id
  for (const environment of ENVIRONMENTS) {
    const created = service.clock.service(environment)
    const entry = {
      ...entryOf(exchange, environment),
      id: newId('aud', created),
      created,
      environment: null,
      action: rules.auditAction,
      targetId: tenantId,
      outcome: 'succeeded',
    } as const
    enqueue(appendAuditIn(db, environment, tenantId, entry))
  }
}

function idOf(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('id' in body)) return null
  return typeof body.id === 'string' ? body.id : null
}
