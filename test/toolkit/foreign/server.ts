/** A library on node:http: everything that it knows of its API comes from the generated tables. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createVersionedApi, ErrorReply, fromHeader } from 'dateline/fetch'
import { toNodeListener } from 'dateline/node'
import type { Handlers } from './generated/canonical/handlers.ts'
import type { components } from './generated/canonical/types.ts'
import { documents } from './generated/documents.js'
import { versions } from './generated/versions.ts'

type Library = Map<string, components['schemas']['Book']>

const handlers: Handlers<Library> = {
  async createBook(library, { body }) {
    const book = { id: `book_${library.size + 1}`, shelf: 'bottom' as const, ...body }
    library.set(book.id, book)
    return { status: 201, body: book }
  },
  async getBook(library, { path }) {
    const book = library.get(path.book_id)
    if (!book) throw new ErrorReply(404, { error: `there is no ${path.book_id}` })
    return { status: 200, body: book }
  },
}

const library: Library = new Map()
const api = createVersionedApi({
  versions,
  handlers,
  documents,
  context: () => library,
  resolveVersion: fromHeader('Library-Version'),
})
const server = createServer(toNodeListener(api))
server.listen(0, '127.0.0.1', () => console.log(String((server.address() as AddressInfo).port)))
