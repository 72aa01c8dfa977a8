import { between } from 'dateline/change'
import type * as Old from '../../want/2030-01-01/types.ts'
import type * as New from '../../want/2030-06-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'rate-to-100',
  why: '`rating` is from 0 to 100 instead of 0 to 5.',
  lenses: [
    v.convert(['Book'], 'rating', {
      up: (stars) => stars * 20,
      down: (points) => Math.round(points / 20),
      loss: 'merge',
    }),
  ],
})
