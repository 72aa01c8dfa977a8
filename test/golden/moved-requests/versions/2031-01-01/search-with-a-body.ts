import { between } from 'dateline/change'
import type * as Old from '../../want/2030-06-01/types.ts'
import type * as New from '../../want/2031-01-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'search-with-a-body',
  why: 'Items are searched with a body, so that a search can be longer than a URL.',
  lenses: [
    v.served('listItems', 'searchItems'),
    v.movedParameter(['query', 'type'], ['body', 'type'], 'searchItems'),
    v.movedParameter(['query', 'search'], ['body', 'search'], 'searchItems'),
  ],
})
