/** Values that earlier versions supplied. */
import { createClient } from '@acme/books/2030-01-01'

const client = createClient({ baseUrl: 'http://localhost' })

export async function run(query: { color: string }): Promise<void> {
  await client.listBooks()
  await client.listBooks({ query: { color: 'red' } })
  await client.listBooks({ 'query': { color: 'red' } })
  await client.listBooks({ timeoutMs: 5 })
  await client.listBooks({ query })
  const { blurb, id } = await client.createBook({
    body: { title: 'Sea', color: 'green', author_name: 'Ada', author_born: 1815, shelf: 'frontRoom', note: null },
  })
  const book = await client.getBook({ path: { book_id: id } })
  book.blurb.trim()
  const found: typeof book | undefined = book
  console.log(found?.blurb)
  console.log(blurb, book.blurb.length, book.blurb, `${book.blurb}!`)
}
