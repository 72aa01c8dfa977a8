/** Calls that take one object, which `resources` writes as methods of resources. */
import { connect, createClient, type Book } from '@acme/books/2030-01-01'
import { getBook, lendBook, listBooks } from '@acme/books/2030-01-01/functions'

const client = createClient({ baseUrl: 'http://localhost' })
const connection = connect({ baseUrl: 'http://localhost' })

export async function run(id: string, draft: Book, signal: AbortSignal): Promise<unknown> {
  for (const book of (await client.listBooks({ query: { color: 'red' } })).data) console.log(book)
  const { title } = await client.getBook({ path: { book_id: (await client.createBook({ body: draft })).id }, signal })
  const { response } = await client
    .lendBook({ path: { book_id: id }, body: { reader: title }, idempotencyKey: 'a', timeoutMs: 100 })
    .withResponse()
  await client.listBooks()
  await client.listBooks({ signal })
  await listBooks(connection, { query: { color: 'red' } })
  await lendBook(connection, { path: { book_id: id }, body: { reader: 'Ada' } })
  await getBook(connection, id)
  // These need a person.
  const input = { path: { book_id: id } }
  const { createBook } = client
  return [response, await client.getBook(input), createBook, client.listBooks]
}
