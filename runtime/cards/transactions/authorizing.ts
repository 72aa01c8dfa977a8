/**
 * Authorizations run in three steps: read the facts under a lock, decide (`decide` in rules.ts), and write the result. The
 * steps are separate because a tenant's endpoint is asked between two database transactions, before anything is posted.
 */
import { validationFailed } from '../../api/errors/errors.ts'
import type { Database } from '../../database/database.ts'
import { lockFunds } from '../../money/ledger/accounts.ts'
import { newId } from '../../platform/ids.ts'
import { type CardRow, lockCard } from '../cards/queries.ts'
import type { CardTransactionRow } from './queries.ts'
import type { AuthorizationFacts } from './rules.ts'
import { readSpending, type ShadowSpending, type Spending, type SpendingQuestion } from './spending.ts'
import { type Sent, typeOf } from './states.ts'
import { type EarlierUses, type MerchantOfUse, type NetworkChecks, NO_USES } from './use-rules.ts'
import { readUses } from './uses-queries.ts'

/** What the facts are read for. */
export interface FactsQuestion extends SpendingQuestion {
  /** Null for a balance inquiry. */
  readonly merchant: MerchantOfUse | null
}

/** A locked card and the facts that its authorization depends on. */
export type LockedFacts = Omit<AuthorizationFacts, 'card'> &
  Pick<Spending, 'clockOffset' | 'isAsked' | 'isKnown'> & {
    readonly card: CardRow
    readonly shadows: readonly ShadowFacts[]
  }

/** The facts on which the controls of a draft in shadow depend. */
export interface ShadowFacts extends ShadowSpending {
  readonly uses: EarlierUses
}

/**
 * Locks a card and reads the facts for a decision. Returns undefined if the card does not exist. With `locked`, the tenant's
 * available funds are locked too. With `read`, concurrent decisions can run, and `writeNew` checks the funds again. The
 * statements are pipelined: each one starts when the previous one holds its lock, so it sees the changes that the previous
 * one waited for.
 * @param now service time.
 */
export async function lockFacts(
  db: Database,
  tenantId: string,
  cardId: string,
  now: number,
  funds: 'locked' | 'read',
  question: FactsQuestion,
): Promise<LockedFacts | undefined> {
  const [card, spending, locked] = await Promise.all([
    lockCard(db, tenantId, cardId),
    readSpending(db, tenantId, cardId, now, question),
    funds === 'locked' ? lockFunds(db, tenantId) : undefined,
  ])
  if (!card || !spending) return undefined
  const { merchant } = question
  const usesFor = async ({ spending_controls }: Pick<CardRow, 'spending_controls'>) =>
    merchant ? readUses(db, tenantId, cardId, spending_controls, merchant, now) : NO_USES
  const [uses, ...shadows] = await Promise.all([
    usesFor(card),
    ...spending.shadows.map(async (each) => ({ ...each, uses: await usesFor(each) })),
  ])
  return { ...spending, card, uses, shadows, now, ...(locked && { available: locked.balance - locked.held }) }
}

/** Throws 422 instead of 404, because the card is referenced in the request body. */
export function requireCard<T>(card: T | undefined): T {
  if (!card) throw validationFailed([{ field: 'card_id', issue: 'does not identify an existing card' }])
  return card
}

/** The facts of a card use that are known before the decision. */
export interface Use extends Pick<CardTransactionRow, 'merchant' | 'requested' | 'entry_method' | 'wallet'> {
  /** Results of the network's checks; absent if it gave none. */
  readonly checks?: NetworkChecks
  /** The message of the network; absent if the use is simulated. */
  readonly sent?: Sent & { readonly networkId: string }
}

/**
 * Returns a new transaction with zero amounts and an empty history.
 * @param now service time.
 */
export function newCardTransaction(
  card: Pick<CardRow, 'id' | 'cardholder_id'>,
  { merchant, requested, entry_method, wallet, checks, sent }: Use,
  now: number,
): CardTransactionRow {
  return {
    merchant,
    requested,
    entry_method,
    wallet,
    checks: checks ?? null,
    id: newId('ctx', now),
    network_id: sent?.networkId ?? null,
    card_id: card.id,
    cardholder_id: card.cardholder_id,
    type: typeOf(merchant.category_code),
    status: 'declined',
    currency: 'usd',
    authorized: 0,
    held: 0,
    cleared: 0,
    refunded: 0,
    reversed: 0,
    disputed: 0,
    decline_code: null,
    decision_id: null,
    hold_id: null,
    expires_at: null,
    cleared_at: null,
    rules: [],
    shadow_decisions: null,
    history: [],
    messages: [],
    metadata: {},
    created: now,
    updated: now,
  }
}
