/**
 * Concludes an authorization. The rules apply as of the time of writing. If the tenant was asked, the answer or the default
 * action applies too.
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

/** A question that was asked. `answer` is undefined if a different process asked it and a retry of the request finds it. */
export interface AskedDecision {
  readonly id: string
  readonly answer: EndpointAnswer | { readonly status: 'timed_out' } | undefined
}

const NO_ANSWER: NotedAnswer = {
  approved: null,
  amount: null,
  decline_reason: null,
  duration_ms: null,
  metadata: {},
}

/** Returns the fields of an answer to store. */
export function notedOf(answer: NonNullable<AskedDecision['answer']>): NotedAnswer {
  if (answer.status === 'timed_out') return NO_ANSWER
  if (answer.status === 'errored') return { ...NO_ANSWER, duration_ms: answer.durationMs }
  const { approved, amount = null, decline_reason = null, metadata = {} } = answer.given
  return { approved, amount, decline_reason, metadata, duration_ms: answer.durationMs }
}

/** Applies the spending rules to a card use. */
export const decideOn = (use: AskedUse, facts: LockedFacts): Decision => {
  const { requested: amount, currency, merchant, wallet } = use
  const { category_code: categoryCode, country } = merchant
  return decide({ amount, currency, categoryCode, country, authorized: 0, wallet }, facts)
}

/** Returns the undecided card transaction that a question is about. */
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

/** The context in which an authorization is written. */
export interface AuthorizationPlace {
  readonly db: Database
  readonly space: string
  readonly events: EventSink
  /** Service time. */
  readonly now: number
}

/** Authorizes by the rules only, without asking the tenant. */
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
  // The facts were read without a lock on the account, so the commit checks the available amount again.
  const covered = row.authorized > 0 ? row.requested : undefined
  await writeNew(place, row, `card.transaction.${isApproved ? 'authorized' : 'declined'}`, covered)
  return row
}

/**
 * Ends a question. The tenant's answer applies, or the default action if there is no usable answer; the rules apply in
 * either case. If another transaction has ended the question, returns the transaction that it wrote. The caller has locked
 * the card.
 */
export async function conclude(
  place: AuthorizationPlace,
  { id, answer }: AskedDecision,
  facts: LockedFacts,
): Promise<CardTransactionRow> {
  const { db, space, events, now } = place
  const question = await lockDecision(db, space, id)
  if (!question) throw new Error(`Authorization decision ${id} does not exist.`)
  if (question.status !== 'pending') {
    const written = await readCardTransaction(db, space, question.card_transaction_id)
    if (!written)
      throw new Error(`Authorization decision ${id} has ended, but its card transaction is missing.`)
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

/** Returns the tenant's decision, or the default action if there is no usable answer. */
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
