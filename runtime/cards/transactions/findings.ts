/** What a rule finds about an authorization. */
import type { components } from '../../../generated/canonical/types.ts'

export type DeclineCode = components['schemas']['DeclineReasonCode']

/** The result of a rule. `code` is the decline reason if the rule fails. */
export interface RuleFinding {
  readonly rule: string
  /** Undefined if the rule does not apply. */
  readonly passed: boolean | undefined
  readonly code: DeclineCode
  readonly limit?: number | string
  readonly observed?: number | string
  /** Cents of the request that a limit leaves; absent if the rule does not limit the amount. */
  readonly left?: number
}

/**
 * Compares an amount with a limit, both in cents.
 * @param before cents that count already.
 * @param isReducible whether the part of the amount that the limit leaves can be approved.
 */
export function compareAmount(
  { rule, code }: Pick<RuleFinding, 'rule' | 'code'>,
  limit: number,
  before: number,
  amount: number,
  isReducible: boolean,
): RuleFinding {
  const observed = before + amount
  const left = Math.max(0, limit - before)
  return { rule, code, passed: observed <= limit || (isReducible && left > 0), limit, observed, left }
}
