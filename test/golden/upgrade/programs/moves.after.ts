/** What has a new place: properties that move into an object, and out of one. */
import { createClient, type Book, type BookCreate } from '@acme/books/2030-12-01'

const client = createClient({ baseUrl: 'http://localhost' })

export async function describe(id: string): Promise<string> {
  const book = await client.getBook({ path: { id } })
  const { author: { name: author_name, born }, name: title } = book
  const { size } = book
  // upgrade 2030-12-01: `pages` is beside `size`, not in it.
  return `${title} ${author_name} ${born} ${book.author.name} ${book?.author.born} ${book.pages} ${size.pages}`
}

export const create = (author_name: string): BookCreate => ({
  name: 'Sky',
  colour: 'blue',
  author: { name: author_name, born: 1906 },
  shelf: 'back_room',
  condition: 'used',
})

export const one = (): BookCreate => ({ author: { name: 'Ada', born: 1815 }, name: 'One', colour: 'red', shelf: 'front_room', condition: 'used' })

export function change(book: Book | undefined, input: BookCreate): void {
  console.log(book?.pages, book?.author.name, book!.author.born)
  const sizes = [book!.size]
  // upgrade 2030-12-01: `pages` is beside `size`, not in it.
  console.log(sizes[0]!.pages)
  // upgrade 2030-06-01: `author` holds the name and the year of birth of the author.
  input.author_name = 'Grace'
}

// upgrade 2030-06-01: `author` holds the name and the year of birth of the author.
export const both = (base: BookCreate): BookCreate => ({ ...base, author_born: 1906, author_name: 'Grace' })
