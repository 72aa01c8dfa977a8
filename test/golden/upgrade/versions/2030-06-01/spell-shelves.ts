import { between } from 'dateline/change'
import type * as Old from '../../want/2030-01-01/types.ts'
import type * as New from '../../want/2030-06-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'spell-shelves',
  why: 'Shelves are in snake_case.',
  lenses: [v.values('Shelf', { rename: { frontRoom: 'front_room', backRoom: 'back_room' } })],
})
