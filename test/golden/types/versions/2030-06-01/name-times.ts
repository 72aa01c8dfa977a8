import { between } from 'dateline/change'
import type * as Old from '../../want/2030-01-01/types.ts'
import type * as New from '../../want/2030-06-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'name-times',
  why: 'Names of times end with at, and bookings have a time.',
  lenses: [
    v.rename(['Transfer'], 'at', 'sent_at'),
    v.rename(['Transfer'], 'fees', 'costs'),
    v.convert(['Transfer'], 'booked', {
      up: (day) => `${day}T00:00:00Z`,
      down: (time) => time.slice(0, 10),
      loss: 'merge',
    }),
  ],
})
