import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { addStubs } from '../../generators/scaffold/stub.ts'
import { read } from '../ir/document.ts'

const { api } = read(`
paths:
  /books:
    get: { operationId: listBooks, tags: [books], responses: { '200': { description: ok } } }
    post: { operationId: createBook, tags: [books], responses: { '201': { description: ok } } }
  /loans:
    get: { operationId: listLoans, tags: [book_loans], responses: { '200': { description: ok } } }
`)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join('test/toolkit', '.handlers-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const NAMES = {
  context: { file: 'service/context.ts', name: 'Context' },
  notImplemented: { file: 'service/errors.ts', name: 'unwritten' },
}

const WRITTEN = `import type { BooksHandlers } from '../../../../generated/head/handlers.ts'

// a comment, odd   spacing and all
export const booksHandlers = {
  async listBooks() { return { status: 200,   body: undefined } },
} satisfies BooksHandlers<unknown>
`

test('adds what is missing and leaves what stands there as it is', () => {
  mkdirSync(join(folder, 'books'))
  writeFileSync(join(folder, 'books/handlers.ts'), WRITTEN)
  expect(addStubs([api], folder, 'generated', false, [], NAMES)).toEqual([
    { file: `${folder}/books/handlers.ts`, operation: 'createBook' },
    { file: `${folder}/book-loans/handlers.ts`, operation: 'listLoans' },
  ])
  const books = readFileSync(join(folder, 'books/handlers.ts'), 'utf8')
  for (const line of WRITTEN.trimEnd().split('\n')) expect(books).toContain(line)
  expect(books).toMatch(/async createBook\(\) \{\s+return unwritten\(\)/)
  const loans = readFileSync(join(folder, 'book-loans/handlers.ts'), 'utf8')
  expect(loans).toContain('export const bookLoansHandlers = {')
  expect(loans).toContain('satisfies Partial<BookLoansHandlers<Context>>')
  expect(loans).toContain("import type { Context } from '../../../../service/context.ts'")
  expect(loans).toMatch(/import \{ unwritten \} from ['"]\.\.\/\.\.\/\.\.\/\.\.\/service\/errors\.ts['"]/)
})

test('a stub throws where the configuration names nothing to call', () => {
  addStubs([api], folder, 'generated')
  const books = readFileSync(join(folder, 'books/handlers.ts'), 'utf8')
  expect(books).toContain('satisfies Partial<BooksHandlers<unknown>>')
  expect(books).toMatch(/async createBook\(\) \{\s+throw new Error\(/)
})

test('lists what is missing without writing', () => {
  mkdirSync(join(folder, 'books'))
  writeFileSync(join(folder, 'books/handlers.ts'), WRITTEN)
  expect(addStubs([api], folder, 'generated', true)).toEqual([
    { file: `${folder}/books/handlers.ts`, operation: 'createBook' },
    { file: `${folder}/book-loans/handlers.ts`, operation: 'listLoans' },
  ])
  expect(readFileSync(join(folder, 'books/handlers.ts'), 'utf8')).toBe(WRITTEN)
  expect(existsSync(join(folder, 'book-loans/handlers.ts'))).toBe(false)
})

test('does nothing the second time', () => {
  addStubs([api], folder, 'generated')
  const before = readFileSync(join(folder, 'books/handlers.ts'), 'utf8')
  expect(addStubs([api], folder, 'generated')).toEqual([])
  expect(readFileSync(join(folder, 'books/handlers.ts'), 'utf8')).toBe(before)
})
