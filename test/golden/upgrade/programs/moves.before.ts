/** What has a new place: properties that move into an object, and out of one. */
import { createClient, type Book, type BookCreate } from '@acme/books/2030-01-01'

const client = createClient({ baseUrl: 'http://localhost' })

export async function describe(id: string): Promise<string> {
  const book = await client.getBook({ path: { book_id: id } })
  const { author_name, author_born: born, title } = book
  const { size } = book
  return `${title} ${author_name} ${born} ${book.author_name} ${book?.author_born} ${book.size.pages} ${size.pages}`
}

export const create = (author_name: string): BookCreate => ({
  title: 'Sky',
  color: 'blue',
  author_name,
  author_born: 1906,
  shelf: 'backRoom',
})

export const one = (): BookCreate => ({ author_name: 'Ada', author_born: 1815, title: 'One', color: 'red', shelf: 'frontRoom' })

export function change(book: Book | undefined, input: BookCreate): void {
  console.log(book?.size?.pages, book?.author_name, book!['author_born'])
  const sizes = [book!.size]
  console.log(sizes[0]!.pages)
  input.author_name = 'Grace'
}

export const both = (base: BookCreate): BookCreate => ({ ...base, author_born: 1906, author_name: 'Grace' })
