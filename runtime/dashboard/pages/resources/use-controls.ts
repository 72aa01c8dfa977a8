/** Spending controls that depend on how and where a card is used: form fields, parsing, and display. */
import type { components } from '../../../../generated/canonical/types.ts'
import { WEEKDAYS } from '../../../cards/programs/time-windows.ts'
import type { FormField, FormValues } from '../../engine/shapes.ts'
import { words } from '../../engine/values.ts'
import { COUNTRY, countryName } from '../pickers/lists.ts'

type Controls = components['schemas']['SpendingControls']
type Window = components['schemas']['AllowedTimes']

const AT = 'spending_controls'

const METHODS = [
  'chip',
  'contactless',
  'swipe',
  'keyed_in',
  'online',
] as const satisfies components['schemas']['EntryMethod'][]

const optionsOf = (names: readonly string[]) => names.map((name) => [name, words(name)] as const)

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
const LINES = [
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
    name: `${AT}.allowed_times`,
    label: 'Only at these times',
    kind: 'rows',
    noun: 'window',
    row: WINDOW_FIELDS,
    optional: true,
  },
]

/** Returns the members of the body that the fields set: null for those that are empty. */
export function readUseValues(given: Readonly<Record<string, unknown>>): object {
  const lines = LINES.map(([name]) => {
    const text = given[name]
    const entries = typeof text === 'string' ? text.split('\n').map((line) => line.trim()) : []
    const kept = entries.filter((line) => line !== '')
    return [name, kept.length > 0 ? kept : null] as const
  })
  const { allowed_countries = null, allowed_entry_methods = null, allowed_times = null } = given
  return { allowed_countries, allowed_entry_methods, allowed_times, ...Object.fromEntries(lines) }
}

export function useValues(controls: Controls): FormValues {
  const windows = (controls.allowed_times ?? []).flatMap(({ days, ...window }, index) =>
    Object.entries({ ...window, days: days.join('\n') }).map(([key, value]) => [
      `${AT}.allowed_times.${index}.${key}`,
      value,
    ]),
  )
  const lists = ['allowed_countries', 'allowed_entry_methods', ...LINES.map(([name]) => name)] as const
  return {
    ...(Object.fromEntries(windows) as FormValues),
    ...Object.fromEntries(lists.map((name) => [`${AT}.${name}`, (controls[name] ?? []).join('\n')])),
  }
}

const writeWindow = ({ days, start, end, time_zone }: Window) =>
  `${days.map(words).join(', ')}: ${start} to ${end} (${time_zone})`

/** Returns the controls that are set, with their values. */
export function useFacts(controls: Controls): readonly (readonly [string, string])[] {
  const { allowed_countries, allowed_entry_methods, blocked_entry_methods, first_use_abroad } = controls
  const all: readonly (readonly [string, readonly string[] | undefined])[] = [
    ['Only these countries', allowed_countries?.map(countryName)],
    ...LINES.map(([name, label]) => [label, controls[name]] as const),
    ['Only these entry methods', allowed_entry_methods?.map(words)],
    ['Blocked entry methods', blocked_entry_methods?.map(words)],
    ['Only at these times', controls.allowed_times?.map(writeWindow)],
    [
      'Limits with each merchant',
      controls.merchant_limits?.map(
        ({ amount, interval }) => `${(amount / 100).toFixed(2)} USD, ${words(interval)}`,
      ),
    ],
    [
      'Number of merchants',
      controls.merchant_count_limits?.map(({ count, interval }) => `${count}, ${words(interval)}`),
    ],
    ['First use abroad', first_use_abroad && [words(first_use_abroad.action)]],
    [
      'Required checks',
      controls.required_checks?.map(({ check, result }) => `${words(check)}: ${words(result)}`),
    ],
    ['Partial approval', controls.partial_approval && [words(controls.partial_approval)]],
  ]
  return all.flatMap(([label, values]) => (values ? [[label, values.join('; ')] as const] : []))
}
