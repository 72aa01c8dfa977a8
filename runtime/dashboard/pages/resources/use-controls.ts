/** Spending controls that depend on how and where a card is used: parsing and display. */
import type { components } from '../../../../generated/canonical/types.ts'
import { rowValues, writeCents } from '../../engine/bodies.ts'
import type { FormValues } from '../../engine/shapes.ts'
import { words } from '../../engine/values.ts'
import { countryName } from '../pickers/lists.ts'
import { ABROAD_ACTIONS, AT, CHECK_RESULTS, CHECKS, LINES, PARTIAL_APPROVALS } from './use-control-fields.ts'

type Schemas = components['schemas']
type Controls = Schemas['SpendingControls']
type Window = Schemas['AllowedTimes']

/** The other members that the fields set. */
const MEMBERS = [
  'allowed_countries',
  'allowed_entry_methods',
  'blocked_entry_methods',
  'allowed_times',
  'merchant_limits',
  'merchant_count_limits',
  'required_checks',
  'first_use_abroad',
  'partial_approval',
] as const satisfies (keyof Controls)[]

/** Returns the members of the body that the fields set: null for those that are empty. */
export function readUseValues(given: Readonly<Record<string, unknown>>): object {
  const lines = LINES.map(([name]) => {
    const text = given[name]
    const entries = typeof text === 'string' ? text.split('\n').map((line) => line.trim()) : []
    const kept = entries.filter((line) => line !== '')
    return [name, kept.length > 0 ? kept : null] as const
  })
  const members = MEMBERS.map((name) => [name, given[name] ?? null] as const)
  return Object.fromEntries([...members, ...lines])
}

export function useValues(controls: Controls): FormValues {
  const {
    allowed_times: windows = [],
    merchant_limits: limits = [],
    merchant_count_limits: counts = [],
    required_checks: checks = [],
    first_use_abroad: abroad,
    partial_approval: partial = '',
  } = controls
  const lists = [
    'allowed_countries',
    'allowed_entry_methods',
    'blocked_entry_methods',
    ...LINES.map(([name]) => name),
  ] as const
  return {
    ...rowValues(
      `${AT}.allowed_times`,
      windows.map(({ days, ...window }) => ({ ...window, days: days.join('\n') })),
    ),
    ...rowValues(
      `${AT}.merchant_limits`,
      limits.map(({ amount, interval }) => ({ amount: writeCents(amount), interval })),
    ),
    ...rowValues(
      `${AT}.merchant_count_limits`,
      counts.map(({ count, interval }) => ({ count: String(count), interval })),
    ),
    ...rowValues(
      `${AT}.required_checks`,
      checks.map(({ entry_methods, ...check }) => ({
        ...check,
        entry_methods: (entry_methods ?? []).join('\n'),
      })),
    ),
    ...Object.fromEntries(lists.map((name) => [`${AT}.${name}`, (controls[name] ?? []).join('\n')])),
    [`${AT}.first_use_abroad.action`]: abroad?.action ?? '',
    [`${AT}.first_use_abroad.home_countries`]: (abroad?.home_countries ?? []).join('\n'),
    [`${AT}.partial_approval`]: partial,
  }
}

const writeWindow = ({ days, start, end, time_zone }: Window) =>
  `${days.map(words).join(', ')}: ${start} to ${end} (${time_zone})`

const writeCheck = ({ check, result, entry_methods }: Schemas['RequiredCheck']) =>
  `${CHECKS[check]}: ${CHECK_RESULTS[result]}${entry_methods ? ` (${entry_methods.map(words).join(', ')})` : ''}`

const writeAbroad = ({ action, home_countries }: Schemas['FirstUseAbroad']) =>
  `${ABROAD_ACTIONS[action]}; home: ${home_countries.map(countryName).join(', ')}`

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
    ['First use abroad', first_use_abroad && [writeAbroad(first_use_abroad)]],
    ['Required checks', controls.required_checks?.map(writeCheck)],
    ['Partial approval', controls.partial_approval && [PARTIAL_APPROVALS[controls.partial_approval]]],
  ]
  return all.flatMap(([label, values]) => (values ? [[label, values.join('; ')] as const] : []))
}
