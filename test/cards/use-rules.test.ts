/** Every spending control that depends on how and where a card is used, with its edges. */
import { describe, expect, test } from 'vitest'
import type { components } from '../../generated/canonical/types.ts'
import { NO_CONTROLS } from '../../runtime/cards/programs/spending-controls.ts'
import { isTimeZone, isWithin } from '../../runtime/cards/programs/time-windows.ts'
import { decideAgain, type MadeDecision } from '../../runtime/cards/transactions/proposed-decisions.ts'
import { judgeControls, reducedAmount } from '../../runtime/cards/transactions/rules.ts'
import { type EarlierUses, type JudgedUse, NO_USES } from '../../runtime/cards/transactions/use-rules.ts'

type Controls = Partial<components['schemas']['SpendingControls']>

const AT = Date.parse('2026-06-01T12:00:00Z') // a Monday

/** Returns the rules that fail, and the part of the amount that the limits leave. */
function judge(
  controls: Controls,
  {
    merchant,
    amount = 1000,
    authorized = 0,
    partial = false,
    uses = NO_USES,
    spent = [],
    ...given
  }: Partial<Omit<JudgedUse, 'merchant'>> & {
    readonly merchant?: Partial<JudgedUse['merchant']>
    readonly amount?: number
    readonly authorized?: number
    readonly partial?: boolean
    readonly uses?: Partial<EarlierUses>
    readonly spent?: readonly number[]
  } = {},
) {
  const use: JudgedUse = {
    entryMethod: 'chip',
    checks: {},
    at: AT,
    ...given,
    merchant: { name: 'Harbor Diner', network_id: '4452', country: 'US', ...merchant },
  }
  const request = { amount, categoryCode: '5812', country: use.merchant.country, authorized, partial, use }
  const findings = judgeControls(request, {
    card: { spending_controls: { ...NO_CONTROLS, ...controls } },
    spent,
    authorizations: 0,
    uses: { ...NO_USES, ...uses },
  })
  const failed = findings.filter(({ passed }) => passed === false)
  return {
    failed: failed.map(({ rule, code }) => `${rule}: ${code}`),
    amount: reducedAmount(request, findings),
  }
}

const MERCHANT = ['merchant: merchant_blocked']
const COUNTRY = ['merchant_country: merchant_country_blocked']
const ENTRY = ['entry_method: entry_method_blocked']
const TIME = ['allowed_times: time_blocked']
const ABROAD = ['first_use_abroad: first_use_abroad']

const window = (days: string[], start: string, end: string, time_zone = 'UTC') =>
  ({ allowed_times: [{ days, start, end, time_zone }] }) as Controls

type Row = readonly [
  about: string,
  controls: Controls,
  use: Parameters<typeof judge>[1],
  failed: readonly string[],
]

const ROWS: readonly Row[] = [
  ['a blocked merchant', { blocked_merchant_ids: ['4452'] }, {}, MERCHANT],
  ['another merchant', { blocked_merchant_ids: ['445'] }, {}, []],
  [
    'no merchant ID and blocked IDs',
    { blocked_merchant_ids: ['4452'] },
    { merchant: { network_id: null } },
    [],
  ],
  ['an allowed merchant', { allowed_merchant_ids: ['4452'] }, {}, []],
  [
    'no merchant ID and allowed IDs',
    { allowed_merchant_ids: ['4452'] },
    { merchant: { network_id: null } },
    MERCHANT,
  ],
  [
    'a name that is allowed where the ID is not',
    { allowed_merchant_ids: ['1'], allowed_merchant_names: ['harbor*'] },
    {},
    [],
  ],
  [
    'a blocked name of an allowed ID',
    { allowed_merchant_ids: ['4452'], blocked_merchant_names: ['*DINER'] },
    {},
    MERCHANT,
  ],
  ['an increment with a blocked merchant', { blocked_merchant_ids: ['4452'] }, { authorized: 1 }, MERCHANT],
  ['an allowed country', { allowed_countries: ['US'] }, {}, []],
  ['a country outside the allowed ones', { allowed_countries: ['CA'] }, {}, COUNTRY],
  [
    'an unknown country and allowed ones',
    { allowed_countries: ['US'] },
    { merchant: { country: null } },
    COUNTRY,
  ],
  ['an unknown country and blocked ones', { blocked_countries: ['US'] }, { merchant: { country: null } }, []],
  ['a country on both lists', { allowed_countries: ['US'], blocked_countries: ['US'] }, {}, COUNTRY],
  ['an allowed entry method', { allowed_entry_methods: ['chip', 'contactless'] }, {}, []],
  ['another entry method', { allowed_entry_methods: ['contactless'] }, {}, ENTRY],
  ['a blocked entry method', { blocked_entry_methods: ['online'] }, { entryMethod: 'online' }, ENTRY],
  ['no entry method and allowed ones', { allowed_entry_methods: ['chip'] }, { entryMethod: null }, ENTRY],
  ['no entry method and blocked ones', { blocked_entry_methods: ['chip'] }, { entryMethod: null }, []],
  ['an increment by a blocked entry method', { blocked_entry_methods: ['chip'] }, { authorized: 1 }, []],
  ['a time within the window', window(['monday'], '12:00', '12:01'), {}, []],
  ['a time at the end of the window', window(['monday'], '08:00', '12:00'), {}, TIME],
  ['another weekday', window(['tuesday'], '00:00', '24:00'), {}, TIME],
  [
    'a match that is required',
    { required_checks: [{ check: 'cvc', result: 'match', entry_methods: null }] },
    { checks: { cvc: 'match' } },
    [],
  ],
  [
    'no result where a match is required',
    { required_checks: [{ check: 'cvc', result: 'match', entry_methods: null }] },
    {},
    ['check_cvc: check_failed'],
  ],
  [
    'no result where no mismatch is required',
    { required_checks: [{ check: 'postal_code', result: 'no_mismatch', entry_methods: null }] },
    {},
    [],
  ],
  [
    'a mismatch where none is allowed',
    { required_checks: [{ check: 'postal_code', result: 'no_mismatch', entry_methods: null }] },
    { checks: { postal_code: 'mismatch' } },
    ['check_postal_code: check_failed'],
  ],
  [
    'an entry method that needs no check',
    { required_checks: [{ check: 'cvc', result: 'match', entry_methods: ['online'] }] },
    {},
    [],
  ],
  ['a use at home', { first_use_abroad: { action: 'decline', home_countries: ['US'] } }, {}, []],
  ['a first use abroad', { first_use_abroad: { action: 'decline', home_countries: ['CA'] } }, {}, ABROAD],
  [
    'a first use abroad that is allowed',
    { first_use_abroad: { action: 'allow', home_countries: ['CA'] } },
    {},
    [],
  ],
  [
    'a second use abroad',
    { first_use_abroad: { action: 'decline', home_countries: ['CA'] } },
    { uses: { isCountryKnown: true } },
    [],
  ],
  [
    'an unknown country abroad',
    { first_use_abroad: { action: 'decline', home_countries: ['CA'] } },
    { merchant: { country: null } },
    ABROAD,
  ],
  [
    'the last cents with a merchant',
    { merchant_limits: [{ amount: 1500, interval: 'daily' }] },
    { uses: { spent: [500] } },
    [],
  ],
  [
    'a cent too much with a merchant',
    { merchant_limits: [{ amount: 1499, interval: 'daily' }] },
    { uses: { spent: [500] } },
    ['merchant_limit_daily: merchant_limit_exceeded'],
  ],
  [
    'a verification at the limit',
    { merchant_limits: [{ amount: 0, interval: 'daily' }] },
    { amount: 0, uses: { spent: [0] } },
    [],
  ],
  [
    'the last new merchant',
    { merchant_count_limits: [{ count: 2, interval: 'weekly' }] },
    { uses: { merchants: [{ count: 1, isKnown: false }] } },
    [],
  ],
  [
    'a new merchant too many',
    { merchant_count_limits: [{ count: 2, interval: 'weekly' }] },
    { uses: { merchants: [{ count: 2, isKnown: false }] } },
    ['merchant_count_weekly: merchant_count_exceeded'],
  ],
  [
    'a known merchant at the limit',
    { merchant_count_limits: [{ count: 2, interval: 'weekly' }] },
    { uses: { merchants: [{ count: 2, isKnown: true }] } },
    [],
  ],
]

test.each(ROWS)('controls judge %s', (_, controls, use, failed) => {
  expect(judge(controls, use).failed).toEqual(failed)
})

test('a card without these controls has no findings of them', () => {
  expect(judge({}, { merchant: { network_id: null, country: null }, entryMethod: null }).failed).toEqual([])
})

describe('a pattern', () => {
  test.each([
    ['HARBOR DINER', 'Harbor Diner', true],
    ['Harbor', 'Harbor Diner', false],
    ['harbor*', 'Harbor', true],
    ['*diner', 'Harbor Diner 12', false],
    ['*a*b*', 'xxbxa', false],
    ['*a*b*', 'xxaxb', true],
    ['ab*ba', 'aba', false],
    ['*', '', true],
    ['straße*', 'STRASSE 1', false],
    ['ＣＡＳＩＮＯ', 'casino', true],
    [`${'*a'.repeat(49)}b`, 'a'.repeat(100), false],
  ])('%s compared with the name %s: %s', (pattern, name, isMatch) => {
    const { failed } = judge({ blocked_merchant_names: [pattern] }, { merchant: { name } })
    expect(failed.length > 0).toBe(isMatch)
  })
})

describe('a window', () => {
  const berlin = (days: string[], start: string, end: string) => ({
    days: days as ['monday'],
    start,
    end,
    time_zone: 'Europe/Berlin',
  })
  test.each([
    ['the evening before midnight', berlin(['friday'], '22:00', '02:00'), '2026-06-05T21:30:00Z', true],
    [
      'the hours after midnight of the next day',
      berlin(['friday'], '22:00', '02:00'),
      '2026-06-05T23:59:59Z',
      true,
    ],
    ['the end after midnight', berlin(['friday'], '22:00', '02:00'), '2026-06-06T00:00:00Z', false],
    [
      'the hours after midnight of its own day',
      berlin(['friday'], '22:00', '02:00'),
      '2026-06-04T23:00:00Z',
      false,
    ],
    [
      'the last millisecond of the day',
      berlin(['sunday'], '00:00', '24:00'),
      '2026-06-07T21:59:59.999Z',
      true,
    ],
    ['midnight', berlin(['sunday'], '00:00', '24:00'), '2026-06-07T22:00:00Z', false],
    // The clock leaves out 02:00 to 03:00 on 29 March, and repeats 02:00 to 03:00 on 25 October.
    ['before the hour that is left out', berlin(['sunday'], '01:00', '02:30'), '2026-03-29T00:59:59Z', true],
    ['after the hour that is left out', berlin(['sunday'], '01:00', '02:30'), '2026-03-29T01:00:00Z', false],
    [
      'from within the hour that is left out',
      berlin(['sunday'], '02:30', '04:00'),
      '2026-03-29T01:00:00Z',
      true,
    ],
    ['the repeated hour, first', berlin(['sunday'], '02:00', '02:30'), '2026-10-25T00:15:00Z', true],
    ['the repeated hour, second', berlin(['sunday'], '02:00', '02:30'), '2026-10-25T01:15:00Z', true],
    ['between both', berlin(['sunday'], '02:00', '02:30'), '2026-10-25T00:30:00Z', false],
    [
      'a zone with 45 minutes',
      { ...berlin(['monday'], '17:45', '17:46'), time_zone: 'Asia/Kathmandu' },
      '2026-06-01T12:00:00Z',
      true,
    ],
  ])('of local time with %s', (_, of, at, isIn) => {
    expect(isWithin(of, Date.parse(at))).toBe(isIn)
  })

  test.each([
    ['Europe/Berlin', true],
    ['UTC', true],
    ['+02:00', false],
    ['Europe/Bielefeld', false],
    ['', false],
  ])('in %s: %s', (name, isKnown) => {
    expect(isTimeZone(name)).toBe(isKnown)
  })
})

describe('less than the amount', () => {
  const limits: Controls = { spending_limits: [{ amount: 1200, interval: 'daily', categories: null }] }
  const merchant: Controls = { merchant_limits: [{ amount: 700, interval: 'daily' }] }
  test.each<readonly [string, Controls, Parameters<typeof judge>[1], readonly string[], number]>([
    [
      'what a limit leaves',
      { ...limits, partial_approval: 'allowed' },
      { partial: true, spent: [500] },
      [],
      700,
    ],
    [
      'the least that several leave',
      { ...limits, ...merchant, partial_approval: 'allowed' },
      { partial: true, spent: [500], uses: { spent: [600] } },
      [],
      100,
    ],
    [
      'nothing that is left',
      { ...limits, partial_approval: 'allowed' },
      { partial: true, spent: [1200] },
      ['spending_limit_daily: spending_limit_exceeded'],
      1000,
    ],
    [
      'a merchant that does not ask',
      { ...limits, partial_approval: 'allowed' },
      { spent: [500] },
      ['spending_limit_daily: spending_limit_exceeded'],
      1000,
    ],
    [
      'controls that do not say',
      limits,
      { partial: true, spent: [500] },
      ['spending_limit_daily: spending_limit_exceeded'],
      1000,
    ],
  ])('is approved with %s', (_, controls, use, failed, amount) => {
    expect(judge(controls, use)).toEqual({ failed, amount })
  })
})

describe('proposed controls', () => {
  const passed = (rule: string, limit: number, observed: number) =>
    ({ rule, outcome: 'passed', limit: String(limit), observed: String(observed) }) as const
  const monthly = passed('spending_limit_monthly', 1200, 1700) // leaves 500 of 1000
  const balance = passed('balance', 700, 1000)
  const CHANGED: Record<
    string,
    MadeDecision & { readonly left?: number; readonly want: readonly unknown[] }
  > = {
    'approve what only a limit had reduced': {
      ...{ approved: 500, rules: [monthly], answered: undefined },
      want: [1000, 'spending_limit_monthly'],
    },
    'approve no more than the balance left': {
      ...{ approved: 500, rules: [monthly, balance], answered: undefined },
      want: [700, 'spending_limit_monthly'],
    },
    'approve no more than the endpoint did': {
      ...{ approved: 500, rules: [monthly, balance], answered: 600 },
      want: [600, 'spending_limit_monthly'],
    },
    'approve what the endpoint reduced': {
      ...{ approved: 400, rules: [monthly], answered: 400, left: 900 },
      want: [400, undefined],
    },
    'reduce further': {
      ...{ approved: 500, rules: [monthly], answered: undefined, left: 200 },
      want: [200, 'merchant_limit_daily'],
    },
    'do not raise an amount whose reason is unknown': {
      ...{ approved: 500, rules: undefined, answered: undefined, left: 900 },
      want: [500, undefined],
    },
    'approve a declined authorization as far as the balance goes': {
      ...{ approved: undefined, rules: [balance], answered: undefined, left: 900 },
      want: [700, undefined],
    },
  }
  test.each(Object.entries(CHANGED))('%s', (_, { left, want, ...made }) => {
    const limit = { rule: 'merchant_limit_daily', code: 'merchant_limit_exceeded', passed: true } as const
    const findings = left === undefined ? [] : [{ ...limit, left }]
    const request = { amount: 1000, categoryCode: '5812', country: 'US', authorized: 0, use: null }
    const { approved, reason } = decideAgain(request, {}, findings, made)
    expect([approved, reason?.rule]).toEqual(want)
  })
})
