import { between } from 'dateline/change'
import type * as Old from '../../want/2030-01-01/types.ts'
import type * as New from '../../want/2030-06-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'show-archived-parcels',
  why: 'Lists have archived parcels too. Before, they left them out.',
  lenses: [v.behaviour('archived-in-lists', 'listParcels')],
})
