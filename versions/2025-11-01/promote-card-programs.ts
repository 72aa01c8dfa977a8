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
    'Card programs can be promoted from the sandbox to live. Lists of promotions read in 2025-06-01, which has no ' +
    'cards, leave theirs out.',
  lenses: [
    v.leaveOut(['PromotionList'], 'data', { unless: 'PromotableType', by: 'resource_type', loss: 'drop' }),
  ],
})
