import { between } from 'dateline/change'
import type * as Old from '../../want/2030-01-01/types.ts'
import type * as New from '../../want/2030-06-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'start-loans',
  why: '`book.lent` is `loan.started`, because films are lent too. A loan can have several readers.',
  lenses: [
    v.renamedEvent('book.lent', 'loan.started'),
    v.rename(['Loan'], 'book', 'title'),
    v.wrapped(['Loan'], 'reader', 'readers', { loss: 'drop', empty: null }),
    v.rename(['Person'], 'surname', 'name'),
  ],
})
