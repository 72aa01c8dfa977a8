import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import type { DefaultAction } from '../authorization-endpoint/queries.ts'
import type { Use } from '../transactions/authorizing.ts'
import type { CheckMismatch } from '../transactions/rules.ts'

type Schemas = components['schemas']

/** The card use that a question is about. */
export interface AskedUse extends Use {
  readonly card_id: string
  readonly currency: string
  /** What the network found wrong when it checked the cardholder's input; absent if nothing. */
  readonly mismatch?: CheckMismatch
  /** Whether the merchant accepts less than it requests. */
  readonly partial?: boolean
}

/** A decision as stored. Times are milliseconds since the epoch, amounts are cents. */
export interface DecisionRow {
  readonly id: string
  readonly card_transaction_id: string
  readonly status: Schemas['AuthorizationDecisionStatus']
  readonly approved: boolean | null
  readonly amount: number | null
  readonly decline_reason: Schemas['DeclineReasonCode'] | null
  readonly duration_ms: number | null
  readonly default_action_used: boolean
  readonly metadata: Readonly<Record<string, string>>
  readonly created: number
  readonly updated: number
  readonly use: AskedUse
  readonly default_action: DefaultAction
  /** See `EndpointSetting`. */
  readonly default_max_amount: number | null
  /** Null unless the default action was applied. */
  readonly stand_in_reason: Schemas['StandInReason'] | null
  /** Machine time; null once the decision has ended. */
  readonly due: number | null
}

const COLUMNS = `d.id, d.card_transaction_id, d.status, d.approved, d.amount, d.decline_reason, d.duration_ms,
  d.default_action_used, d.metadata, d.created, d.updated, d.use, d.default_action, d.default_max_amount,
  d.stand_in_reason, d.due`

const ASK: Statement = {
  name: 'authorization_decisions_ask',
  text: `INSERT INTO authorization_decisions (tenant_id, id, card_transaction_id, status, created, updated, use,
                                              default_action, request_key, due, default_max_amount)
         VALUES ($1, $2, $3, 'pending', $4, $4, $5, $6, $7::uuid, $8, $9)`,
}

/** A question before the endpoint answers. */
export interface NewQuestion
  extends Pick<
    DecisionRow,
    'id' | 'card_transaction_id' | 'use' | 'default_action' | 'default_max_amount' | 'created'
  > {
  readonly due: number
}

/**
 * Stores a question.
 * @param requestKey Idempotency-Key of the request; null if it has none.
 */
export function insertQuestion(
  db: Database,
  tenantId: string,
  row: NewQuestion,
  requestKey: string | null,
): Promise<unknown> {
  return db.query(ASK, [
    tenantId,
    row.id,
    row.card_transaction_id,
    toTimestamp(row.created),
    JSON.stringify(row.use),
    row.default_action,
    requestKey,
    toTimestamp(row.due),
    row.default_max_amount,
  ])
}

const BY_REQUEST: Statement = {
  name: 'authorization_decisions_by_request',
  text: `SELECT ${COLUMNS} FROM authorization_decisions d WHERE d.tenant_id = $1 AND d.request_key = $2::uuid`,
}

/** Returns the question that the request with this Idempotency-Key asked. */
export async function findQuestion(
  db: Database,
  tenantId: string,
  requestKey: string,
): Promise<DecisionRow | undefined> {
  return (await db.query<DecisionRow>(BY_REQUEST, [tenantId, requestKey])).rows[0]
}

const FORGET: Statement = {
  name: 'authorization_decisions_forget',
  text: 'UPDATE authorization_decisions SET request_key = NULL WHERE tenant_id = $1 AND request_key = $2::uuid',
}

/** Releases an expired Idempotency-Key, so that a new request can use it. */
export function forgetRequest(db: Database, tenantId: string, requestKey: string): Promise<unknown> {
  return db.query(FORGET, [tenantId, requestKey])
}

const READ: Statement = {
  name: 'authorization_decisions_read',
  text: `SELECT ${COLUMNS} FROM authorization_decisions d WHERE d.tenant_id = $1 AND d.id = $2`,
}

export async function readDecision(
  db: Database,
  tenantId: string,
  id: string,
): Promise<DecisionRow | undefined> {
  return (await db.query<DecisionRow>(READ, [tenantId, id])).rows[0]
}

const LOCK: Statement = { name: 'authorization_decisions_lock', text: `${READ.text} FOR NO KEY UPDATE` }

/** Returns a decision and locks it until the transaction ends. */
export async function lockDecision(
  db: Database,
  tenantId: string,
  id: string,
): Promise<DecisionRow | undefined> {
  return (await db.query<DecisionRow>(LOCK, [tenantId, id])).rows[0]
}

const END: Statement = {
  name: 'authorization_decisions_end',
  text: `UPDATE authorization_decisions SET status = $3, default_action_used = $4, updated = $5, stand_in_reason = $6, due = NULL
          WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the end of a question that the caller has locked with `lockDecision`. */
export function endQuestion(
  db: Database,
  tenantId: string,
  { id, status, default_action_used, stand_in_reason, updated }: DecisionRow,
): Promise<unknown> {
  return db.query(END, [tenantId, id, status, default_action_used, toTimestamp(updated), stand_in_reason])
}

const NOTE: Statement = {
  name: 'authorization_decisions_note',
  text: `UPDATE authorization_decisions
            SET approved = $3, amount = $4, decline_reason = $5, duration_ms = $6, metadata = $7
          WHERE tenant_id = $1 AND id = $2`,
}

/** The fields of an endpoint's answer that are stored. */
export type NotedAnswer = Pick<
  DecisionRow,
  'approved' | 'amount' | 'decline_reason' | 'duration_ms' | 'metadata'
>

/** Stores the endpoint's answer, in time or late. Does not end the decision. */
export function noteAnswer(db: Database, tenantId: string, id: string, noted: NotedAnswer): Promise<unknown> {
  const { approved, amount, decline_reason, duration_ms, metadata } = noted
  return db.query(NOTE, [
    tenantId,
    id,
    approved,
    amount,
    decline_reason,
    duration_ms,
    JSON.stringify(metadata),
  ])
}

const OVERDUE: Statement = {
  name: 'authorization_decisions_overdue',
  text: `SELECT d.tenant_id, d.id FROM authorization_decisions d WHERE d.due <= $1 ORDER BY d.due LIMIT $2`,
}

/**
 * Returns questions of all tenants that the asking process did not end in time.
 * @param now machine time.
 */
export async function findOverdueQuestions(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly { readonly tenant_id: string; readonly id: string }[]> {
  return (await db.query<{ tenant_id: string; id: string }>(OVERDUE, [toTimestamp(now), limit])).rows
}

export const listDecisions = defineList<DecisionRow, 'listAuthorizationDecisions'>({
  operation: 'listAuthorizationDecisions',
  table: 'authorization_decisions',
  alias: 'd',
  columns: COLUMNS,
  filters: {
    card_transaction_id: 'd.card_transaction_id',
    status: 'd.status',
    stand_in_reason: 'd.stand_in_reason',
  },
  indexes: [[], ['status'], ['card_transaction_id', 'status'], ['stand_in_reason']],
})
