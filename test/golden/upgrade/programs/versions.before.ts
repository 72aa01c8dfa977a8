/** Several versions in one program: only what is of the older one changes. */
import { createClient, type Schemas, type Versions } from '@acme/books'
import type { Book as Newest } from '@acme/books/2030-12-01'

const versions = createClient({ baseUrl: 'http://localhost' })

export async function run(id: string): Promise<Schemas<'2030-01-01'>['Book'] | Newest> {
  const old = await versions.at('2030-01-01').getBook({ path: { book_id: id } })
  const newest = await versions.at('2030-12-01').getBook({ path: { id } })
  console.log(old.color, newest.colour, '2030-01-01')
  return newest.id === '' ? newest : old
}

/** Of the program itself, in spite of its name. */
type Shelf = 'frontRoom' | 'attic'
export const own: Shelf = 'frontRoom'

export type Client = Versions['2030-01-01']['client']
export const load = () => import('@acme/books/2030-01-01')
