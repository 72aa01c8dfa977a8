import { between } from 'dateline/change'
import type * as Old from '../../want/2030-01-01/types.ts'
import type * as New from '../../want/2030-06-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'name-parcels',
  why: 'Ids say what they identify, weights are in kilos, and a parcel that was sent is shipped. Several carriers may be asked for.',
  lenses: [
    v.renamedParameter('query', 'ids', 'parcel_ids'),
    v.convertedParameter('query', 'weights', (grams) => grams.map((each) => each / 1000), 'findParcels'),
    v.values('State', { rename: { sent: 'shipped' } }),
    v.convertedParameter('query', 'carrier', (carrier) => [carrier], 'findParcels'),
  ],
})
