import { between } from 'dateline/change'
import type * as Old from '../../generated/2026-02-01/types.ts'
import type * as New from '../../generated/2026-05-19/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'explain-declined-uses',
  why:
    'Spending controls that only this version has give their own decline reasons: `merchant_blocked`, `entry_method_blocked`, ' +
    '`time_blocked`, `merchant_limit_exceeded`, `merchant_count_exceeded`, `first_use_abroad` and `check_failed`. Earlier ' +
    'versions show `transaction_not_allowed`, or `spending_limit_exceeded` for `merchant_limit_exceeded`.',
  lenses: [
    v.values('DeclineReasonCode', {
      merge: {
        merchant_blocked: 'transaction_not_allowed',
        entry_method_blocked: 'transaction_not_allowed',
        time_blocked: 'transaction_not_allowed',
        merchant_limit_exceeded: 'spending_limit_exceeded',
        merchant_count_exceeded: 'transaction_not_allowed',
        first_use_abroad: 'transaction_not_allowed',
        check_failed: 'transaction_not_allowed',
      },
      loss: 'merge',
    }),
  ],
  examples: [
    { schema: 'DeclineReasonCode', old: 'transaction_not_allowed', new: 'merchant_blocked', only: 'down' },
    { schema: 'DeclineReasonCode', old: 'transaction_not_allowed', new: 'transaction_not_allowed' },
  ],
})
