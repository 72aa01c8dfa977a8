import { between } from 'dateline/change'
import type * as Old from '../../want/2030-06-01/types.ts'
import type * as New from '../../want/2030-12-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'burn-no-books',
  why: 'Books are not burned: there is no event `book.burned`.',
  lenses: [v.accept('event-removed', 'event book.burned')],
})
