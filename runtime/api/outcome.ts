/** What is written with the commit of a write: its events, its entries in the audit log and the stored response. None of it
 * is waited for: the statements travel with the COMMIT, which fails with them. */

import type { Database, Statement } from '../database/database.ts'
import { pipelined } from '../database/pipelined.ts'
import { readSpace } from '../database/space.ts'
import { inSteps } from '../database/steps.ts'
import { toTimestamp } from '../database/types.ts'
import { appendEvents, audienceOf, PLANNED_FOR, type RenderedEvent } from '../events/emit/queries.ts'
import { plainAddress } from '../platform/client-address.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { newId } from '../platform/ids.ts'
import type { AuditEntry } from '../tenants/audit/entry.ts'
import {
  appendAudit,
  appendAuditIn,
  chainInSteps,
  entryInChain,
  entryValues,
  placeInChain,
} from '../tenants/audit/queries.ts'
import type { Effects } from './context.ts'
import { type ApiError, describeError } from './errors/errors.ts'
import type { ApiCall, ApiService } from './exchange.ts'
import type { FurtherEntry } from './handler.ts'
import { type ClaimedKey, isStored, sealBody } from './idempotency.ts'
import type { WriteRules } from './version-table.ts'

/** A write and the transaction in which it is made. */
export interface Writing extends Write {
  readonly db: Database
}

/** A write, whichever transaction it is made in. */
export interface Write {
  readonly service: ApiService
  readonly call: ApiCall
  readonly rules: WriteRules
  /** Undefined without an Idempotency-Key. */
  readonly claimed: ClaimedKey | undefined
}

/** What the handler answered, in the form of the canonical version. */
interface CanonicalAnswer {
  readonly status: number
  readonly body: unknown
  /** The body as JSON, as it is stored. */
  readonly text: string
}

/** Writes what follows on the handler's success; gives whether there may be deliveries to plan. */
export function enqueueSuccess(
  writing: Writing,
  effects: Effects,
  { status, body, text }: CanonicalAnswer,
): Promise<boolean> {
  const { call, rules } = writing
  const { events, auditEntries, newSpace } = effects
  const concernsBoth = rules.account === 'whole'
  const outcome = { status, text, targetId: idOf(body), outcome: 'succeeded', newSpace } as const
  if (auditEntries.length === 0 && newSpace === undefined && !concernsBoth) {
    const { space, entry, answer } = describeOutcome(writing, outcome)
    return appendOutcome(writing.db, space, entry, answer, events)
  }
  const due = appendEvents(writing.db, call.credential.space, events)
  enqueueFurtherEntries(writing, auditEntries)
  if (concernsBoth) enqueueInBothLogs(writing)
  else enqueueOutcome(writing, outcome)
  return due
}

/** Writes that the handler refused, and the refusal where a repeated request is to get it too. */
export function enqueueRefusal(writing: Writing, error: ApiError): void {
  const { call, claimed } = writing
  const outcome = {
    status: error.status,
    text: JSON.stringify(describeError(error, call.requestId)),
    targetId: null,
    outcome: 'failed',
    newSpace: undefined,
  } as const
  enqueueOutcome({ ...writing, claimed: isStored(error) ? claimed : undefined }, outcome)
}

interface WriteOutcome {
  readonly status: number
  /** Body of the answer in the form of the canonical version: of success, or the error object. */
  readonly text: string
  readonly targetId: string | null
  readonly outcome: AuditEntry['outcome']
  /** Of the tenant, where it has another one from now on. */
  readonly newSpace: string | undefined
}

/** Writes the audit entry, and the answer under the claimed key: last, because the end of the chain stays locked. */
function enqueueOutcome(writing: Writing, outcome: WriteOutcome): void {
  const { space, entry, answer } = describeOutcome(writing, outcome)
  enqueueEntry(writing.db, space, entry, answer)
}

/** What is written of an outcome, and in which space. */
function describeOutcome(
  { service, call, rules, claimed }: Writing,
  { status, text, targetId, outcome, newSpace }: WriteOutcome,
) {
  const { credential, pathParameters, route } = call
  const entry: AuditEntry = {
    ...entryOf(call, service.environment),
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
    canonicalVersion: service.versions.current.name,
  }
  return { space: newSpace ?? credential.space, entry, answer }
}

const nameOf = (value: unknown): string | undefined => (value === undefined ? undefined : String(value))

/** What a request's entries have in common. */
function entryOf(call: ApiCall, environment: Environment) {
  const { credential, now, address, requestId, version } = call
  return {
    id: newId('aud', now),
    environment,
    actorType: credential.actor,
    actorId: credential.key.id,
    requestId,
    ip: plainAddress(address),
    version: version.name,
    created: now,
  } as const
}

/** The entries that the handler added. */
function enqueueFurtherEntries({ db, service, call }: Writing, entries: readonly FurtherEntry[]): void {
  for (const { action, targetId } of entries) {
    const entry = {
      ...entryOf(call, service.environment),
      action,
      targetId,
      outcome: 'succeeded',
    } as const
    pipelined(appendAudit(db, call.credential.space, entry))
  }
}

/**
 * What concerns the whole account, in the logs of both environments, each by its own clock. Always in the same order, so
 * that two such transactions cannot wait for each other.
 */
function enqueueInBothLogs({ db, service, call, rules }: Writing): void {
  const tenantId = call.credential.tenant.id
  for (const environment of ENVIRONMENTS) {
    const created = service.clock.service(environment)
    const entry = {
      ...entryOf(call, environment),
      id: newId('aud', created),
      created,
      environment: null,
      action: rules.auditAction,
      targetId: tenantId,
      outcome: 'succeeded',
    } as const
    pipelined(appendAuditIn(db, environment, tenantId, entry))
  }
}

function idOf(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('id' in body)) return null
  return typeof body.id === 'string' ? body.id : null
}

/** The response to a POST with an Idempotency-Key, to be stored with the audit entry of the same request. */
export interface ResponseToStore {
  readonly key: string
  readonly fingerprint: Buffer
  readonly status: number
  /** As it is, or sealed when it contains a secret. */
  readonly body: string | Buffer
  readonly canonicalVersion: string
}

const STORE_RESPONSE = `INSERT INTO idempotency_answers (tenant_id, key, fingerprint, status, body, sealed, head, created)
            VALUES ($1, $16::uuid, $17, $18, $19, $20, $21, $4)`

const RESPONSE_STORED = `stored AS (
            ${STORE_RESPONSE}
            RETURNING status
          )`

const INSERT_ENTRY_AND_ANSWER: Statement = {
  name: 'audit_append_with_answer',
  text: `WITH ${RESPONSE_STORED}, ${placeInChain('', 'FROM stored')} ${entryInChain('')}`,
  steps: inSteps('audit_append_with_answer', STORE_RESPONSE, ...chainInSteps('')),
}

const INSERT_ANSWER: Statement = {
  text: `INSERT INTO idempotency_answers (tenant_id, key, fingerprint, status, body, sealed, head, created)
         VALUES ($1, $2::uuid, $3, $4, $5, $6, $7, $8)`,
}

// What `appendEvents` does for any number of events; the end of their sequence is locked before that of the chain.
const INSERT_ENTRY_ANSWER_AND_EVENT: Statement = {
  name: 'outcome_append',
  text: `WITH place AS (
            INSERT INTO event_heads AS h (tenant_id, sequence) VALUES ($1, 1)
            ON CONFLICT (tenant_id) DO UPDATE SET sequence = h.sequence + 1
            RETURNING sequence
          ), event AS (
            INSERT INTO events (tenant_id, id, sequence, type, version, body, source, created, audience,
                                audience_endpoint_id)
            SELECT $1, $22, place.sequence, $23, $24, $25, $26::json, $27::timestamptz, $28, $29 FROM place
          ), ${RESPONSE_STORED}, ${placeInChain('', 'FROM place, stored')}, entry AS (${entryInChain('')})
          ${PLANNED_FOR}`,
  steps: inSteps(
    'outcome_append',
    `INSERT INTO event_heads AS h (tenant_id, sequence) VALUES ($1, 1)
     ON CONFLICT (tenant_id) DO UPDATE SET sequence = h.sequence + 1`,
    `INSERT INTO events (tenant_id, id, sequence, type, version, body, source, created, audience, audience_endpoint_id)
     SELECT h.tenant_id, $22, h.sequence, $23, $24, $25, $26::json, $27::timestamptz, $28, $29
       FROM event_heads h WHERE h.tenant_id = $1`,
    STORE_RESPONSE,
    ...chainInSteps(''),
    PLANNED_FOR,
  ),
}

function answerValues({ key, fingerprint, status, body, canonicalVersion }: ResponseToStore): unknown[] {
  const [open, sealed] = typeof body === 'string' ? [body, null] : [null, body]
  return [key, fingerprint, status, open, sealed, canonicalVersion]
}

function eventValues({ id, type, version, body, source, created, recipients }: RenderedEvent): unknown[] {
  const { audience, endpoint_id } = audienceOf(recipients)
  return [id, type, version, body, source ?? null, toTimestamp(created), audience, endpoint_id ?? null]
}

/**
 * Writes all that of a request, last in its transaction: the ends of the tenant's events and of its chain stay
 * locked until that is over. One statement for most, because each costs a request what ten rows do; several where a space
 * has another name than its tenant, so that each names one `tenant_id`. Gives whether there may be something to plan. Fails
 * with a unique violation of `ANSWERED_ALREADY` when another request has answered under the key meanwhile.
 */
export async function appendOutcome(
  db: Database,
  space: string,
  entry: AuditEntry,
  answer: ResponseToStore | undefined,
  events: readonly RenderedEvent[],
): Promise<boolean> {
  const { tenantId, wipes } = readSpace(space)
  if (answer && events.length === 1 && space === tenantId) {
    const values = [
      ...entryValues(tenantId, entry, wipes),
      ...answerValues(answer),
      ...eventValues(events[0]!),
    ]
    return (await db.query<{ planned_for: boolean }>(INSERT_ENTRY_ANSWER_AND_EVENT, values)).rows[0]!
      .planned_for
  }
  const planning = appendEvents(db, space, events)
  enqueueEntry(db, space, entry, answer)
  return planning
}

function enqueueEntry(
  db: Database,
  space: string,
  entry: AuditEntry,
  answer: ResponseToStore | undefined,
): void {
  pipelined(answer ? appendEntryAndAnswer(db, space, entry, answer) : appendAudit(db, space, entry))
}

/** The same without events, so that there is nothing to plan. */
export function appendEntryAndAnswer(
  db: Database,
  space: string,
  entry: AuditEntry,
  answer: ResponseToStore,
): Promise<unknown> {
  const { tenantId, wipes } = readSpace(space)
  if (space === tenantId) {
    return db.query(INSERT_ENTRY_AND_ANSWER, [
      ...entryValues(tenantId, entry, wipes),
      ...answerValues(answer),
    ])
  }
  pipelined(db.query(INSERT_ANSWER, [space, ...answerValues(answer), toTimestamp(entry.created)]))
  return appendAudit(db, space, entry)
}
