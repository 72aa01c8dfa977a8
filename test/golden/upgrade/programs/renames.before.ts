/** What has a new name: properties, parameters, operations and members of enumerations. */
import { type BookLendParams, connect, createClient, type Known, type LendBookInput, type Schemas } from '@acme/books/2030-01-01'
import { lendBook as lend } from '@acme/books/2030-01-01/functions'
import type { Book, BookCreate, Loan, operations, Shelf } from '@acme/books/2030-01-01'

const client = createClient({ baseUrl: 'http://localhost' })

const FLOORS: Record<Known<Shelf>, number> = { frontRoom: 0, backRoom: 1 }
const LABELS: { readonly [Each in Known<Shelf>]: string } = { frontRoom: 'front', 'backRoom': 'back' }

export async function run(color: string): Promise<void> {
  await client.searchBooks({ body: { text: color } })
  const { data } = await client.listBooks({ query: { color, shelf: 'frontRoom', order: 'newest' } })
  for (const book of data) {
    console.log(book.color, book['color'], FLOORS.frontRoom, FLOORS['backRoom'], LABELS.backRoom)
    switch (book.shelf) {
      case 'frontRoom':
        break
      case 'backRoom':
        break
    }
    if (book.shelf === 'backRoom' || 'frontRoom' === book.shelf) console.log('a shelf')
    const shelf = book.shelf
    if (shelf !== 'frontRoom' && shelf === 'backRoom') console.log(shelf)
    const { color: paint, shelf: place } = book
    console.log(paint, place === 'frontRoom', data.map(({ color }) => color))
  }
  const { lendBook, getBook } = client
  await lendBook({ path: { book_id: 'b3' }, body: { reader: 'Ada' } })
  await getBook({ path: { book_id: 'b4' } })
  const book = await client.getBook({ path: { book_id: 'b1' } })
  const input: LendBookInput = { path: { book_id: book.id }, body: { reader: 'Ada' } }
  await client.lendBook(input)
  const params: BookLendParams = { reader: 'Ada' }
  await lend(connect({ baseUrl: 'http://localhost' }), book.id, params)
  await client.books.lend(book.id, params, { timeout: 1000 })
  await client.search.create({ text: color })
  const { books } = client
  const { lend: borrow } = books
  console.log(await books.lend('b5', params), borrow)
  await client.lendBook({ path: { book_id: 'b2' }, body: { reader: 'Grace' } })
}

export const loan = (reader: Schemas['Loan']['reader']): Loan => ({ reader })
type Paint = Schemas['BookCreate']['color'] | operations['lendBook']['parameters']['path']['book_id']
export const shelfOf = (back: boolean): Shelf => (back ? 'backRoom' : 'frontRoom')
export const paintOf = ({ color }: Pick<Book, 'color'>): Paint => color
export const shelves: Shelf[] = ['frontRoom', 'backRoom']
export const isFront = (shelf: Extract<Shelf, 'frontRoom'> | undefined): boolean => shelf === 'frontRoom'
export const isHard = ({ binding }: Book): boolean => binding === 'hardCover'
export const bound = { binding: 'hardCover' } satisfies Partial<BookCreate>
export const places = new Set<Shelf>(['frontRoom'])
// A text that only looks like a member stays, and so does a property of another type.
export const texts: readonly string[] = ['frontRoom', 'backRoom']
export const other = { color: 'frontRoom' }
console.log(other.color)
export type Draft = Partial<BookCreate>
export const draft: Draft = { color: 'red' }
