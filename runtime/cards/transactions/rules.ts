/**
 * Decides whether to approve an authorization. Pure: the caller reads the facts before the decision and posts the result
 * after it.
 */
import type { components } from '../../../generated/canonical/types.ts'
import type { CardholderRow } from '../cardholders/queries.ts'
import { isExpired } from '../cards/numbers.ts'
import type { CardRow } from '../cards/queries.ts'
import { categoryOf } from '../merchant-categories/catalogue.ts'
import { compareAmount, type DeclineCode, type RuleFinding } from './findings.ts'
import { type EarlierUses, type JudgedUse, judgeUse } from './use-rules.ts'

type Schemas = components['schemas']

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
  /** Whether the merchant accepts an approval of less than the amount. */
  readonly partial?: boolean | undefined
  /** How the card is used; null for a balance inquiry, to which the rules about the use do not apply. */
  readonly use: JudgedUse | null
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
  readonly uses: EarlierUses
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
  /** Cents that the tenant's endpoint approved; absent if it did not limit the amount. */
  readonly answered?: number | undefined
  /** All rules in order. The first failed rule is the reason for the decline. */
  readonly rules: readonly JudgedRule[]
}

/** The part of a request that spending controls depend on. */
export type ControlledRequest = Pick<
  AuthorizationRequest,
  'amount' | 'categoryCode' | 'country' | 'authorized' | 'partial' | 'use'
>

/** The facts that spending controls depend on. */
export interface ControlFacts extends Pick<AuthorizationFacts, 'spent' | 'authorizations' | 'uses'> {
  readonly card: Pick<CardRow, 'spending_controls'>
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
  const amount = reducedAmount(request, findings)
  return {
    declined: findings.find(({ passed }) => passed === false)?.code,
    ...(amount < request.amount && { amount }),
    rules: findings.map(showFinding),
  }
}

/** Applies the spending controls alone: those of a card, or proposed ones. */
export const judgeControls = (request: ControlledRequest, facts: ControlFacts): readonly RuleFinding[] => [
  ...checkMerchant(request, facts),
  ...checkUse(request, facts),
  checkCount(request, facts),
  ...checkLimits(request, facts),
]

/** Whether a rule of a recorded decision is a spending control. */
export const isControl = (rule: string): boolean =>
  rule.startsWith('merchant_') ||
  rule.startsWith('spending_limit_') ||
  rule.startsWith('check_') ||
  CONTROLS.has(rule)

const CONTROLS: ReadonlySet<string> = new Set([
  'max_authorization_count',
  'merchant',
  'entry_method',
  'allowed_times',
  'first_use_abroad',
])

/**
 * Returns the approved part of the requested amount, in cents: what the limits and the balance leave, if none of them
 * declines. The rules pass only if the merchant and the controls permit the reduction.
 */
export const reducedAmount = (
  { amount }: Pick<AuthorizationRequest, 'amount'>,
  findings: readonly RuleFinding[],
): number =>
  findings.reduce(
    (least, { passed, left }) => (passed && left !== undefined ? Math.min(least, left) : least),
    amount,
  )

/** Whether the spending limits can reduce the amount. */
const isReducible = ({ partial }: ControlledRequest, { card }: ControlFacts): boolean =>
  partial === true && card.spending_controls.partial_approval === 'allowed'

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
  const { blocked_categories } = card.spending_controls
  return [
    {
      rule: 'merchant_category',
      passed:
        blocked_categories.length === 0 ? undefined : !blocked_categories.includes(categoryOf(categoryCode)),
      code: 'merchant_category_blocked',
    },
    {
      rule: 'merchant_country',
      passed: isCountryAllowed(country, card.spending_controls),
      code: 'merchant_country_blocked',
    },
  ]
}

/** A list of allowed countries does not have an unknown country; a list of blocked ones does not apply to it. */
function isCountryAllowed(
  country: string | null,
  { allowed_countries: allowed, blocked_countries: blocked }: CardRow['spending_controls'],
): boolean | undefined {
  if (country === null) return allowed === undefined ? undefined : false
  if (allowed === undefined && blocked.length === 0) return undefined
  return !blocked.includes(country) && (allowed?.includes(country) ?? true)
}

function checkUse(request: ControlledRequest, facts: ControlFacts): RuleFinding[] {
  const { amount, authorized, use } = request
  if (use === null) return []
  const requested = { amount, authorized, isReducible: isReducible(request, facts) }
  return judgeUse(facts.card.spending_controls, use, requested, facts.uses)
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

function checkLimits(request: ControlledRequest, facts: ControlFacts): RuleFinding[] {
  const category = categoryOf(request.categoryCode)
  const reducible = isReducible(request, facts)
  return facts.card.spending_controls.spending_limits.map(
    ({ amount: limit, interval, categories }, index) => {
      const about = { rule: `spending_limit_${interval}`, code: 'spending_limit_exceeded' } as const
      if (request.amount === 0 || (categories && !categories.includes(category)))
        return { ...about, passed: undefined }
      const before = interval === 'per_authorization' ? request.authorized : facts.spent[index]!
      return compareAmount(about, limit, before, request.amount, reducible)
    },
  )
}

/** The balance can reduce the amount unless the controls exclude it. */
function checkBalance(
  { amount, partial }: AuthorizationRequest,
  { available, card }: AuthorizationFacts,
): RuleFinding {
  const reducible = partial === true && card.spending_controls.partial_approval !== 'declined'
  const about = { rule: 'balance', code: 'insufficient_funds' } as const
  return compareAmount(about, Math.max(0, available), 0, amount, reducible)
}

function showFinding({ rule, passed, limit, observed }: RuleFinding): JudgedRule {
  return {
    rule,
    outcome: passed === undefined ? 'skipped' : passed ? 'passed' : 'failed',
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(observed === undefined ? {} : { observed: String(observed) }),
  }
}
