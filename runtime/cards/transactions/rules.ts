/**
 * Decides whether to approve an authorization. Pure: the caller reads the facts before the decision and posts the result
 * after it.
 */
import type { components } from '../../../generated/canonical/types.ts'
import type { CardholderRow } from '../cardholders/queries.ts'
import { isExpired } from '../cards/numbers.ts'
import type { CardRow } from '../cards/queries.ts'
import { categoryOf } from '../merchant-categories/catalogue.ts'

type Schemas = components['schemas']

export type DeclineCode = Schemas['DeclineReasonCode']
export type JudgedRule = Schemas['JudgedRule']

/** The authorization that a merchant requests. */
export interface AuthorizationRequest {
  /** Cents; 0 if the merchant only verifies the card. */
  readonly amount: number
  /** Lower-case ISO 4217 code. */
  readonly currency: string
  /** Merchant category code: four digits, as the network sends them. */
  readonly categoryCode: string
  readonly country: string | null
  /** Cents already authorized. Greater than 0 for an increment. */
  readonly authorized: number
  /** The wallet used to pay; null if the card itself was used. */
  readonly wallet: Schemas['Wallet'] | null
  /** Absent if the network found no mismatch. */
  readonly mismatch?: CheckMismatch | undefined
  /** Whether less than the amount may be approved if the balance does not cover it. */
  readonly partial?: boolean | undefined
}

/** The check of the cardholder's input that failed, as the reason to decline. */
export type CheckMismatch = Extract<
  DeclineCode,
  'incorrect_cvc' | 'incorrect_pin' | 'incorrect_expiry' | 'address_mismatch' | 'authentication_failed'
>

/** The facts that an authorization depends on, read under a lock. */
export interface AuthorizationFacts {
  readonly card: Pick<
    CardRow,
    'status' | 'frozen' | 'cancellation_reason' | 'exp_month' | 'exp_year' | 'spending_controls'
  >
  readonly cardholder: Pick<CardholderRow, 'status' | 'sanctions_status'>
  /** Cents already spent, for each of the card's limits: in the limit's interval and categories. */
  readonly spent: readonly number[]
  /** Number of approved authorizations of the card. */
  readonly authorizations: number
  /** Cents. */
  readonly available: number
  /** Wallets in which the card is active. */
  readonly wallets: readonly Schemas['Wallet'][]
  /** Service time, in milliseconds since the epoch. */
  readonly now: number
}

export interface Decision {
  /** Undefined if the authorization is approved. */
  readonly declined: DeclineCode | undefined
  /** Approved cents; absent if the full amount is approved. */
  readonly amount?: number
  /** All rules in order. The first failed rule is the reason for the decline. */
  readonly rules: readonly JudgedRule[]
}

/** The part of a request that spending controls depend on. */
export type ControlledRequest = Pick<
  AuthorizationRequest,
  'amount' | 'categoryCode' | 'country' | 'authorized'
>

/** The facts that spending controls depend on. */
export interface ControlFacts extends Pick<AuthorizationFacts, 'spent' | 'authorizations'> {
  readonly card: Pick<CardRow, 'spending_controls'>
}

/** The result of a rule. `code` is the decline reason if the rule fails. */
export interface RuleFinding {
  readonly rule: string
  /** Undefined if the rule does not apply. */
  readonly passed: boolean | undefined
  readonly code: DeclineCode
  readonly limit?: number
  readonly observed?: number
}

/** Applies all rules to a request and returns the decision. */
export function decide(request: AuthorizationRequest, facts: AuthorizationFacts): Decision {
  const findings = [
    ...checkCard(facts),
    ...checkInput(request),
    ...checkWallet(request, facts),
    ...checkCardholder(facts),
    { rule: 'currency', passed: request.currency === 'usd', code: 'unsupported_currency' as const },
    ...judgeControls(request, facts),
    checkBalance(request, facts),
  ]
  const covered = Math.max(0, facts.available)
  return {
    declined: findings.find(({ passed }) => passed === false)?.code,
    ...(isPartial(request, covered) && { amount: covered }),
    rules: findings.map(showFinding),
  }
}

/** Applies the spending controls alone: those of a card, or proposed ones. */
export const judgeControls = (request: ControlledRequest, facts: ControlFacts): readonly RuleFinding[] => [
  ...checkMerchant(request, facts),
  checkCount(request, facts),
  ...checkLimits(request, facts),
]

/** Returns the first control that declines a request, or undefined if none does. */
export const failedControl = (request: ControlledRequest, facts: ControlFacts): RuleFinding | undefined =>
  judgeControls(request, facts).find(({ passed }) => passed === false)

/** Whether a rule of a recorded decision is a spending control. */
export const isControl = (rule: string): boolean =>
  rule.startsWith('merchant_') || rule.startsWith('spending_limit_') || rule === 'max_authorization_count'

const isPartial = ({ amount, partial }: AuthorizationRequest, covered: number): boolean =>
  partial === true && covered > 0 && covered < amount

function checkInput({ mismatch }: AuthorizationRequest): RuleFinding[] {
  return mismatch === undefined ? [] : [{ rule: 'cardholder_input', passed: false, code: mismatch }]
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

/** A wallet token that is suspended or not active yet cannot pay. */
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

function checkMerchant({ categoryCode, country }: ControlledRequest, { card }: ControlFacts): RuleFinding[] {
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

/** An increment does not count as a new authorization, and neither does a card verification. */
function checkCount(
  { amount, authorized }: ControlledRequest,
  { card, authorizations }: ControlFacts,
): RuleFinding {
  const limit = card.spending_controls.max_authorization_count
  const rule = 'max_authorization_count'
  const code = 'authorization_count_exceeded'
  if (limit === null || authorized > 0 || amount === 0) return { rule, passed: undefined, code }
  const observed = authorizations + 1
  return { rule, passed: observed <= limit, code, limit, observed }
}

function checkLimits(request: ControlledRequest, { card, spent }: ControlFacts): RuleFinding[] {
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

function checkBalance(request: AuthorizationRequest, { available }: AuthorizationFacts): RuleFinding {
  const { amount } = request
  const limit = Math.max(0, available)
  const passed = amount <= limit || isPartial(request, limit)
  return { rule: 'balance', passed, code: 'insufficient_funds', limit, observed: amount }
}

function showFinding({ rule, passed, limit, observed }: RuleFinding): JudgedRule {
  return {
    rule,
    outcome: passed === undefined ? 'skipped' : passed ? 'passed' : 'failed',
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(observed === undefined ? {} : { observed: String(observed) }),
  }
}
