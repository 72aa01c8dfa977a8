/** Generated Standard Schemas, used by a library that knows only the specification. */
import { sValidator } from '@hono/standard-validator'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { Hono } from 'hono'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { emitStandardSchemas } from '../../generators/emit/validators/standard-schemas.ts'
import * as schemas from '../golden/standard-schemas/want/2030-01-01/schemas.js'
import type * as types from '../golden/standard-schemas/want/2030-01-01/types.ts'
import { importBooks_body as batch } from '../golden/standard-schemas/want/2030-01-01/validators.js'
import { read } from '../ir/document.ts'

const { Author, BookRequest, searchBooks_body } = schemas

describe('a Hono app that validates with a generated schema', () => {
  const app = new Hono().post('/books', sValidator('json', BookRequest), (c) => {
    const book = c.req.valid('json')
    expectTypeOf(book.title).toEqualTypeOf<string>()
    return c.json({ title: book.title }, 201)
  })
  const send = (body: object) =>
    app.request('/books', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })

  test('passes a valid body to the handler', async () => {
    const response = await send({ title: 'Emma', description: 'A novel' })
    expect([response.status, await response.json()]).toEqual([201, { title: 'Emma' }])
  })

  test('answers an invalid body with an issue for each problem', async () => {
    const response = await send({ titles: 'Emma', description: 'A novel', authors: [{ name: '' }] })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: [
        { path: ['title'], message: 'is required' },
        { path: ['titles'], message: 'is not a known property (did you mean title?)' },
        { path: ['authors', 0, 'name'], message: 'must have at least 1 character' },
      ],
    })
  })
})

test('a schema has the type of the specification, and of its component', () => {
  const schema: StandardSchemaV1<types.BookRequest> = BookRequest
  expect(schema['~standard']).toMatchObject({ version: 1, vendor: 'dateline' })
  expectTypeOf<StandardSchemaV1.InferInput<typeof Author>>().toEqualTypeOf<types.Author>()
  expectTypeOf<StandardSchemaV1.InferOutput<typeof Author>>().toEqualTypeOf<types.Author>()
})

test('a schema answers at once, with the value itself', () => {
  const author = { name: 'Jane Austen', mentor: { name: 'Fanny Burney' }, born: 1775 }
  const result = Author['~standard'].validate(author)
  expect(result.issues === undefined && result.value).toBe(author)
})

test('a path holds the names of properties as they are, so that a dot in a name is no ambiguity', () => {
  const result = Author['~standard'].validate({
    name: 'Jane Austen',
    mentor: { name: 'F', 'born.on': '1752' },
  })
  expect(result.issues).toEqual([{ path: ['mentor', 'born.on'], message: 'must be a valid date' }])
})

test('a body without a component is a schema too', () => {
  expect(searchBooks_body['~standard'].validate({ shelf: 'top', text: 'Em' }).issues).toEqual([
    { path: ['shelf'], message: 'must be one of "upper", "lower"' },
    { path: ['text'], message: 'must have at least 3 characters' },
  ])
})

test('a schema outside the components that a body refers to is held in the file', () => {
  const { api } = read(`
paths:
  /books:
    post:
      operationId: searchBooks
      requestBody:
        content: { application/json: { schema: { properties: { shelf: { $ref: '#/components/parameters/Shelf/schema' } } } } }
      responses: { '204': { description: Found } }
components:
  parameters: { Shelf: { name: shelf, in: query, description: Where, schema: { type: string, description: Which } } }
`)
  const [file] = emitStandardSchemas([api])
  expect(file!.text).toContain("parameters: { Shelf: { schema: { type: 'string' } } }")
})

test('a batch whose items are validated one by one is no schema, because its validator accepts any item', () => {
  expect(batch({ books: [1] })).toBe(true)
  expect(Object.keys(schemas).toSorted()).toEqual([
    'Author',
    'Book',
    'BookRequest',
    'document',
    'searchBooks_body',
  ])
})
