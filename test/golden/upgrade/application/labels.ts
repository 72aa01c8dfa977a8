/** Prints labels for the books of a library. */
import {
  type Book,
  type BookCreate,
  type Client,
  createClient,
  type Known,
  type Shelf,
} from '@acme/books/2030-01-01'

const ROOMS: Record<Known<Shelf>, string> = {
  frontRoom: 'Front',
  backRoom: 'Back',
}

const SHELVES: readonly Known<Shelf>[] = ['frontRoom', 'backRoom']

export const open = (baseUrl: string): Client => createClient({ baseUrl })

/** Adds a book that a reader gave to the library. */
export async function addGift(
  client: Client,
  gift: { title: string; author: string; born: number },
): Promise<Book> {
  const body: BookCreate = {
    title: gift.title,
    color: 'grey',
    author_name: gift.author,
    author_born: gift.born,
    shelf: 'backRoom',
    note: null,
  }
  return client.createBook({ body })
}

export function labelOf({ title, author_name, author_born: born, shelf, color }: Book): string {
  const room = SHELVES.find((each) => each === shelf)
  return `${title} – ${author_name} (${born}), ${color}, ${room ? ROOMS[room] : 'elsewhere'}`
}

/** Returns the labels of those books that are in the back, each with the number of pages. */
export async function labelsInBack(client: Client, ids: readonly string[]): Promise<string[]> {
  const books = await Promise.all(ids.map((id) => client.getBook({ path: { book_id: id } })))
  const back = books.filter((book) => book.shelf === 'backRoom')
  return back.map((book) => `${labelOf(book)}, ${book.size.pages} pages, ${book.blurb.length} letters`)
}
