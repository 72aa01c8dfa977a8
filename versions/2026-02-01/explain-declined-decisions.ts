import { between } from 'dateline/change'
import type * as Old from '../../generated/2025-11-01/types.ts'
import type * as New from '../../generated/2026-02-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'explain-declined-decisions',
  why:
    'An authorization that your endpoint declined or failed to decide has its own decline reason: `decision_declined`, ' +
    '`decision_timed_out` or `decision_errored`. Earlier versions show `transaction_not_allowed`.',
  lenses: [
    v.values('DeclineReasonCode', {
      merge: {
        decision_declined: 'transaction_not_allowed',
        decision_timed_out: 'transaction_not_allowed',
        decision_errored: 'transaction_not_allowed',
      },
      loss: 'merge',
    }),
  ],
  examples: [
    { schema: 'DeclineReasonCode', old: 'transaction_not_allowed', new: 'decision_timed_out', only: 'down' },
    { schema: 'DeclineReasonCode', old: 'transaction_not_allowed', new: 'transaction_not_allowed' },
  ],
})
