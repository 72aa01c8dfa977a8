import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { SpendingControlDraftRow } from '../spending-control-drafts/queries.ts'
import type { ShadowTotal } from './queries.ts'

type Schemas = components['schemas']

export function showShadow(
  { id, shadow_version: version, shadow_started, shadow_ended }: SpendingControlDraftRow,
  totals: readonly ShadowTotal[],
): Schemas['SpendingControlShadow'] {
  return {
    object: 'spending_control_shadow',
    spending_control_draft_id: id,
    version: version!,
    started: writeInstant(shadow_started!),
    ended: shadow_ended === null ? null : writeInstant(shadow_ended),
    result: addUp(totals),
  }
}

function addUp(totals: readonly ShadowTotal[]): Schemas['SpendingControlBacktestResult'] {
  const of = (...outcomes: readonly ShadowTotal['outcome'][]) =>
    totals
      .filter(({ outcome }) => outcomes.includes(outcome))
      .reduce(
        (sum, { count, amount }) => ({
          count: sum.count + count,
          amount: Math.min(sum.amount + amount, Number.MAX_SAFE_INTEGER),
        }),
        { count: 0, amount: 0 },
      )
  return {
    evaluated: of('same', 'approved_to_declined', 'declined_to_approved', 'amount_changed'),
    approved_to_declined: of('approved_to_declined'),
    declined_to_approved: of('declined_to_approved'),
    amount_changed: of('amount_changed'),
    fixed: totals.flatMap(({ outcome, code, count, amount }) =>
      outcome === 'fixed' ? [{ cause: code as Schemas['SpendingControlFixed']['cause'], count, amount }] : [],
    ),
    reasons: totals.flatMap(({ outcome: change, code, count, amount }) =>
      change === 'same' || change === 'fixed'
        ? []
        : [{ change, code: code as Schemas['DeclineReasonCode'], count, amount }],
    ),
  }
}
