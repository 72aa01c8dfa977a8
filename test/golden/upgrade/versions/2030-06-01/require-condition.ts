import { between } from 'dateline/change'
import type * as Old from '../../want/2030-01-01/types.ts'
import type * as New from '../../want/2030-06-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'require-condition',
  why: '`condition` is required. Earlier versions mean `used`.',
  lenses: [v.default(['BookCreate'], 'condition', 'used')],
})
