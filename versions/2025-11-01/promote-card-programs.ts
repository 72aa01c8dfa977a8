import { between } from 'dateline/change'
import type * as Old from '../../generated/2025-06-01/types.ts'
import type * as New from '../../generated/2025-11-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'promote-card-programs',
  why:
    'Card programs can be promoted from the sandbox to live. 2025-06-01 has no cards, so its lists of ' +
    'promotions omit card programs.',
  lenses: [
    v.leaveOut(['PromotionList'], 'data', { unless: 'PromotableType', by: 'resource_type', loss: 'drop' }),
  ],
})
