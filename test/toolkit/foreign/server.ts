/** A library on node:http: everything that it knows of its API comes from the generated tables. */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Operation, Reply, Version } from 'dateline/runtime'
import { explain } from 'dateline/runtime/explain'
import type { Handlers } from './generated/canonical/handlers.ts'
import type { components } from './generated/canonical/types.ts'
import { current, versions } from './generated/versions.ts'

type Book = components['schemas']['Book']
interface Library {
  readonly books: Map<string, Book>
}
/** What was asked, as the handler of an operation takes it. */
interface Input {
  readonly path: Readonly<Record<string, string>>
  readonly body: unknown
}

const handlers: Handlers<Library> = {
  async createBook({ books }, { body }) {
    const book: Book = { id: `book_${books.size + 1}`, shelf: 'bottom', ...body }
    books.set(book.id, book)
    return { status: 201, body: book }
  },
  async getBook({ books }, { path }) {
    const book = books.get(path.book_id)
    if (!book) throw new Error(`there is no ${path.book_id}`)
    return { status: 200, body: book }
  },
}
const table = handlers as unknown as Record<string, (library: Library, input: Input) => Promise<Reply>>
const library: Library = { books: new Map() }

function findOperation(version: Version, method: string, url: string) {
  for (const operation of version.operations) {
    if (operation.method !== method) continue
    const pattern = operation.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')
    const match = new RegExp(`^${pattern}$`).exec(url)
    if (match) return { operation, path: { ...match.groups } }
  }
  return undefined
}

/** @returns what is wrong with the body or with a placeholder, in the words of the caller's version. */
function findFaults(version: Version, operation: Operation, { path, body }: Input): string[] {
  const document = JSON.parse(readFileSync(`generated/${version.name}/openapi.json`, 'utf8'))
  const say = (pointer: string, value: unknown) =>
    explain(document, pointer, value, {}).map(({ field, issue }) => `${field} ${issue}`.trim())
  const faults = operation.pathParameters.flatMap(({ name, validate, pointer }) =>
    validate(path[name]) ? [] : say(pointer, path[name]),
  )
  if (operation.body && !operation.body.validate(body)) faults.push(...say(operation.body.pointer, body))
  return faults
}

async function answer(request: IncomingMessage): Promise<Reply> {
  const name = request.headers['library-version'] ?? current
  const version = versions.find((each) => each.name === name)
  const found = version && findOperation(version, request.method ?? '', request.url ?? '')
  if (!found) return { status: 404, body: { faults: ['no such operation'] } }
  const { operation, path } = found
  const text = await Array.fromAsync(request, String)
  const input: Input = { path, body: operation.body && JSON.parse(text.join('')) }
  const faults = findFaults(version, operation, input)
  if (faults.length > 0) return { status: 422, body: { faults } }
  const { upPath, upBody, down } = operation
  const canonical = {
    path: upPath ? upPath(input.path) : input.path,
    body: upBody ? upBody(input.body) : input.body,
  }
  const reply = await table[operation.id]!(library, canonical)
  return { ...reply, body: down ? down(reply.body) : reply.body }
}

const server = createServer(async (request, response) => {
  const { status, body } = await answer(request)
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
server.listen(0, '127.0.0.1', () => console.log(String((server.address() as AddressInfo).port)))
