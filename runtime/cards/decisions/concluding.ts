/**
 * What becomes of an authorization: by the rules as they are when it is written and, where the tenant was asked, by its answer or
 * its default action.
 */

import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { type EventSink, emit } from '../../events/emit/emit.ts'
import { type LockedFacts, newCardTransaction } from '../transactions/authorizing.ts'
import { writeNew } from '../transactions/changes.ts'
import { type CardTransactionRow, readCardTransaction } from '../transactions/queries.ts'
import { type Decision, type DeclineCode, decide } from '../transactions/rules.ts'
import { begin } from '../transactions/states.ts'
import {
  type AskedUse,
  type DecisionRow,
  endQuestion,
  lockDecision,
  type NotedAnswer,
  noteAnswer,
} from './queries.ts'
import type { EndpointAnswer } from './question.ts'
import { showDecision } from './view.ts'

/** A question that was asked; without an answer where another process asked it, and a repetition of the request finds it. */
export interface AskedDecision {
  readonly id: string
  readonly answer: EndpointAnswer | { readonly status: 'timed_out' } | undefined
}

const NOTHING_SAID: NotedAnswer = {
  approved: null,
  amount: null,
  decline_reason: null,
  duration_ms: null,
  metadata: {},
}

/** What is stored of an answer. */
export function notedOf(answer: NonNullable<AskedDecision['answer']>): NotedAnswer {
  if (answer.status === 'timed_out') return NOTHING_SAID
  if (answer.status === 'errored') return { ...NOTHING_SAID, duration_ms: answer.durationMs }
  const { approved, amount = null, decline_reason = null, metadata = {} } = answer.given
  return { approved, amount, decline_reason, metadata, duration_ms: answer.durationMs }
}

/** What the rules say. */
export const decideOn = (use: AskedUse, facts: LockedFacts): Decision => {
  const { requested: amount, currency, merchant, wallet } = use
  const { category_code: categoryCode, country } = merchant
  return decide({ amount, currency, categoryCode, country, authorized: 0, wallet }, facts)
}

/** The transaction of a question, before it is decided. */
export const transactionOf = (
  question: Pick<DecisionRow, 'id' | 'card_transaction_id' | 'use' | 'created'>,
  { card }: LockedFacts,
): CardTransactionRow => {
  const { card_id: _, currency: __, ...use } = question.use
  return {
    ...newCardTransaction(card, use, question.created),
    id: question.card_transaction_id,
    decision_id: question.id,
  }
}

/** Where an authorization is written. */
export interface AuthorizationPlace {
  readonly db: Database
  readonly space: string
  readonly events: EventSink
  /** Service time. */
  readonly now: number
}

/** Authorizes by the rules alone. */
export async function authorize(
  place: AuthorizationPlace,
  use: AskedUse,
  facts: LockedFacts,
): Promise<CardTransactionRow> {
  const { card_id: _, currency: __, ...used } = use
  const row = newCardTransaction(facts.card, used, place.now)
  return write(place, begin(row, decideOn(use, facts), facts.clockOffset))
}

async function write(place: AuthorizationPlace, row: CardTransactionRow): Promise<CardTransactionRow> {
  const isApproved = row.status === 'authorized'
  await writeNew(place, row, isApproved ? 'card.transaction.authorized' : 'card.transaction.declined')
  return row
}

/**
 * Ends a question: by the answer, by the default action without a usable one, and in any case by the rules. Gives the transaction,
 * also of a question that somebody else has ended meanwhile. The card is locked.
 */
export async function conclude(
  place: AuthorizationPlace,
  { id, answer }: AskedDecision,
  facts: LockedFacts,
): Promise<CardTransactionRow> {
  const { db, space, events, now } = place
  const question = await lockDecision(db, space, id)
  if (!question) throw new Error(`there is no question ${id}`)
  if (question.status !== 'pending') {
    const written = await readCardTransaction(db, space, question.card_transaction_id)
    if (!written) throw new Error(`question ${id} has ended without a transaction`)
    return written
  }
  const given = answer ?? { status: 'timed_out' as const }
  const byRules = decideOn(question.use, facts)
  const byTenant = outcomeOf(given, question)
  const rule = { rule: 'decision', outcome: byTenant.declined === undefined ? 'passed' : 'failed' } as const
  const decision = {
    ...byTenant,
    declined: byRules.declined ?? byTenant.declined,
    rules: [...byRules.rules, rule],
  }
  const row = begin(transactionOf(question, facts), decision, facts.clockOffset)
  await write(place, row)
  const noted = given.status === 'timed_out' ? undefined : notedOf(given)
  const ended = {
    ...question,
    ...noted,
    status: given.status,
    default_action_used: given.status !== 'responded',
    due: null,
    updated: now,
  }
  if (noted) pipelined(noteAnswer(db, space, id, noted))
  pipelined(endQuestion(db, space, ended))
  if (ended.status === 'timed_out' || ended.status === 'errored') {
    const data = { authorization_decision: showDecision(ended) }
    emit(events, { type: `authorization_decision.${ended.status}`, data })
  }
  return row
}

/** What the tenant has decided, or its default action for it. */
function outcomeOf(
  answer: NonNullable<AskedDecision['answer']>,
  { default_action }: DecisionRow,
): { readonly declined: DeclineCode | undefined; readonly amount?: number } {
  if (answer.status === 'responded') {
    const { approved, amount, decline_reason = 'decision_declined' } = answer.given
    return approved
      ? { declined: undefined, ...(amount !== undefined && { amount }) }
      : { declined: decline_reason }
  }
  return { declined: default_action === 'approve' ? undefined : `decision_${answer.status}` }
}
