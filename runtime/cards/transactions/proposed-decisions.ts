/**
 * What proposed spending controls decide about a request that was decided before. Pure. The proposed controls replace those of
 * the decision. The balance and the tenant's endpoint limit the amount as they did. Amounts are cents.
 */
import type { SpendingControls } from '../programs/spending-controls.ts'
import type { RuleFinding } from './findings.ts'
import { type ControlledRequest, isControl, type JudgedRule, reducedAmount } from './rules.ts'

/** A decision that was made, without its reason. */
export interface MadeDecision {
  /** Undefined if it was declined. */
  readonly approved: number | undefined
  /** Undefined if they are not known. */
  readonly rules: readonly JudgedRule[] | undefined
  /** What the tenant's endpoint approved; undefined if it did not limit the amount. */
  readonly answered: number | undefined
}

type Reason = Pick<RuleFinding, 'code' | 'rule'>

export interface ProposedDecision {
  /** Undefined if it is declined. */
  readonly approved: number | undefined
  /** Why it is declined, or why the amount is not the approved one; undefined if it is the same decision. */
  readonly reason: Reason | undefined
}

/** @param findings of the proposed controls. */
export function decideAgain(
  request: ControlledRequest,
  { partial_approval }: Pick<SpendingControls, 'partial_approval'>,
  findings: readonly RuleFinding[],
  { approved: before, rules, answered = Number.POSITIVE_INFINITY }: MadeDecision,
): ProposedDecision {
  const failed = findings.find(({ passed }) => passed === false)
  if (failed) return { approved: undefined, reason: failed }
  const reductions = (rules ?? []).flatMap((rule) => readReduction(rule, request.amount))
  const balance = reductions.find(({ rule }) => rule === 'balance')
  if (balance && partial_approval === 'declined')
    return { approved: undefined, reason: { rule: 'balance', code: 'insufficient_funds' } }
  // Without the rules, what reduced the amount is not known, so the proposed controls only reduce it further.
  const most = rules ? Math.min(balance?.left ?? Number.POSITIVE_INFINITY, answered) : (before ?? answered)
  const approved = Math.min(reducedAmount(request, findings), most)
  if (before === undefined || approved === before) return { approved, reason: undefined }
  if (approved < before) return { approved, reason: findings.find(({ left }) => left === approved) }
  const control = reductions.find(({ rule, left }) => left === before && isControl(rule))
  return { approved, reason: control && { rule: control.rule, code: codeOf(control.rule) } }
}

interface Reduction {
  readonly rule: string
  /** What the rule left of the amount. */
  readonly left: number
}

/** Returns what a rule that passed left of the amount, if that was less than the amount. */
function readReduction({ rule, outcome, limit, observed }: JudgedRule, amount: number): readonly Reduction[] {
  const over = Number(observed) - Number(limit)
  return outcome === 'passed' && over > 0 ? [{ rule, left: amount - over }] : []
}

const codeOf = (rule: string): RuleFinding['code'] =>
  rule.startsWith('merchant_limit_') ? 'merchant_limit_exceeded' : 'spending_limit_exceeded'
