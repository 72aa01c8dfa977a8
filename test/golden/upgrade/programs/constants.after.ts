/** Values that earlier versions supplied. */
import { createClient } from '@acme/books/2030-12-01'

const client = createClient({ baseUrl: 'http://localhost' })

export async function run(query: { color: string }): Promise<void> {
  await client.listBooks({ query: { order: 'newest' } })
  await client.listBooks({ query: { colour: 'red', order: 'newest' } })
  await client.listBooks({ 'query': { colour: 'red', order: 'newest' } })
  await client.listBooks({ timeoutMs: 5, query: { order: 'newest' } })
  // upgrade 2030-06-01: Lists are ordered by title unless `order` says otherwise. Earlier versions order them by date.
  await client.listBooks({ query })
  // upgrade 2030-06-01: `blurb` is null if there is none. Earlier versions show an empty text.
  // upgrade 2030-12-01: Adding a book requires a key.
  const { blurb, id } = await client.createBook({
    body: { name: 'Sea', colour: 'green', author: { name: 'Ada', born: 1815 }, shelf: 'front_room', note: '', condition: 'used' },
  })
  const book = await client.getBook({ path: { id } })
  // upgrade 2030-06-01: `blurb` is null if there is none. Earlier versions show an empty text.
  book.blurb.trim()
  const found: typeof book | undefined = book
  // upgrade 2030-06-01: `blurb` is null if there is none. Earlier versions show an empty text.
  console.log(found?.blurb)
  console.log(blurb, (book.blurb ?? '').length, book.blurb ?? '', `${book.blurb ?? ''}!`)
}
