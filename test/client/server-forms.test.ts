/** The server reads the forms that the client writes, over a socket; and refuses what their documents do not allow. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Version } from 'dateline/runtime'
import { FormError, readForm } from 'dateline/runtime/forms'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type GeneratedClient, generateClient } from './generated-from.ts'

const text = { type: 'string' }
const binary = { type: 'string', format: 'binary' }
const object = (properties: object, more = {}) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...more,
})
const address = object({ street: text, zip: text })
const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data'

const post = (operationId: string, content: object) => ({
  post: {
    operationId,
    requestBody: { required: true, content },
    responses: {
      200: { description: 'OK', content: { 'application/json': { schema: { type: 'object' } } } },
    },
  },
})

const scalars = {
  id: text,
  count: { type: 'integer', minimum: 1 },
  paid: { type: 'boolean' },
  rate: { type: 'number' },
}
const lists = {
  tags: { type: 'array', maxItems: 3, items: text },
  counts: { type: 'array', items: { type: 'integer' } },
}
const files = {
  file: binary,
  files: { type: 'array', items: binary },
  picture: { type: 'string', contentMediaType: 'image/png' },
  small: { ...binary, maxLength: 3 },
  anything: {},
}

const PATHS = {
  '/form': post('form', {
    [FORM]: {
      schema: object({ ...scalars, ...lists, address, color: object({ R: { type: 'integer' } }) }),
      encoding: { color: { style: 'deepObject', explode: true } },
    },
  }),
  '/parts': post('parts', {
    [MULTIPART]: {
      schema: object({ ...scalars, ...lists, ...files, address, places: { type: 'array', items: address } }),
      encoding: { picture: { contentType: 'image/png, image/jpeg' } },
    },
  }),
  '/open': post('open', {
    [FORM]: { schema: { type: 'object' } },
    [MULTIPART]: { schema: { type: 'object' } },
  }),
  '/both': post('both', {
    'application/json': { schema: { $ref: '#/components/schemas/Both' } },
    [FORM]: { schema: { $ref: '#/components/schemas/Both' } },
  }),
}

const OPTIONS = { options: { operationId: 'preflight', responses: { 200: { description: 'OK' } } } }

let made: GeneratedClient
let version: Version
beforeAll(async () => {
  made = await generateClient(
    {
      openapi: '3.1.0',
      info: { title: 'Forms', version: '2030-01-01' },
      paths: { ...PATHS, '/preflight': OPTIONS },
      components: { schemas: { Both: object({ id: text }, { required: ['id'] }) } },
    },
    ['types', 'validators', 'routes', 'handlers'],
  )
  version = ((await import(`${made.out}/2030-01-01/routes.ts`)) as { version: Version }).version
}, 60_000)
afterAll(() => made.remove())

const formsOf = (id: string) => version.operations.find((each) => each.id === id)!.forms!

/** @returns what the server reads of a call of the client. */
async function send(id: string, body: object): Promise<Record<string, unknown>> {
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>()
  const server = createServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray())
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    readForm(formsOf(id), request.headers['content-type'], bytes).then(resolve, reject)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [read] = await Promise.all([promise, made.createClient({ baseUrl })[id]!({ body })])
  return read
}

const plain = {
  id: 'a&b=ü "c"\r\n',
  count: 2,
  paid: true,
  rate: 1.5,
  tags: ['x', 'true'],
  counts: [1],
  address: { street: 'é', zip: '1' },
}

test.each([
  ['form', { ...plain, id: 'a&b=c+d é', color: { R: 1 } }],
  ['parts', { ...plain, places: [{ zip: '1' }, { zip: '2' }] }],
  ['open', { a: 'b', c: 'd' }],
  ['both', undefined],
])('%s: text, numbers, lists and objects are read as they were given', async (id, body) => {
  if (body) expect(await send(id, body)).toEqual(body)
  else expect(await readForm(formsOf(id), FORM, Buffer.from('id=1'))).toEqual({ id: '1' })
})

test('files are read byte by byte, with their names and media types', async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
  const png = new File([bytes], 'a "b".png', { type: 'image/png' })
  const read = await send('parts', { id: 'a', file: bytes, files: [bytes, png], picture: png, anything: png })
  expect(Object.keys(read)).toEqual(['id', 'file', 'files', 'picture', 'anything'])
  const [first, second] = read.files as [File, File]
  for (const each of [read.file, first, second, read.picture, read.anything] as Blob[])
    expect(new Uint8Array(await each.arrayBuffer())).toEqual(bytes)
  expect([second.name, second.type, (read.file as File).type]).toEqual([
    'a "b".png',
    'image/png',
    'application/octet-stream',
  ])
})

const BOUNDARY = 'edge'
const part = (name: string, value: string, more = '') =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
const multipart = (...all: readonly string[]) => `${all.join('')}--${BOUNDARY}--\r\n`
const file = (type: string) => `; filename="a"\r\nContent-Type: ${type}`

const nested = `${'['.repeat(40)}${']'.repeat(40)}`

const REFUSED: readonly (readonly [id: string, body: string, want: string])[] = [
  ['form', 'count=two', 'count must be a whole number'],
  ['form', 'count=0', 'does not match its schema'],
  ['form', 'counts=1&counts=x', 'counts[1] must be a whole number'],
  ['form', 'id=a&id=b', 'id must occur only once'],
  ['form', 'id=%', 'id is not percent-encoded UTF-8 text'],
  ['form', 'id=\xff', 'the body is not UTF-8 text'],
  ['form', 'id=%00', 'id is not percent-encoded UTF-8 text'],
  ['form', 'address={', 'address must be valid JSON'],
  ['form', `address=${nested}`, `address${'[0]'.repeat(32)} is nested deeper than 32 levels`],
  ['form', 'address={"__proto__":{}}', 'address.__proto__ is not allowed as a name'],
  ['form', '__proto__=a', '__proto__ is not allowed as a name'],
  ['form', 'other=a', 'does not match its schema'],
  ['form', 'other=a&other=b', 'other must occur only once'],
  ['form', 'color[R]=1&color[R]=2', 'color.R must occur only once'],
  ['form', 'tags=a&tags=b&tags=c&tags=d', 'does not match its schema'],
  ['form', 'a=&'.repeat(1002), 'the body must not have more than 1000 parts'],
  ['form', `id=${'a'.repeat(17 * 1024 * 1024)}`, 'the body must not have more than 16777216 bytes'],
  ['parts', multipart(part('count', 'two')), 'count must be a whole number'],
  ['parts', multipart(part('id', 'a'), part('id', 'b')), 'id must occur only once'],
  ['parts', multipart(part('id', 'a\0')), 'id must not contain U+0000'],
  ['parts', multipart(part('id', '\xff', file('text/plain'))), 'id is not UTF-8 text'],
  ['parts', multipart(part('address', 'x', file('application/json'))), 'address must be valid JSON'],
  ['parts', multipart(part('places', '{"zip":1}')), 'does not match its schema'],
  ['parts', multipart(part('__proto__', 'a')), '__proto__ is not allowed as a name'],
  ['parts', multipart(part('other', 'a')), 'does not match its schema'],
  ['parts', multipart(part('small', 'four', file('a/b'))), 'does not match its schema'],
  ['parts', multipart(part('file', '\xff')), 'file must have a filename, because it is not text'],
  [
    'parts',
    multipart(part('picture', '', file('text/plain'))),
    'picture must be a file of image/png or image/jpeg',
  ],
  ['parts', multipart(...Array(1001).fill(part('tags', 'a'))), 'the body must not have more than 1000 parts'],
  ['parts', part('id', 'a'), 'the body is not well-formed multipart/form-data'],
  ['parts', 'id=a', 'the body is not well-formed multipart/form-data'],
]

test.each(REFUSED.map((row) => [row[0], row[1].slice(0, 60), row] as const))(
  '%s: %j is refused',
  async (_id, _shown, [id, body, want]) => {
    const type = id === 'form' ? FORM : `${MULTIPART}; boundary=${BOUNDARY}`
    const refused = await readForm(formsOf(id), type, Buffer.from(body, 'latin1')).catch(
      (error: unknown) => error,
    )
    expect(refused).toBeInstanceOf(FormError)
    expect((refused as FormError).message).toContain(want)
  },
)

test.each([undefined, 'application/json', MULTIPART, 'multipart/mixed; boundary=a'])(
  'the media type %s is refused before the body is read',
  async (type) => {
    await expect(readForm(formsOf('parts'), type, Buffer.alloc(0))).rejects.toMatchObject({ reason: 'media' })
  },
)

test('an open form takes fields that it does not name, and inherits none', async () => {
  const read = await readForm(formsOf('open'), FORM, Buffer.from('constructor=a&b=c'))
  expect([Object.keys(read), Object.hasOwn(read, 'toString')]).toEqual([['constructor', 'b'], false])
})

test('generated code compiles: files are Blobs, JSON and a form that are described alike are one type', () => {
  expect(made.read('canonical/handlers.ts')).toContain('both(context: Context, input: { body: Both })')
  const program = `
import type { Handlers } from './canonical/handlers.ts'
export { version } from './2030-01-01/routes.ts'
type Parts = Parameters<Handlers<object>['parts']>[1]['body']
export const read = (body: Parts): [Blob | undefined, Blob[] | undefined, number | undefined] => [body.file, body.files, body.count]
export const wrong = (body: Parts): string | undefined => body.file // wrong
`
  expect(made.compile(program).map((each) => each.slice(0, each.indexOf('// wrong') + 8))).toEqual(
    program.split('\n').filter((line) => line.endsWith('// wrong')),
  )
  expect(made.findings.filter(({ code }) => code === 'body-not-validated')).toEqual([])
})
