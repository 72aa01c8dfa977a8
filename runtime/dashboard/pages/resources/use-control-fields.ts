/** Form fields of the spending controls that depend on how and where a card is used. */
import type { components } from '../../../../generated/canonical/types.ts'
import { WEEKDAYS } from '../../../cards/programs/time-windows.ts'
import type { FormField } from '../../engine/shapes.ts'
import { words } from '../../engine/values.ts'
import { COUNTRY } from '../pickers/lists.ts'

type Schemas = components['schemas']

export const AT = 'spending_controls'

const METHODS = [
  'chip',
  'contactless',
  'swipe',
  'keyed_in',
  'online',
] as const satisfies Schemas['EntryMethod'][]

const optionsOf = (names: readonly string[]) => names.map((name) => [name, words(name)] as const)

export const CHECKS = {
  cvc: 'Security code',
  address_line: 'Street',
  postal_code: 'Postal code',
} as const satisfies Readonly<Record<Schemas['RequiredCheckName'], string>>

export const CHECK_RESULTS = {
  match: 'Match',
  no_mismatch: 'Match, or not checked',
} as const satisfies Readonly<Record<Schemas['RequiredCheckResult'], string>>

export const ABROAD_ACTIONS = {
  decline: 'Decline',
  allow: 'Allow and record',
} as const satisfies Readonly<Record<Schemas['FirstUseAbroadAction'], string>>

export const PARTIAL_APPROVALS = {
  allowed: 'By the balance and the limits',
  declined: 'Never',
} as const satisfies Readonly<Record<Schemas['PartialApproval'], string>>

const INTERVAL: FormField = {
  name: 'interval',
  label: 'Interval',
  kind: 'choice',
  value: 'monthly',
  options: optionsOf([
    'daily',
    'weekly',
    'monthly',
    'yearly',
    'all_time',
  ] satisfies Schemas['RuleInterval'][]),
}

const CHECK_FIELDS: readonly FormField[] = [
  {
    name: 'check',
    label: 'Check',
    kind: 'choice',
    options: Object.entries(CHECKS),
  },
  {
    name: 'result',
    label: 'Required result',
    kind: 'choice',
    options: Object.entries(CHECK_RESULTS),
  },
  {
    name: 'entry_methods',
    label: 'Only for these entry methods',
    kind: 'checks',
    options: optionsOf(METHODS),
    optional: true,
  },
]

const WINDOW_FIELDS: readonly FormField[] = [
  { name: 'days', label: 'Days', kind: 'checks', options: optionsOf(WEEKDAYS) },
  { name: 'start', label: 'From', value: '08:00', hint: 'Local time, such as 08:00.' },
  {
    name: 'end',
    label: 'Until',
    value: '18:00',
    hint: '24:00 is midnight. A time before the start is on the next day.',
  },
  { name: 'time_zone', label: 'Time zone', value: 'UTC', hint: 'Such as America/New_York.' },
]

/** Lists of texts, one a line. */
export const LINES = [
  ['allowed_merchant_ids', 'Allowed merchants by network ID'],
  ['allowed_merchant_names', 'Allowed merchants by name'],
  ['blocked_merchant_ids', 'Blocked merchants by network ID'],
  ['blocked_merchant_names', 'Blocked merchants by name'],
] as const

const PATTERN = 'One per line. * matches any text.'

export const USE_FIELDS: readonly FormField[] = [
  {
    name: `${AT}.allowed_countries`,
    label: 'Only these countries',
    pick: COUNTRY,
    isMany: true,
    optional: true,
  },
  ...LINES.map(
    ([name, label]): FormField => ({
      name: `${AT}.${name}`,
      label,
      kind: 'lines',
      optional: true,
      hint: name.endsWith('names') ? PATTERN : 'One per line.',
    }),
  ),
  {
    name: `${AT}.allowed_entry_methods`,
    label: 'Only these entry methods',
    kind: 'checks',
    options: optionsOf(METHODS),
    optional: true,
  },
  {
    name: `${AT}.blocked_entry_methods`,
    label: 'Blocked entry methods',
    kind: 'checks',
    options: optionsOf(METHODS),
    optional: true,
  },
  {
    name: `${AT}.allowed_times`,
    label: 'Only at these times',
    kind: 'rows',
    noun: 'window',
    row: WINDOW_FIELDS,
    optional: true,
  },
  {
    name: `${AT}.merchant_limits`,
    label: 'Limits with each merchant',
    kind: 'rows',
    noun: 'merchant limit',
    row: [{ name: 'amount', label: 'Amount (USD)', kind: 'amount' }, INTERVAL],
    optional: true,
  },
  {
    name: `${AT}.merchant_count_limits`,
    label: 'Number of merchants',
    kind: 'rows',
    noun: 'limit on the number of merchants',
    row: [{ name: 'count', label: 'Maximum', kind: 'number' }, INTERVAL],
    optional: true,
  },
  {
    name: `${AT}.required_checks`,
    label: 'Required checks',
    kind: 'rows',
    noun: 'check',
    row: CHECK_FIELDS,
    optional: true,
  },
  {
    group: 'First use abroad',
    name: `${AT}.first_use_abroad.action`,
    label: 'First use in a country abroad',
    kind: 'choice',
    options: [['', 'No rule'], ...Object.entries(ABROAD_ACTIONS)],
    optional: true,
  },
  {
    group: 'First use abroad',
    name: `${AT}.first_use_abroad.home_countries`,
    label: 'Home countries',
    pick: COUNTRY,
    isMany: true,
    optional: true,
    hint: 'All other countries are abroad.',
  },
  {
    name: `${AT}.partial_approval`,
    label: 'Partial approval',
    kind: 'choice',
    options: [['', 'By the balance only'], ...Object.entries(PARTIAL_APPROVALS)],
    optional: true,
    hint: 'What reduces the amount, if the merchant accepts less.',
  },
]
