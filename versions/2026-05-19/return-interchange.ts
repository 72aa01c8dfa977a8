import { between } from 'dateline/change'
import type * as Old from '../../generated/2026-02-01/types.ts'
import type * as New from '../../generated/2026-05-19/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'return-interchange',
  why:
    '`interchange_amount` of a settlement is negative if refunds return more interchange than clearings earn. Earlier ' +
    'versions show 0 in that case; `net_amount` and the lines are the same in all versions.',
  lenses: [
    v.convert(['Settlement'], 'interchange_amount', {
      up: (amount) => amount,
      down: (amount) => Math.max(0, amount),
      loss: 'merge',
    }),
  ],
  examples: [],
})
