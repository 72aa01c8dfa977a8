/** What needs a decision: the same type with another meaning, and what no type follows. */
import { createClient, type Book, type BookCreate } from '@acme/books/2030-12-01'

const client = createClient({ baseUrl: 'http://localhost' })

export async function run(key: keyof Book, stored: string, loose: any): Promise<unknown> {
  // upgrade 2030-06-01: Adding a book is answered with 201 instead of 200.
  // upgrade 2030-12-01: no type follows this value: what is in the form of 2030-01-01 stays in it
  // upgrade 2030-06-01: `condition` is required. Earlier versions mean `used`.
  // upgrade 2030-12-01: Adding a book requires a key.
  const answer = await client.createBook({ body: { ...loose, name: 'Sky' } }).withResponse()
  if (answer.response.status === 200) console.log('created')
  // upgrade 2030-06-01: `include_lost` has an effect. Earlier versions ignore it.
  const { data } = await client.listBooks({ query: { include_lost: true, order: 'title' } })
  // upgrade 2030-06-01: `rating` is from 0 to 100 instead of 0 to 5.
  const good = data.filter((book) => book.rating >= 4)
  // upgrade 2030-06-01: A lost book has the state `lost`. Earlier versions show `lent`.
  const away = good.filter(({ state }) => state === 'lent')
  // upgrade 2030-06-01: `isbn` is removed. Earlier versions show an empty text.
  console.log(away.length, answer.data.isbn)
  // upgrade 2030-06-01: `price`, in cents, is the text `cost`, which can be longer.
  console.log(answer.data.price)
  // upgrade 2030-12-01: no type follows this value: what is in the form of 2030-01-01 stays in it
  const book = JSON.parse(stored) as Book
  // upgrade 2030-12-01: names of properties are computed here, and some have changed
  // upgrade 2030-12-01: no type follows this value: what is in the form of 2030-01-01 stays in it
  console.log(book[key], Object.keys(book), JSON.stringify(book))
  // upgrade 2030-12-01: names of properties are computed here, and some have changed
  for (const name in book) console.log(name)
  // upgrade 2030-12-01: no type follows this value: what is in the form of 2030-01-01 stays in it
  const draft: BookCreate = loose
  console.log(paintOf(good[0]!))
  // upgrade 2030-06-01: Adding a book is answered with 201 instead of 200.
  // upgrade 2030-12-01: Adding a book requires a key.
  const { createBook } = client
  // upgrade 2030-06-01: Adding a book is answered with 201 instead of 200.
  // upgrade 2030-12-01: Adding a book requires a key.
  const create = client.createBook
  console.log(createBook, create)
  // upgrade 2030-12-01: no type follows this value: what is in the form of 2030-01-01 stays in it
  return (draft as any).color
}

const paintOf = (thing: { color: string }): string => thing.color

export function signatureOf(headers: Headers): string | null {
  // upgrade 2030-06-01: The signature is in `Book-Signature`.
  return headers.get('x-signature')
}
