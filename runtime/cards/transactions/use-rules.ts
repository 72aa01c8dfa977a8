/**
 * The spending controls that depend on how and where a card is used: the merchant, its country, the entry method, the time,
 * the network's checks, and earlier uses with merchants and in countries. Pure. A control that is absent gives no finding.
 */
import type { components } from '../../../generated/canonical/types.ts'
import { isWithin } from '../programs/time-windows.ts'
import { compareAmount, type RuleFinding } from './findings.ts'
import { matchesName } from './name-patterns.ts'

type Schemas = components['schemas']
type Controls = Schemas['SpendingControls']

export type NetworkChecks = Schemas['NetworkChecksInput']

/** What controls depend on of a merchant. */
export type MerchantOfUse = Pick<Schemas['Merchant'], 'name' | 'network_id' | 'country'>

/** How a card is used. */
export interface JudgedUse {
  readonly merchant: MerchantOfUse
  readonly entryMethod: Schemas['EntryMethod'] | null
  /** Results of the network; an absent one is `unchecked`. */
  readonly checks: NetworkChecks
  /** Service time of the decision, in milliseconds since the epoch. */
  readonly at: number
}

/** What earlier uses of the card tell about a use. A use has an authorized or a cleared amount. */
export interface EarlierUses {
  /** Cents with the merchant, for each of `merchant_limits`: in the limit's interval. */
  readonly spent: readonly number[]
  /** For each of `merchant_count_limits`: in the limit's interval. */
  readonly merchants: readonly { readonly count: number; readonly isKnown: boolean }[]
  /** Whether the card has been used in the merchant's country; false if the country is unknown. */
  readonly isCountryKnown: boolean
}

/** The earlier uses of a card whose controls do not depend on them, or that was never used. */
export const NO_USES: EarlierUses = { spent: [], merchants: [], isCountryKnown: false }

/** Whether the controls depend on earlier uses. */
export const needUses = ({ merchant_limits, merchant_count_limits, first_use_abroad }: Controls): boolean =>
  merchant_limits !== undefined || merchant_count_limits !== undefined || first_use_abroad !== undefined

/** What identifies a merchant among the uses of a card: its network identifier, or its name if it has none. */
export const merchantKey = ({ network_id, name }: MerchantOfUse): string =>
  network_id === null ? `name:${name}` : `id:${network_id}`

/** Whether a transaction is a use of its merchant and in its country: 1, or 0. A declined or a verified card is not used. */
export const usesOf = ({
  authorized,
  cleared,
}: {
  readonly authorized: number
  readonly cleared: number
}): number => (authorized > 0 || cleared > 0 ? 1 : 0)

/** The amounts of a request, in cents. */
interface RequestedAmounts {
  readonly amount: number
  /** Greater than 0 for an increment. */
  readonly authorized: number
  /** Whether a limit can reduce the amount. */
  readonly isReducible: boolean
}

/**
 * Applies the controls to a use. An increment is a use with the same merchant, so only the rules about merchants and amounts
 * apply to it.
 */
export function judgeUse(
  controls: Controls,
  use: JudgedUse,
  requested: RequestedAmounts,
  earlier: EarlierUses,
): RuleFinding[] {
  const always = checkMerchant(controls, use)
  const limits = checkMerchantLimits(controls, requested, earlier)
  if (requested.authorized > 0) return [...always, ...limits]
  return [
    ...always,
    ...checkEntryMethod(controls, use),
    ...checkTime(controls, use),
    ...checkChecks(controls, use),
    ...checkCountry(controls, use, earlier),
    ...limits,
    ...checkMerchantCounts(controls, requested, earlier),
  ]
}

function checkMerchant(
  {
    allowed_merchant_ids: ids,
    allowed_merchant_names: names,
    blocked_merchant_ids: blockedIds = [],
    blocked_merchant_names: blockedNames = [],
  }: Controls,
  { merchant: { network_id, name } }: JudgedUse,
): RuleFinding[] {
  const isLimited = ids !== undefined || names !== undefined
  if (!isLimited && blockedIds.length === 0 && blockedNames.length === 0) return []
  const isListed = (idList: readonly string[], nameList: readonly string[]) =>
    (network_id !== null && idList.includes(network_id)) || matchesName(nameList, name)
  const passed = !isListed(blockedIds, blockedNames) && (!isLimited || isListed(ids ?? [], names ?? []))
  return [{ rule: 'merchant', passed, code: 'merchant_blocked' }]
}

function checkEntryMethod(
  { allowed_entry_methods: allowed, blocked_entry_methods: blocked = [] }: Controls,
  { entryMethod }: JudgedUse,
): RuleFinding[] {
  if (allowed === undefined && blocked.length === 0) return []
  const passed =
    entryMethod === null
      ? allowed === undefined
      : !blocked.includes(entryMethod) && (allowed?.includes(entryMethod) ?? true)
  return [{ rule: 'entry_method', passed, code: 'entry_method_blocked' }]
}

function checkTime({ allowed_times: windows }: Controls, { at }: JudgedUse): RuleFinding[] {
  if (windows === undefined) return []
  return [{ rule: 'allowed_times', passed: windows.some((each) => isWithin(each, at)), code: 'time_blocked' }]
}

function checkChecks(
  { required_checks: required = [] }: Controls,
  { checks, entryMethod }: JudgedUse,
): RuleFinding[] {
  return required.map(({ check, result: limit, entry_methods: methods }) => {
    const rule = `check_${check}`
    const code = 'check_failed'
    const isMeant = methods === null || (entryMethod !== null && methods.includes(entryMethod))
    if (!isMeant) return { rule, passed: undefined, code }
    const observed = checks[check] ?? 'unchecked'
    const passed = limit === 'match' ? observed === 'match' : observed !== 'mismatch'
    return { rule, passed, code, limit, observed }
  })
}

function checkCountry(
  { first_use_abroad: rule }: Controls,
  { merchant: { country } }: JudgedUse,
  { isCountryKnown }: EarlierUses,
): RuleFinding[] {
  if (rule === undefined) return []
  const isAbroad = country === null || !rule.home_countries.includes(country)
  const passed = !isAbroad ? undefined : isCountryKnown || rule.action === 'allow'
  return [{ rule: 'first_use_abroad', passed, code: 'first_use_abroad' }]
}

function checkMerchantLimits(
  { merchant_limits: limits = [] }: Controls,
  { amount, isReducible }: RequestedAmounts,
  { spent }: EarlierUses,
): RuleFinding[] {
  return limits.map(({ amount: limit, interval }, index) => {
    const about = { rule: `merchant_limit_${interval}`, code: 'merchant_limit_exceeded' } as const
    if (amount === 0) return { ...about, passed: undefined }
    return compareAmount(about, limit, spent[index]!, amount, isReducible)
  })
}

/** A card verification is no use, so it does not count. */
function checkMerchantCounts(
  { merchant_count_limits: limits = [] }: Controls,
  { amount }: RequestedAmounts,
  { merchants }: EarlierUses,
): RuleFinding[] {
  return limits.map(({ count: limit, interval }, index) => {
    const rule = `merchant_count_${interval}`
    const code = 'merchant_count_exceeded'
    const { count, isKnown } = merchants[index]!
    if (amount === 0 || isKnown) return { rule, passed: undefined, code }
    const observed = count + 1
    return { rule, passed: observed <= limit, code, limit, observed }
  })
}
