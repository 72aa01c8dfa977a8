/** Calls that take one object, which `resources` writes as methods of resources. */
import { connect, createClient, type Book } from '@acme/books/2030-01-01'
import { getBook, lendBook, listBooks } from '@acme/books/2030-01-01/functions'

const client = createClient({ baseUrl: 'http://localhost' })
const connection = connect({ baseUrl: 'http://localhost' })

export async function run(id: string, draft: Book, signal: AbortSignal): Promise<unknown> {
  for (const book of (await client.books.list({ color: 'red' })).data) console.log(book)
  const { title } = await client.books.retrieve((await client.books.create(draft)).id, { signal })
  const { response } = await client
    .books.lend(id, { reader: title }, { idempotencyKey: 'a', timeout: 100 })
    .withResponse()
  await client.books.list()
  await client.books.list(undefined, { signal })
  await listBooks(connection, { color: 'red' })
  await lendBook(connection, id, { reader: 'Ada' })
  await getBook(connection, id)
  // These need a person.
  const input = { path: { book_id: id } }
  // upgrade 2030-01-01: call `client.books.create(body, options)` instead
  const { createBook } = client
  // upgrade 2030-01-01: call `client.books.retrieve(book_id, options)` instead
  // upgrade 2030-01-01: call `client.books.list(query, options)` instead
  return [response, await client.getBook(input), createBook, client.listBooks]
}
