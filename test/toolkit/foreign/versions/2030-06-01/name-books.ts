import { between } from 'dateline/change'
import type * as Old from '../../generated/2030-01-01/types.ts'
import type * as New from '../../generated/2030-06-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'name-books',
  why: 'A book has a name, and shelves are called what the labels on them say',
  lenses: [
    v.rename(['Book', 'BookCreate'], 'title', 'name'),
    v.values('Shelf', { rename: { upper: 'top', lower: 'bottom' } }),
  ],
})
