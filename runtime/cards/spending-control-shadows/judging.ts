/**
 * Judges a decided authorization by the controls of drafts in shadow. Pure. The decision has been made and does not change.
 * What the card has spent is what the active controls let it spend.
 */
import type { components } from '../../../generated/canonical/types.ts'
import type { ShadowFacts } from '../transactions/authorizing.ts'
import { decideAgain, type ProposedDecision } from '../transactions/proposed-decisions.ts'
import { type ControlledRequest, type Decision, isControl, judgeControls } from '../transactions/rules.ts'

type Schemas = components['schemas']
type ShadowDecision = Schemas['ShadowDecision']

/** What a draft would have decided, and what held the decision fixed if its outcome is `fixed` or `failed`. */
export interface JudgedShadow extends ShadowDecision {
  /** Approved cents: by the decision, and by the draft. 0 if it is declined. */
  readonly amounts: { readonly recorded_amount: number; readonly draft_amount: number }
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
  const { declined, rules, answered, amount = request.amount } = decision
  const approved = declined === undefined ? amount : undefined
  let proposed: ProposedDecision
  try {
    const findings = judgeControls(request, { ...shadow, card: { spending_controls } })
    proposed = decideAgain(request, spending_controls, findings, { approved, rules, answered })
  } catch {
    proposed = UNDECIDED // a draft never changes the real decision
  }
  const { approved: draft_amount = 0, reason } = proposed
  const amounts = { recorded_amount: approved ?? 0, draft_amount }
  const nothing = { spending_control_draft_id, version, code: null, rule: null, cause: null, amounts }
  if (proposed === UNDECIDED) return { ...nothing, outcome: 'failed', cause: 'shadow' }
  if (declined === undefined) {
    if (!reason) return { ...nothing, outcome: 'same' }
    const why = { ...nothing, code: reason.code, rule: reason.rule }
    if (proposed.approved === undefined) return { ...why, outcome: 'would_decline' }
    return { ...why, outcome: 'would_change_amount', draft_amount }
  }
  const failed = rules.filter(({ outcome }) => outcome === 'failed').map(({ rule }) => rule)
  const other = failed.find((rule) => !isControl(rule))
  if (other !== undefined || failed.length === 0)
    return { ...nothing, outcome: 'fixed', cause: causeOf(other) }
  if (proposed.approved === undefined) return { ...nothing, outcome: 'same' }
  return { ...nothing, outcome: 'would_approve', code: declined, rule: failed[0]! }
}

const UNDECIDED: ProposedDecision = { approved: undefined, reason: undefined }

/** Without a failed rule, an increment found nothing held. */
function causeOf(rule: string | undefined): JudgedShadow['cause'] {
  if (rule === 'decision') return 'authorization_endpoint'
  return rule === 'balance' ? 'balance' : 'card'
}

/** Returns the decisions as a transaction keeps them; null if no draft is in shadow. */
export const showShadows = (judged: readonly JudgedShadow[]): readonly ShadowDecision[] | null =>
  judged.length === 0 ? null : judged.map(({ cause: _cause, amounts: _amounts, ...shown }) => shown)
