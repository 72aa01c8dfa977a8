/**
 * Whether an authorization is approved. Nothing here asks a database or posts anything: whoever asks for a decision reads the
 * facts before it and posts after it.
 */
import type { components } from '../../../generated/canonical/types.ts'
import type { CardholderRow } from '../cardholders/queries.ts'
import { isExpired } from '../cards/numbers.ts'
import type { CardRow } from '../cards/queries.ts'
import { categoryOf } from '../merchant-categories/catalogue.ts'

type Schemas = components['schemas']

export type DeclineCode = Schemas['DeclineReasonCode']
export type JudgedRule = Schemas['JudgedRule']

/** What a merchant asks for. */
export interface AuthorizationRequest {
  /** Cents; 0: the merchant verifies the card. */
  readonly amount: number
  /** In lower case. */
  readonly currency: string
  /** Four digits, as the network gives them. */
  readonly categoryCode: string
  readonly country: string | null
  /** Cents that the same authorization holds already: an increment is one of more than 0. */
  readonly authorized: number
  /** The wallet that paid; null: the card itself did. */
  readonly wallet: Schemas['Wallet'] | null
}

/** All that an authorization depends on, read while nothing of it can change. */
export interface AuthorizationFacts {
  readonly card: Pick<
    CardRow,
    'status' | 'frozen' | 'cancellation_reason' | 'exp_month' | 'exp_year' | 'spending_controls'
  >
  readonly cardholder: Pick<CardholderRow, 'status' | 'sanctions_status'>
  /** Cents, for each of the card's limits: what is spent in its time in its categories. */
  readonly spent: readonly number[]
  /** How many authorizations of the card were approved. */
  readonly authorizations: number
  /** Cents. */
  readonly available: number
  /** Wallets in which the card is active. */
  readonly wallets: readonly Schemas['Wallet'][]
  /** Service time, milliseconds since the epoch. */
  readonly now: number
}

export interface Decision {
  /** Undefined: it is approved. */
  readonly declined: DeclineCode | undefined
  /** Cents that are approved; absent: all that was asked for. */
  readonly amount?: number
  /** Every rule, in order; the first that fails is why it is declined. */
  readonly rules: readonly JudgedRule[]
}

/** A rule with what it found; `code` is why it declines. */
interface RuleFinding {
  readonly rule: string
  /** Undefined: it does not apply. */
  readonly passed: boolean | undefined
  readonly code: DeclineCode
  readonly limit?: number
  readonly observed?: number
}

/** Decides on a request by every rule. */
export function decide(request: AuthorizationRequest, facts: AuthorizationFacts): Decision {
  const findings = [
    ...checkCard(facts),
    ...checkWallet(request, facts),
    ...checkCardholder(facts),
    { rule: 'currency', passed: request.currency === 'usd', code: 'unsupported_currency' as const },
    ...checkMerchant(request, facts),
    checkCount(request, facts),
    ...checkLimits(request, facts),
    checkBalance(request, facts),
  ]
  return {
    declined: findings.find(({ passed }) => passed === false)?.code,
    rules: findings.map(showFinding),
  }
}

const CANCELED = { lost: 'card_lost', stolen: 'card_stolen' } as const

function checkCard({ card, now }: AuthorizationFacts): RuleFinding[] {
  const { status, cancellation_reason: reason } = card
  const ended = reason === 'lost' || reason === 'stolen' ? CANCELED[reason] : 'card_canceled'
  return [
    { rule: 'card_not_canceled', passed: status !== 'canceled', code: ended },
    { rule: 'card_activated', passed: status !== 'inactive', code: 'card_inactive' },
    { rule: 'card_not_expired', passed: !isExpired(card, now), code: 'card_expired' },
    { rule: 'card_not_frozen', passed: !card.frozen, code: 'card_frozen' },
  ]
}

/** A token that is suspended, or not active yet, pays nothing. */
function checkWallet({ wallet }: AuthorizationRequest, { wallets }: AuthorizationFacts): RuleFinding[] {
  if (wallet === null) return []
  return [{ rule: 'wallet_token_active', passed: wallets.includes(wallet), code: 'transaction_not_allowed' }]
}

function checkCardholder({ cardholder }: AuthorizationFacts): RuleFinding[] {
  const { status, sanctions_status: sanctions } = cardholder
  return [
    { rule: 'cardholder_not_blocked', passed: status !== 'blocked', code: 'cardholder_blocked' },
    {
      rule: 'cardholder_verified',
      passed: status !== 'pending' && sanctions === 'clear',
      code: 'cardholder_verification_required',
    },
    { rule: 'cardholder_active', passed: status !== 'inactive', code: 'cardholder_inactive' },
  ]
}

function checkMerchant(
  { categoryCode, country }: AuthorizationRequest,
  { card }: AuthorizationFacts,
): RuleFinding[] {
  const { blocked_categories, blocked_countries } = card.spending_controls
  return [
    {
      rule: 'merchant_category',
      passed:
        blocked_categories.length === 0 ? undefined : !blocked_categories.includes(categoryOf(categoryCode)),
      code: 'merchant_category_blocked',
    },
    {
      rule: 'merchant_country',
      passed:
        blocked_countries.length === 0 || country === null ? undefined : !blocked_countries.includes(country),
      code: 'merchant_country_blocked',
    },
  ]
}

/** An increment is no authorization of its own, and a verification of the card does not count. */
function checkCount(
  { amount, authorized }: AuthorizationRequest,
  { card, authorizations }: AuthorizationFacts,
): RuleFinding {
  const limit = card.spending_controls.max_authorization_count
  const rule = 'max_authorization_count'
  const code = 'authorization_count_exceeded'
  if (limit === null || authorized > 0 || amount === 0) return { rule, passed: undefined, code }
  const observed = authorizations + 1
  return { rule, passed: observed <= limit, code, limit, observed }
}

function checkLimits(request: AuthorizationRequest, { card, spent }: AuthorizationFacts): RuleFinding[] {
  const category = categoryOf(request.categoryCode)
  return card.spending_controls.spending_limits.map(({ amount: limit, interval, categories }, index) => {
    const rule = `spending_limit_${interval}`
    const code = 'spending_limit_exceeded'
    if (request.amount === 0 || (categories && !categories.includes(category)))
      return { rule, passed: undefined, code }
    const before = interval === 'per_authorization' ? request.authorized : spent[index]!
    const observed = before + request.amount
    return { rule, passed: observed <= limit, code, limit, observed }
  })
}

function checkBalance({ amount }: AuthorizationRequest, { available }: AuthorizationFacts): RuleFinding {
  const limit = Math.max(0, available)
  return { rule: 'balance', passed: amount <= limit, code: 'insufficient_funds', limit, observed: amount }
}

function showFinding({ rule, passed, limit, observed }: RuleFinding): JudgedRule {
  return {
    rule,
    outcome: passed === undefined ? 'skipped' : passed ? 'passed' : 'failed',
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(observed === undefined ? {} : { observed: String(observed) }),
  }
}
