/**
 * Writes what belongs to the commit of a write: events, audit entries and the stored response. The statements are
 * pipelined with the COMMIT, which fails if one of them fails.
 */

import type { Database, RowResult, Statement } from '../database/database.ts'
import { pipelined } from '../database/pipelined.ts'
import { readSpace } from '../database/space.ts'
import { readSqlFile } from '../database/sql-file.ts'
import { toTimestamp } from '../database/types.ts'
import { appendEvents, eventValues, type RenderedEvent } from '../events/emit/queries.ts'
import { plainAddress } from '../platform/client-address.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { newId } from '../platform/ids.ts'
import type { AuditEntry } from '../tenants/audit/entry.ts'
import { appendAudit, appendAuditIn, entryValues } from '../tenants/audit/queries.ts'
import type { Effects } from './context.ts'
import { type ApiError, describeError } from './errors/errors.ts'
import type { ApiCall, ApiService } from './exchange.ts'
import type { FurtherEntry } from './handler.ts'
import { type ClaimedKey, isStored, sealBody } from './idempotency.ts'
import type { WriteRules } from './version-table.ts'

/** A write, and the transaction in which it runs. */
export interface Writing extends Write {
  readonly db: Database
}

/** A write, independent of the transaction. */
export interface Write {
  readonly service: ApiService
  readonly call: ApiCall
  readonly rules: WriteRules
  /** Undefined without an Idempotency-Key. */
  readonly claimed: ClaimedKey | undefined
}

/** A handler's answer, in canonical form. */
interface CanonicalAnswer {
  readonly status: number
  readonly body: unknown
  /** The body as JSON, in its stored form. */
  readonly text: string
}

/** Enqueues what follows a handler's success. Resolves with whether there may be deliveries to plan. */
export function enqueueSuccess(
  writing: Writing,
  effects: Effects,
  { status, body, text }: CanonicalAnswer,
): Promise<boolean> {
  const { db, service, call, rules } = writing
  const { events, auditEntries, newSpace } = effects
  const { distributed } = service.database
  const concernsBoth = rules.account === 'whole'
  // Called only when the entry is written: entries of the same instant are listed in the order of their identifiers.
  const describe = () =>
    describeOutcome(writing, { status, text, targetId: idOf(body), outcome: 'succeeded', newSpace })
  if (auditEntries.length === 0 && newSpace === undefined && !concernsBoth) {
    return appendOutcome(db, distributed, describe(), events)
  }
  // Lock order: the end of the events, then the end of the audit log.
  const due = appendEvents(db, call.credential.space, events)
  enqueueFurtherEntries(writing, auditEntries)
  if (concernsBoth) enqueueInBothLogs(writing)
  else enqueueOutcome(db, distributed, describe())
  return due
}

/** Enqueues the audit entry of a refusal, and the refusal itself if a repeated request must get it too. */
export function enqueueRefusal(writing: Writing, error: ApiError): void {
  const { db, service, call, claimed } = writing
  const outcome = describeOutcome(
    { ...writing, claimed: isStored(error) ? claimed : undefined },
    {
      status: error.status,
      text: JSON.stringify(describeError(error, call.requestId)),
      targetId: null,
      outcome: 'failed',
      newSpace: undefined,
    },
  )
  enqueueOutcome(db, service.database.distributed, outcome)
}

interface WriteOutcome {
  readonly status: number
  /** Body of the answer, or the error object, in canonical form. */
  readonly text: string
  readonly targetId: string | null
  readonly outcome: AuditEntry['outcome']
  /** The tenant's new space, if the request wiped the sandbox. */
  readonly newSpace: string | undefined
}

/** Returns the audit entry and the response to store, and the space to write them in. */
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
  const response = claimed && {
    key: claimed.key,
    fingerprint: claimed.fingerprint,
    status,
    body: isSecret ? sealBody(service, credential.tenant.id, claimed, text) : text,
    canonicalVersion: service.versions.current.name,
  }
  return { space: newSpace ?? credential.space, entry, response }
}

const nameOf = (value: unknown): string | undefined => (value === undefined ? undefined : String(value))

/** Returns the members that all audit entries of a request share. */
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
 * Enqueues an entry about the whole account in the audit logs of both environments, each with the time of its service
 * clock. The order of the environments is fixed, to avoid deadlocks.
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
  /** Plain text, or sealed bytes if it contains a secret. */
  readonly body: string | Buffer
  readonly canonicalVersion: string
}

const OUTCOME: Statement = { name: 'outcome', text: readSqlFile(import.meta.dirname, 'outcome.sql') }

const OUTCOME_WITH_EVENT: Statement = {
  name: 'outcome_with_event',
  text: readSqlFile(import.meta.dirname, 'outcome-with-event.sql'),
}

const STORE_RESPONSE: Statement = {
  name: 'outcome_response',
  text: `INSERT INTO idempotency_answers (tenant_id, key, fingerprint, status, body, sealed, head, created)
         VALUES ($1, $2::uuid, $3, $4, $5, $6, $7, $8)`,
}

function responseValues({ key, fingerprint, status, body, canonicalVersion }: ResponseToStore): unknown[] {
  const [open, sealed] = typeof body === 'string' ? [body, null] : [null, body]
  return [key, fingerprint, status, open, sealed, canonicalVersion]
}

/** The rows that a request writes in addition to its events and the writes of its handler. */
interface OutcomeToWrite {
  readonly space: string
  readonly entry: AuditEntry
  /** Undefined without an Idempotency-Key. */
  readonly response: ResponseToStore | undefined
}

const wasWiped = ({ space }: OutcomeToWrite): boolean => readSpace(space).tenantId !== space

/**
 * Writes the outcome of a request. It must come last in the transaction, because the ends of the tenant's events and
 * audit log stay locked until the commit. Most requests need one statement, because a statement costs as much as ten
 * rows. Resolves with whether there may be attempts to plan. Rejects with a unique violation of `ANSWERED_ALREADY` if
 * a concurrent request has stored a response for the key.
 */
function appendOutcome(
  db: Database,
  isDistributed: boolean,
  outcome: OutcomeToWrite,
  events: readonly RenderedEvent[],
): Promise<boolean> {
  const { space, entry, response } = outcome
  const [event] = events
  if (response && event && events.length === 1 && !isDistributed && !wasWiped(outcome)) {
    const values = [...entryValues(space, entry), ...responseValues(response), ...eventValues(event)]
    return isPlannedFor(db.query(OUTCOME_WITH_EVENT, values))
  }
  const planning = appendEvents(db, space, events)
  enqueueOutcome(db, isDistributed, outcome)
  return planning
}

const isPlannedFor = async (query: Promise<RowResult<{ readonly planned_for: boolean }>>) =>
  (await query).rows[0]!.planned_for

/**
 * Enqueues an outcome without events. In a distributed database, and if the space has a different name than the
 * tenant, it sends several statements, so that each has only one `tenant_id`.
 */
export function enqueueOutcome(db: Database, isDistributed: boolean, outcome: OutcomeToWrite): void {
  const { space, entry, response } = outcome
  if (response && !isDistributed && !wasWiped(outcome)) {
    pipelined(db.query(OUTCOME, [...entryValues(space, entry), ...responseValues(response)]))
    return
  }
  if (response) {
    pipelined(db.query(STORE_RESPONSE, [space, ...responseValues(response), toTimestamp(entry.created)]))
  }
  pipelined(appendAudit(db, space, entry))
}
