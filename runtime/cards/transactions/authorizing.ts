/**
 * An authorization in three parts: the facts are read under lock, `decide` of rules.ts decides, and what was decided is written.
 * Each stands for itself: what is asked of others before something is posted is asked between two transactions of the database.
 */
import { validationFailed } from '../../api/errors/errors.ts'
import type { Database } from '../../database/database.ts'
import { lockFunds } from '../../money/ledger/accounts.ts'
import { readClockOffset } from '../../money/settlement-lines/clock.ts'
import { newId } from '../../platform/ids.ts'
import { type CardRow, lockCard } from '../cards/queries.ts'
import type { CardTransactionRow } from './queries.ts'
import type { AuthorizationFacts } from './rules.ts'
import { readSpending } from './spending.ts'
import { typeOf } from './states.ts'

/** A card with all that an authorization of it depends on. */
export type LockedFacts = Omit<AuthorizationFacts, 'card'> & {
  readonly card: CardRow
  /** How far the settlement clock is ahead, by which holds expire. */
  readonly clockOffset: number
}

/**
 * Locks a card and reads what a decision takes; undefined where there is no such card. What the tenant's cards can spend is
 * locked too, or only read: then many decide at once, and `writeNew` makes sure of it. The statements travel together: each
 * begins when the one before it holds its lock, so it sees what that waited for.
 *
 * @param now service time.
 */
export async function lockFacts(
  db: Database,
  tenantId: string,
  cardId: string,
  now: number,
  funds: 'locked' | 'read',
): Promise<LockedFacts | undefined> {
  const [card, spending, clockOffset, locked] = await Promise.all([
    lockCard(db, tenantId, cardId),
    readSpending(db, tenantId, cardId, now),
    readClockOffset(db, tenantId),
    funds === 'locked' ? lockFunds(db, tenantId) : undefined,
  ])
  if (!card || !spending) return undefined
  return { ...spending, card, now, clockOffset, ...(locked && { available: locked.balance - locked.held }) }
}

/** Throws 422: a reference in the body. */
export function requireCard<T>(card: T | undefined): T {
  if (!card) throw validationFailed([{ field: 'card_id', issue: 'names no card' }])
  return card
}

/** What is known of a use of a card before it is decided. */
export type Use = Pick<CardTransactionRow, 'merchant' | 'requested' | 'entry_method' | 'wallet'>

/** A transaction to which nothing has happened yet. @param now service time. */
export function newCardTransaction(
  card: Pick<CardRow, 'id' | 'cardholder_id'>,
  use: Use,
  now: number,
): CardTransactionRow {
  return {
    ...use,
    id: newId('ctx', now),
    card_id: card.id,
    cardholder_id: card.cardholder_id,
    type: typeOf(use.merchant.category_code),
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
    history: [],
    metadata: {},
    created: now,
    updated: now,
  }
}
