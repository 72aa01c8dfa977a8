/** What is written of a request beside its effect: its event, its entry in the audit log, the stored response. */

import { appendEvents, audienceOf, PLANNED_FOR } from '../events/queries.ts'
import type { RenderedEvent } from '../events/render.ts'
import type { AuditEntry } from '../platform/audit/entry.ts'
import {
  appendAudit,
  chainInSteps,
  entryInChain,
  entryValues,
  placeInChain,
} from '../platform/audit/queries.ts'
import type { Database, Statement } from '../platform/database/database.ts'
import { enqueue } from '../platform/database/enqueue.ts'
import { readSpace } from '../platform/database/space.ts'
import { inSteps } from '../platform/database/steps.ts'
import { toTimestamp } from '../platform/database/types.ts'

/** The response to a POST with an Idempotency-Key, to be stored with the audit entry of the same request. */
export interface ResponseToStore {
  readonly key: string
  readonly fingerprint: Buffer
  readonly status: number
  /** As it is, or sealed when it contains a secret. */
  readonly body: string | Buffer
  readonly head: string
}

const KEEP = `INSERT INTO idempotency_answers (tenant_id, key, fingerprint, status, body, sealed, head, created)
            VALUES ($1, $16::uuid, $17, $18, $19, $20, $21, $4)`

const KEPT = `kept AS (
            ${KEEP}
            RETURNING status
          )`

const ENTRY_AND_ANSWER: Statement = {
  name: 'audit_append_with_answer',
  text: `WITH ${KEPT}, ${placeInChain('', 'FROM kept')} ${entryInChain('')}`,
  steps: inSteps('audit_append_with_answer', KEEP, ...chainInSteps('')),
}

const ANSWER: Statement = {
  text: `INSERT INTO idempotency_answers (tenant_id, key, fingerprint, status, body, sealed, head, created)
         VALUES ($1, $2::uuid, $3, $4, $5, $6, $7, $8)`,
}

// What `appendEvents` does for any number of events; the end of their sequence is locked before that of the chain.
const WITH_EVENT: Statement = {
  name: 'outcome_append',
  text: `WITH place AS (
            INSERT INTO event_heads AS h (tenant_id, sequence) VALUES ($1, 1)
            ON CONFLICT (tenant_id) DO UPDATE SET sequence = h.sequence + 1
            RETURNING sequence
          ), event AS (
            INSERT INTO events (tenant_id, id, sequence, type, version, body, source, created, audience,
                                audience_endpoint_id)
            SELECT $1, $22, place.sequence, $23, $24, $25, $26::json, $27::timestamptz, $28, $29 FROM place
          ), ${KEPT}, ${placeInChain('', 'FROM place, kept')}, entry AS (${entryInChain('')})
          ${PLANNED_FOR}`,
  steps: inSteps(
    'outcome_append',
    `INSERT INTO event_heads AS h (tenant_id, sequence) VALUES ($1, 1)
     ON CONFLICT (tenant_id) DO UPDATE SET sequence = h.sequence + 1`,
    `INSERT INTO events (tenant_id, id, sequence, type, version, body, source, created, audience, audience_endpoint_id)
     SELECT h.tenant_id, $22, h.sequence, $23, $24, $25, $26::json, $27::timestamptz, $28, $29
       FROM event_heads h WHERE h.tenant_id = $1`,
    KEEP,
    ...chainInSteps(''),
    PLANNED_FOR,
  ),
}

function answerValues({ key, fingerprint, status, body, head }: ResponseToStore): unknown[] {
  const [open, sealed] = typeof body === 'string' ? [body, null] : [null, body]
  return [key, fingerprint, status, open, sealed, head]
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
    return (await db.query<{ planned_for: boolean }>(WITH_EVENT, values)).rows[0]!.planned_for
  }
  const planning = appendEvents(db, space, events)
  if (!answer) enqueue(appendAudit(db, space, entry))
  else enqueue(appendEntryAndAnswer(db, space, entry, answer))
  return planning
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
    return db.query(ENTRY_AND_ANSWER, [...entryValues(tenantId, entry, wipes), ...answerValues(answer)])
  }
  enqueue(db.query(ANSWER, [space, ...answerValues(answer), toTimestamp(entry.created)]))
  return appendAudit(db, space, entry)
}
