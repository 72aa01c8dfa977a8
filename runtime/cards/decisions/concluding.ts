/**
 * Concludes an authorization. The rules apply as of the time of writing. If the tenant was asked, the answer or the default
 * action applies too.
 */

import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { judgeShadows, showShadows } from '../spending-control-shadows/judging.ts'
import { recordShadows } from '../spending-control-shadows/recording.ts'
import { type LockedFacts, newCardTransaction } from '../transactions/authorizing.ts'
import { type TransactionPlace, writeChange, writeNew } from '../transactions/changes.ts'
import type { DeclineCode } from '../transactions/findings.ts'
import { withMessage } from '../transactions/messages.ts'
import { type CardTransactionRow, readCardTransaction } from '../transactions/queries.ts'
import { type AuthorizationRequest, type Decision, decide } from '../transactions/rules.ts'
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
export const decideOn = (use: AskedUse, facts: LockedFacts): Decision => decide(requestOf(use, facts), facts)

function requestOf(use: AskedUse, { now }: Pick<LockedFacts, 'now'>): AuthorizationRequest {
  const { requested: amount, currency, merchant, entry_method, wallet, checks = {}, mismatch, partial } = use
  const { category_code: categoryCode, country } = merchant
  const how = { merchant, entryMethod: entry_method, checks, at: now }
  return { amount, currency, categoryCode, country, authorized: 0, wallet, mismatch, partial, use: how }
}

/** Returns the undecided card transaction that a question is about. */
export const transactionOf = (
  {
    id,
    card_transaction_id,
    use,
    created,
  }: Pick<DecisionRow, 'id' | 'card_transaction_id' | 'use' | 'created'>,
  { card }: LockedFacts,
): CardTransactionRow => ({
  ...newCardTransaction(card, use, created),
  id: card_transaction_id,
  decision_id: id,
})

/** The context in which an authorization is written. */
export interface AuthorizationPlace extends TransactionPlace {
  /** Service time. */
  readonly now: number
}

/**
 * Authorizes by the rules only, without asking the tenant.
 * @param known the transaction, if a later message of the network arrived before the authorization.
 */
export async function authorize(
  place: AuthorizationPlace,
  use: AskedUse,
  facts: LockedFacts,
  known?: CardTransactionRow,
): Promise<CardTransactionRow> {
  const row = newCardTransaction(facts.card, use, place.now)
  return writeDecided(place, { row, use, known, decision: decideOn(use, facts) }, facts)
}

interface Decided {
  readonly row: CardTransactionRow
  readonly use: AskedUse
  readonly known: CardTransactionRow | undefined
  readonly decision: Decision
}

async function writeDecided(
  place: AuthorizationPlace,
  { row: asked, use, known, decision }: Decided,
  facts: LockedFacts,
): Promise<CardTransactionRow> {
  const { requested: amount } = use
  const shadows = judgeShadows(requestOf(use, facts), decision, facts.shadows)
  const type = `card.transaction.${decision.declined === undefined ? 'authorized' : 'declined'}` as const
  const begun = begin({ ...asked, shadow_decisions: showShadows(shadows) }, decision, facts.clockOffset, {
    ...use,
    sent: use.sent && { id: use.sent.id, at: use.sent.at },
  })
  if (known) {
    const { rules, shadow_decisions } = begun
    const row = { ...withMessage(known, begun.messages![0]!), rules, shadow_decisions }
    await writeChange(place, known, row, type)
    recordShadows(place, row, amount, shadows)
    return row
  }
  // The facts were read without a lock on the account, so the commit checks the available amount again.
  const required = decision.amount === undefined || !use.partial ? begun.requested : begun.authorized
  await writeNew(place, begun, type, begun.authorized > 0 ? required : undefined)
  recordShadows(place, begun, amount, shadows)
  return begun
}

/**
 * Ends a question. The tenant's answer applies, or the default action if there is no usable answer; the rules apply in
 * either case. If another transaction has ended the question, returns the transaction that it wrote. The caller has locked
 * the card. `known` is as in `authorize`.
 */
export async function conclude(
  place: AuthorizationPlace,
  { id, answer }: AskedDecision,
  facts: LockedFacts,
  known?: CardTransactionRow,
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
  const amounts = [byRules.amount, byTenant.amount].filter((amount) => amount !== undefined)
  const decision = {
    declined: byRules.declined ?? byTenant.declined,
    ...(amounts.length > 0 && { amount: Math.min(...amounts) }),
    answered: byTenant.amount,
    rules: [...byRules.rules, rule],
  }
  const asked = { row: transactionOf(question, facts), use: question.use, known, decision }
  const row = await writeDecided(place, asked, facts)
  const noted = given.status === 'timed_out' ? undefined : notedOf(given)
  const ended = {
    ...question,
    ...noted,
    status: given.status,
    default_action_used: given.status !== 'responded',
    stand_in_reason: reasonOf(answer),
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

/** Returns why the default action applies; null if the endpoint's answer does. */
function reasonOf(answer: AskedDecision['answer']): DecisionRow['stand_in_reason'] {
  if (answer === undefined) return 'interrupted'
  if (answer.status === 'responded') return null
  return answer.status === 'errored' ? answer.reason : 'timed_out'
}

/** Returns the tenant's decision, or the default action if there is no usable answer. */
function outcomeOf(
  answer: NonNullable<AskedDecision['answer']>,
  { default_action, default_max_amount: most, use }: DecisionRow,
): { readonly declined: DeclineCode | undefined; readonly amount?: number } {
  if (answer.status === 'responded') {
    const { approved, amount, decline_reason = 'decision_declined' } = answer.given
    return approved
      ? { declined: undefined, ...(amount !== undefined && { amount }) }
      : { declined: decline_reason }
  }
  const isApproved = default_action === 'approve' && (most === null || use.requested <= most)
  return { declined: isApproved ? undefined : `decision_${answer.status}` }
}
