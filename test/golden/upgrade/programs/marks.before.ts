/** What needs a decision: the same type with another meaning, and what no type follows. */
import { createClient, type Book, type BookCreate } from '@acme/books/2030-01-01'

const client = createClient({ baseUrl: 'http://localhost' })

export async function run(key: keyof Book, stored: string, loose: any): Promise<unknown> {
  const answer = await client.createBook({ body: { ...loose, title: 'Sky' } }).withResponse()
  if (answer.response.status === 200) console.log('created')
  const { data } = await client.listBooks({ query: { include_lost: true, order: 'title' } })
  const good = data.filter((book) => book.rating >= 4)
  const away = good.filter(({ state }) => state === 'lent')
  console.log(away.length, answer.data.isbn)
  console.log(answer.data.price)
  const book = JSON.parse(stored) as Book
  console.log(book[key], Object.keys(book), JSON.stringify(book))
  for (const name in book) console.log(name)
  const draft: BookCreate = loose
  console.log(paintOf(good[0]!))
  const { createBook } = client
  const create = client.createBook
  console.log(createBook, create)
  return (draft as any).color
}

const paintOf = (thing: { color: string }): string => thing.color

export function signatureOf(headers: Headers): string | null {
  return headers.get('x-signature')
}
