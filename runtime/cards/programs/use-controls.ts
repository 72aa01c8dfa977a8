/** The spending controls that depend on how and where a card is used. They are absent unless they are set. */
import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'
import { isCountry } from '../../platform/countries.ts'
import { isTimeZone, WEEKDAYS } from './time-windows.ts'

type Schemas = components['schemas']
type Given = Schemas['SpendingControlsInput']
type UseControls = Omit<
  Schemas['SpendingControls'],
  'blocked_categories' | 'blocked_countries' | 'spending_limits' | 'max_authorization_count'
>

/** Removes duplicates and sorts. */
export const sorted = <Word extends string>(words: readonly Word[]): Word[] => [...new Set(words)].toSorted()

const LISTS = [
  'allowed_countries',
  'allowed_merchant_ids',
  'blocked_merchant_ids',
  'allowed_merchant_names',
  'blocked_merchant_names',
  'allowed_entry_methods',
  'blocked_entry_methods',
] as const

/** Normalizes the controls. Null members, and empty lists, which restrict nothing, are left out. */
export function readUseControls(given: Given): UseControls {
  const {
    allowed_times: times,
    merchant_limits: limits,
    merchant_count_limits: counts,
    first_use_abroad: abroad,
    required_checks: checks,
    partial_approval: partial,
  } = given
  const lists = LISTS.map(
    (name) => [name, given[name]?.length ? sorted<string>(given[name]) : undefined] as const,
  )
  return {
    ...(Object.fromEntries(lists.filter(([, list]) => list)) as Pick<UseControls, (typeof LISTS)[number]>),
    ...(times?.length && {
      allowed_times: times.map((each) => ({
        ...each,
        days: WEEKDAYS.filter((day) => each.days.includes(day)),
      })),
    }),
    ...(limits?.length && { merchant_limits: limits }),
    ...(counts?.length && { merchant_count_limits: counts }),
    ...(abroad && {
      first_use_abroad: { action: abroad.action, home_countries: sorted(abroad.home_countries) },
    }),
    ...(checks?.length && {
      required_checks: checks.map(({ check, result, entry_methods: methods }) => ({
        check,
        result,
        entry_methods: methods ? sorted(methods) : null,
      })),
    }),
    ...(partial && { partial_approval: partial }),
  }
}

/** Finds faults that the schema cannot express. */
export function checkUseControls(given: Given): Detail[] {
  const abroad = given.first_use_abroad?.home_countries
  return [
    ...unknownCountries(given.allowed_countries, 'spending_controls.allowed_countries'),
    ...unknownCountries(abroad, 'spending_controls.first_use_abroad.home_countries'),
    ...(given.allowed_times ?? []).flatMap((window, index) =>
      checkWindow(window, `spending_controls.allowed_times[${index}]`),
    ),
    ...repeated(given.merchant_limits, 'merchant_limits', ({ interval }) => interval, 'interval'),
    ...repeated(given.merchant_count_limits, 'merchant_count_limits', ({ interval }) => interval, 'interval'),
    ...repeated(given.required_checks, 'required_checks', ({ check }) => check, 'check'),
  ]
}

function checkWindow({ start, end, time_zone }: Schemas['AllowedTimesInput'], field: string): Detail[] {
  return [
    ...(start === end ? [{ field: `${field}.end`, issue: 'must differ from start' }] : []),
    ...(isTimeZone(time_zone)
      ? []
      : [
          {
            field: `${field}.time_zone`,
            issue: `is ${time_zone}, which is not an IANA time zone such as Europe/Berlin`,
          },
        ]),
  ]
}

function repeated<Item>(
  items: readonly Item[] | null | undefined,
  list: string,
  keyOf: (item: Item) => string,
  key: string,
): Detail[] {
  const keys = (items ?? []).map(keyOf)
  return keys.flatMap((each, index) =>
    keys.indexOf(each) === index
      ? []
      : [
          {
            field: `spending_controls.${list}[${index}].${key}`,
            issue: `is the same as in an earlier entry`,
          },
        ],
  )
}

export function unknownCountries(codes: readonly string[] | null | undefined, list: string): Detail[] {
  return (codes ?? []).flatMap((code, index) =>
    isCountry(code) ? [] : [{ field: `${list}[${index}]`, issue: 'is not an ISO 3166-1 country code' }],
  )
}
