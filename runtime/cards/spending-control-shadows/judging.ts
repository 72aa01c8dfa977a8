/**
 * Judges a decided authorization by the controls of drafts in shadow. Pure. The decision has been made and does not change.
 * What the card has spent is what the active controls let it spend.
 */
import type { components } from '../../../generated/canonical/types.ts'
import type { ShadowFacts } from '../transactions/authorizing.ts'
import type { RuleFinding } from '../transactions/findings.ts'
import { type ControlledRequest, type Decision, failedControl, isControl } from '../transactions/rules.ts'

type Schemas = components['schemas']
type ShadowDecision = Schemas['ShadowDecision']

/** What a draft would have decided, and what held the decision fixed if its outcome is `fixed` or `failed`. */
export interface JudgedShadow extends ShadowDecision {
  readonly cause: Schemas['SpendingControlFixed']['cause'] | null
}

/** Returns what each draft would have decided. A draft that cannot be evaluated has the outcome `failed`. */
export const judgeShadows = (
  request: ControlledRequest,
  decision: Decision,
  shadows: readonly ShadowFacts[],
): readonly JudgedShadow[] => shadows.map((shadow) => judge(request, decision, shadow))

function judge(request: ControlledRequest, decision: Decision, shadow: ShadowFacts): JudgedShadow {
  const { draft_id: spending_control_draft_id, version, spending_controls } = shadow
  const nothing = { spending_control_draft_id, version, code: null, rule: null, cause: null }
  let declining: RuleFinding | undefined
  try {
    declining = failedControl(request, { ...shadow, card: { spending_controls } })
  } catch {
    return { ...nothing, outcome: 'failed', cause: 'shadow' } // a draft never changes the real decision
  }
  const { declined, rules } = decision
  if (declined === undefined) {
    if (!declining) return { ...nothing, outcome: 'same' }
    return { ...nothing, outcome: 'would_decline', code: declining.code, rule: declining.rule }
  }
  const failed = rules.filter(({ outcome }) => outcome === 'failed').map(({ rule }) => rule)
  const other = failed.find((rule) => !isControl(rule))
  if (other !== undefined || failed.length === 0)
    return { ...nothing, outcome: 'fixed', cause: causeOf(other) }
  if (declining) return { ...nothing, outcome: 'same' }
  return { ...nothing, outcome: 'would_approve', code: declined, rule: failed[0]! }
}

/** Without a failed rule, an increment found nothing held. */
function causeOf(rule: string | undefined): JudgedShadow['cause'] {
  if (rule === 'decision') return 'authorization_endpoint'
  return rule === 'balance' ? 'balance' : 'card'
}

/** Returns the decisions as a transaction keeps them; null if no draft is in shadow. */
export const showShadows = (judged: readonly JudgedShadow[]): readonly ShadowDecision[] | null =>
  judged.length === 0 ? null : judged.map(({ cause: _, ...shown }) => shown)
