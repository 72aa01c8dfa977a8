/** Every rule that an authorization is decided by, and every reason that they give. */
import { describe, expect, test } from 'vitest'
import { nextPeriod, periodsOf } from '../../runtime/cards/transactions/periods.ts'
import {
  type AuthorizationFacts,
  type AuthorizationRequest,
  decide,
} from '../../runtime/cards/transactions/rules.ts'
import { NO_USES } from '../../runtime/cards/transactions/use-rules.ts'

const NOW = Date.parse('2026-06-01T12:00:00.000Z')

const REQUEST: AuthorizationRequest = {
  amount: 1000,
  currency: 'usd',
  categoryCode: '5812',
  country: 'US',
  authorized: 0,
  wallet: null,
  use: {
    merchant: { name: 'Harbor Diner', network_id: '4452', country: 'US' },
    entryMethod: 'chip',
    checks: {},
    at: NOW,
  },
}

const NO_CONTROLS = {
  blocked_categories: [],
  blocked_countries: [],
  spending_limits: [],
  max_authorization_count: null,
}

const FACTS: AuthorizationFacts = {
  card: {
    status: 'active',
    frozen: false,
    cancellation_reason: null,
    exp_month: 6,
    exp_year: 2030,
    spending_controls: NO_CONTROLS,
  },
  cardholder: { status: 'active', sanctions_status: 'clear' },
  spent: [],
  authorizations: 0,
  uses: NO_USES,
  available: 1000,
  wallets: [],
  now: NOW,
}

const withCard = (card: Partial<AuthorizationFacts['card']>): Partial<AuthorizationFacts> => ({
  card: { ...FACTS.card, ...card },
})

const withControls = (
  controls: object,
  facts: Partial<AuthorizationFacts> = {},
): Partial<AuthorizationFacts> => ({
  ...withCard({ spending_controls: { ...NO_CONTROLS, ...controls } }),
  ...facts,
})

const canceled = (cancellation_reason: 'lost' | 'stolen' | 'user') =>
  withCard({ status: 'canceled', cancellation_reason })

const limit = (interval: string, amount: number, spent: number, categories: string[] | null = null) =>
  withControls({ spending_limits: [{ amount, interval, categories }] }, { spent: [spent] })

interface Row {
  readonly about: string
  readonly facts?: Partial<AuthorizationFacts>
  readonly request?: Partial<AuthorizationRequest>
  /** Undefined: approved. */
  readonly declined?: string
  readonly rule?: object
}

const ROWS: readonly Row[] = [
  {
    about: 'nothing against it',
    rule: { rule: 'balance', outcome: 'passed', limit: '1000', observed: '1000' },
  },
  {
    about: 'a card that is not activated',
    facts: withCard({ status: 'inactive' }),
    declined: 'card_inactive',
  },
  { about: 'a frozen card', facts: withCard({ frozen: true }), declined: 'card_frozen' },
  { about: 'a canceled card', facts: canceled('user'), declined: 'card_canceled' },
  { about: 'a lost card', facts: canceled('lost'), declined: 'card_lost' },
  { about: 'a stolen card', facts: canceled('stolen'), declined: 'card_stolen' },
  {
    about: 'a card of last month',
    facts: withCard({ exp_month: 5, exp_year: 2026 }),
    declined: 'card_expired',
  },
  { about: 'a card of this month', facts: withCard({ exp_month: 6, exp_year: 2026 }) },
  {
    about: 'a cardholder who is blocked',
    facts: { cardholder: { status: 'blocked', sanctions_status: 'confirmed_match' } },
    declined: 'cardholder_blocked',
  },
  {
    about: 'a cardholder who is switched off',
    facts: { cardholder: { status: 'inactive', sanctions_status: 'clear' } },
    declined: 'cardholder_inactive',
  },
  {
    about: 'a cardholder with an open alert',
    facts: { cardholder: { status: 'active', sanctions_status: 'potential_match' } },
    declined: 'cardholder_verification_required',
  },
  {
    about: 'a cardholder who waits',
    facts: { cardholder: { status: 'pending', sanctions_status: 'potential_match' } },
    declined: 'cardholder_verification_required',
  },
  { about: 'another currency', request: { currency: 'eur' }, declined: 'unsupported_currency' },
  {
    about: 'a blocked category',
    facts: withControls({ blocked_categories: ['5812'] }),
    declined: 'merchant_category_blocked',
    rule: { rule: 'merchant_category', outcome: 'failed' },
  },
  { about: 'another category', facts: withControls({ blocked_categories: ['5813'] }) },
  {
    about: 'a code outside the catalogue where those are blocked',
    facts: withControls({ blocked_categories: ['0000'] }),
    request: { categoryCode: '9998' },
    declined: 'merchant_category_blocked',
  },
  {
    about: 'a blocked country',
    facts: withControls({ blocked_countries: ['US'] }),
    declined: 'merchant_country_blocked',
    rule: { rule: 'merchant_country', outcome: 'failed' },
  },
  { about: 'another country', facts: withControls({ blocked_countries: ['KP'] }) },
  {
    about: 'the last authorization',
    facts: withControls({ max_authorization_count: 3 }, { authorizations: 2 }),
    rule: { rule: 'max_authorization_count', outcome: 'passed', limit: '3', observed: '3' },
  },
  {
    about: 'one too many',
    facts: withControls({ max_authorization_count: 3 }, { authorizations: 3 }),
    declined: 'authorization_count_exceeded',
    rule: { rule: 'max_authorization_count', outcome: 'failed', limit: '3', observed: '4' },
  },
  {
    about: 'an increment where no more authorizations are left',
    facts: withControls({ max_authorization_count: 3 }, { authorizations: 3 }),
    request: { authorized: 500 },
    rule: { rule: 'max_authorization_count', outcome: 'skipped' },
  },
  {
    about: 'all of a limit',
    facts: limit('daily', 1500, 500),
    rule: { rule: 'spending_limit_daily', outcome: 'passed', limit: '1500', observed: '1500' },
  },
  ...['daily', 'weekly', 'monthly', 'yearly', 'all_time'].map((interval) => ({
    about: `a cent more than a ${interval} limit`,
    facts: limit(interval, 1499, 500),
    declined: 'spending_limit_exceeded',
    rule: { rule: `spending_limit_${interval}`, outcome: 'failed', limit: '1499', observed: '1500' },
  })),
  {
    about: 'a cent more than an authorization may be',
    facts: limit('per_authorization', 999, 0),
    declined: 'spending_limit_exceeded',
  },
  {
    about: 'an increment that makes an authorization more than it may be',
    facts: limit('per_authorization', 1999, 0),
    request: { authorized: 1000 },
    declined: 'spending_limit_exceeded',
    rule: { rule: 'spending_limit_per_authorization', outcome: 'failed', limit: '1999', observed: '2000' },
  },
  {
    about: 'a limit of the category',
    facts: limit('daily', 999, 0, ['5812', '5813']),
    declined: 'spending_limit_exceeded',
  },
  {
    about: 'a limit of other categories',
    facts: limit('daily', 999, 0, ['5813']),
    rule: { rule: 'spending_limit_daily', outcome: 'skipped' },
  },
  {
    about: 'a limit of codes outside the catalogue',
    facts: limit('daily', 999, 0, ['0000']),
    request: { categoryCode: '9998' },
    declined: 'spending_limit_exceeded',
  },
  { about: 'a limit of nothing', facts: limit('all_time', 0, 0), declined: 'spending_limit_exceeded' },
  {
    about: 'a cent too little',
    facts: { available: 999 },
    declined: 'insufficient_funds',
    rule: { rule: 'balance', outcome: 'failed', limit: '999', observed: '1000' },
  },
  {
    about: 'less than nothing',
    facts: { available: -5 },
    declined: 'insufficient_funds',
    rule: { rule: 'balance', outcome: 'failed', limit: '0', observed: '1000' },
  },
  {
    about: 'nothing asked for, below 0',
    request: { amount: 0 },
    facts: { available: -1 },
    rule: { rule: 'balance', outcome: 'passed', limit: '0', observed: '0' },
  },
  {
    about: 'nothing asked for, of a limit that is exceeded',
    request: { amount: 0 },
    facts: limit('daily', 100, 101),
    rule: { rule: 'spending_limit_daily', outcome: 'skipped' },
  },
  {
    about: 'nothing asked for, after the last authorization',
    request: { amount: 0 },
    facts: withControls({ max_authorization_count: 1 }, { authorizations: 1 }),
    rule: { rule: 'max_authorization_count', outcome: 'skipped' },
  },
  {
    about: 'nothing asked for, of a frozen card',
    request: { amount: 0 },
    facts: withCard({ frozen: true }),
    declined: 'card_frozen',
  },
]

describe('an authorization with', () => {
  test.each(ROWS)('an authorization is decided with $about', ({ facts, request, declined, rule }) => {
    const decision = decide({ ...REQUEST, ...request }, { ...FACTS, ...facts })
    expect(decision.declined).toBe(declined)
    if (rule) expect(decision.rules).toContainEqual(rule)
    expect(decision.rules.some(({ outcome }) => outcome === 'failed')).toBe(declined !== undefined)
  })
})

test('the first rule that fails says why, and the others are judged too', () => {
  const { declined, rules } = decide(
    { ...REQUEST, currency: 'eur' },
    { ...FACTS, ...withCard({ frozen: true }), available: 0 },
  )
  expect(declined).toBe('card_frozen')
  expect(rules.filter(({ outcome }) => outcome === 'failed').map(({ rule }) => rule)).toEqual([
    'card_not_frozen',
    'currency',
    'balance',
  ])
})

describe('the periods of', () => {
  test.each([
    ['2026-06-01T00:00:00.000Z', '2026-06-01', '2026-06-01', '2026-06-01', '2026-01-01'], // a Monday
    ['2026-05-31T23:59:59.999Z', '2026-05-31', '2026-05-25', '2026-05-01', '2026-01-01'],
    ['2026-12-31T23:59:59.999Z', '2026-12-31', '2026-12-28', '2026-12-01', '2026-01-01'],
    ['2027-01-01T00:00:00.000Z', '2027-01-01', '2026-12-28', '2027-01-01', '2027-01-01'],
    ['2028-02-29T12:00:00.000Z', '2028-02-29', '2028-02-28', '2028-02-01', '2028-01-01'],
  ])('the day, week, month and year of %s begin where the contract says', (at, day, week, month, year) => {
    expect(periodsOf(Date.parse(at))).toEqual({ day, week, month, year })
    const begins = { daily: 'day', weekly: 'week', monthly: 'month', yearly: 'year' } as const
    for (const [interval, begin] of Object.entries(begins)) {
      const next = nextPeriod(interval as 'daily', Date.parse(at))!
      const before = new Date(next - 1).toISOString()
      expect([interval, before > at || before === at]).toEqual([interval, true])
      expect(periodsOf(next - 1)[begin]).toBe(periodsOf(Date.parse(at))[begin])
      expect(periodsOf(next)[begin]).toBe(new Date(next).toISOString().slice(0, 10))
    }
  })
})
