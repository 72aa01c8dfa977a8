import { between } from 'dateline/change'
import type * as Old from '../../want/2030-01-01/types.ts'
import type * as New from '../../want/2030-06-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'merge-lists',
  why: 'Books and films are listed together, as items with a type.',
  lenses: [
    v.served('listBooks', 'listItems', { query: { type: 'book' } }),
    v.served('listFilms', 'listItems', { query: { type: 'film' } }),
    v.renamedParameter('query', 'q', 'search', 'listItems'),
    v.convertWhole('Titles', { up: (titles) => ({ data: titles }), down: ({ data }) => data }),
  ],
})
