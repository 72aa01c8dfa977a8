/** What has a new name: properties, parameters, operations and members of enumerations. */
import { type BookLoanCreateParams, connect, createClient, type Known, type CreateLoanInput, type Schemas } from '@acme/books/2030-12-01'
import { createLoan as lend } from '@acme/books/2030-12-01/functions'
import type { Book, BookCreate, LoanCreate, operations, Shelf } from '@acme/books/2030-12-01'

const client = createClient({ baseUrl: 'http://localhost' })

const FLOORS: Record<Known<Shelf>, number> = { front_room: 0, back_room: 1 }
const LABELS: { readonly [Each in Known<Shelf>]: string } = { front_room: 'front', 'back_room': 'back' }

export async function run(color: string): Promise<void> {
  await client.findBooks({ body: { words: color } })
  const { data } = await client.listBooks({ query: { colour: color, shelf: 'front_room', order: 'newest' } })
  for (const book of data) {
    console.log(book.colour, book['colour'], FLOORS.front_room, FLOORS['back_room'], LABELS.back_room)
    switch (book.shelf) {
      case 'front_room':
        break
      case 'back_room':
        break
    }
    if (book.shelf === 'back_room' || 'front_room' === book.shelf) console.log('a shelf')
    const shelf = book.shelf
    if (shelf !== 'front_room' && shelf === 'back_room') console.log(shelf)
    const { colour: paint, shelf: place } = book
    console.log(paint, place === 'front_room', data.map(({ colour: color }) => color))
  }
  const { createLoan: lendBook, getBook } = client
  await lendBook({ path: { id: 'b3' }, body: { reader: 'Ada' } })
  await getBook({ path: { id: 'b4' } })
  const book = await client.getBook({ path: { id: 'b1' } })
  const input: CreateLoanInput = { path: { id: book.id }, body: { reader: 'Ada' } }
  await client.createLoan(input)
  const params: BookLoanCreateParams = { reader: 'Ada' }
  await lend(connect({ baseUrl: 'http://localhost' }), book.id, params)
  await client.books.loans.create(book.id, params, { timeout: 1000 })
  await client.search.find({ words: color })
  const { books } = client
  // upgrade 2030-12-01: this method is `books.loans.create` of the client
  const { lend: borrow } = books
  // upgrade 2030-12-01: this method is `books.loans.create` of the client
  console.log(await books.lend('b5', params), borrow)
  await client.createLoan({ path: { id: 'b2' }, body: { reader: 'Grace' } })
}

export const loan = (reader: Schemas['LoanCreate']['reader']): LoanCreate => ({ reader })
type Paint = Schemas['BookCreate']['colour'] | operations['createLoan']['parameters']['path']['id']
export const shelfOf = (back: boolean): Shelf => (back ? 'back_room' : 'front_room')
export const paintOf = ({ colour: color }: Pick<Book, 'colour'>): Paint => color
export const shelves: Shelf[] = ['front_room', 'back_room']
export const isFront = (shelf: Extract<Shelf, 'front_room'> | undefined): boolean => shelf === 'front_room'
export const isHard = ({ binding }: Book): boolean => binding === 'hard_cover'
export const bound = { binding: 'hard_cover' } satisfies Partial<BookCreate>
export const places = new Set<Shelf>(['front_room'])
// A text that only looks like a member stays, and so does a property of another type.
export const texts: readonly string[] = ['frontRoom', 'backRoom']
export const other = { color: 'frontRoom' }
console.log(other.color)
export type Draft = Partial<BookCreate>
export const draft: Draft = { colour: 'red' }
