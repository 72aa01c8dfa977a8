/** What is written with the commit of a write: its events, its entries in the audit log and the stored response. None of it
 * is waited for: the statements travel with the COMMIT, which fails with them. */

import type { Database, RowResult, Statement } from '../database/database.ts'
import { pipelined } from '../database/pipelined.ts'
import { readSpace } from '../database/space.ts'
import { readSqlFile } from '../database/sql-file.ts'
import { toTimestamp } from '../database/types.ts'
import { appendEvents, audienceOf, type RenderedEvent } from '../events/emit/queries.ts'
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
  const { db, service, call, rules } = writing
  const { events, auditEntries, newSpace } = effects
  const { distributed } = service.database
  const concernsBoth = rules.account === 'whole'
  // Entries of one instant are listed by their identifiers, so each is described when it is written.
  const describe = () =>
    describeOutcome(writing, { status, text, targetId: idOf(body), outcome: 'succeeded', newSpace })
  if (auditEntries.length === 0 && newSpace === undefined && !concernsBoth) {
    return appendOutcome(db, distributed, describe(), events)
  }
  // The end of the events is locked before that of the chain.
  const due = appendEvents(db, call.credential.space, events)
  enqueueFurtherEntries(writing, auditEntries)
  if (concernsBoth) enqueueInBothLogs(writing)
  else enqueueOutcome(db, distributed, describe())
  return due
}

/** Writes that the handler refused, and the refusal where a repeated request is to get it too. */
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
  /** Body of the answer in the form of the canonical version: of success, or the error object. */
  readonly text: string
  readonly targetId: string | null
  readonly outcome: AuditEntry['outcome']
  /** Of the tenant, where it has another one from now on. */
  readonly newSpace: string | undefined
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

function eventValues({ id, type, version, body, source, created, recipients }: RenderedEvent): unknown[] {
  const { audience, endpoint_id } = audienceOf(recipients)
  return [id, type, version, body, source ?? null, toTimestamp(created), audience, endpoint_id ?? null]
}

/** What a request leaves behind beside its events and what its handler wrote. */
interface OutcomeToWrite {
  /** Where the response is stored. */
  readonly space: string
  readonly entry: AuditEntry
  /** Undefined without an Idempotency-Key. */
  readonly response: ResponseToStore | undefined
}

const wasWiped = ({ space }: OutcomeToWrite): boolean => readSpace(space).tenantId !== space

/**
 * Writes the outcome of a request, last in its transaction: the ends of the tenant's events and of its chain stay locked
 * until that is over. One statement for most requests, because each statement costs as much as ten rows. Gives whether
 * there may be something to plan. Fails with a unique violation of `ANSWERED_ALREADY` when another request has answered
 * under the key meanwhile.
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
 * The same without events, so that there is nothing to plan. Several statements in a distributed database, and where a
 * space has another name than its tenant, so that each names one `tenant_id`.
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
