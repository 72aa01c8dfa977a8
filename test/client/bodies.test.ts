/** Bodies as the specification writes them: OpenAPI 3.1, "Encoding Object"; RFC 7578 for multipart, RFC 1866 for forms. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GeneratedClient, generateClient } from './generated-from.ts'
import { serve } from './scripted.ts'

const text = { type: 'string' }
const object = (properties: object) => ({ type: 'object', properties })
const address = object({ street: text, zip: text })
const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data'
const XML = 'application/xml'

const post = (operationId: string, content: object, method = 'post') => ({
  [method]: {
    operationId,
    requestBody: { required: true, content },
    responses: {
      200: { description: 'OK', content: { 'application/json': { schema: { type: 'object' } } } },
    },
  },
})
const only = (mediaType: string, schema: object, encoding?: object) => ({
  [mediaType]: { schema, ...(encoding && { encoding }) },
})

const parts = object({
  id: text,
  count: { type: 'integer' },
  address,
  tags: { type: 'array', items: text },
  places: { type: 'array', items: address },
  file: { type: 'string', format: 'binary' },
  files: { type: 'array', items: { type: 'string', format: 'binary' } },
})
const fields = object({ id: text, address, tags: { type: 'array', items: text }, color: address })

const PATHS = {
  '/form': post('form', only(FORM, fields)),
  '/styled': post(
    'styled',
    only(FORM, fields, {
      tags: { style: 'pipeDelimited', explode: false },
      color: { style: 'deepObject', explode: true },
      address: { explode: true },
    }),
  ),
  '/parts': post('parts', only(MULTIPART, parts)),
  '/typed': post(
    'typed',
    only(MULTIPART, parts, {
      id: { contentType: 'text/csv' },
      places: { contentType: 'application/json' },
      file: { contentType: 'image/png, image/jpeg' },
      count: { contentType: 'application/vnd.count+json' },
    }),
  ),
  '/patch': post('patch', only('application/merge-patch+json', address), 'patch'),
  '/anything': post('anything', only('*/*', address)),
  '/image': post('image', only('image/*', text)),
  '/several': post('several', { ...only(XML, address), ...only(FORM, address), ...only(MULTIPART, address) }),
  '/xml': post('xml', only(XML, address)),
  '/mixed': post('mixed', only('multipart/mixed', address)),
  '/odd': post('odd', only(MULTIPART, parts, { address: { contentType: XML }, tags: { style: 'form' } })),
  '/oddForm': post('oddForm', only(FORM, fields, { address: { style: 'spaceDelimited', explode: true } })),
  '/headed': post('headed', only(MULTIPART, parts, { id: { headers: { 'X-A': { schema: text } } } })),
  '/sought': post('sought', only('application/json', address), 'get'),
}

let made: GeneratedClient
beforeAll(async () => {
  made = await generateClient({
    openapi: '3.1.0',
    info: { title: 'Bodies', version: '2030-01-01' },
    paths: PATHS,
  })
}, 60_000)
afterAll(() => made.remove())

/** @returns what is sent: the media type, its boundary written as B, and the body. */
async function send(id: string, body: unknown): Promise<readonly [string, string]> {
  const server = await serve({ status: 200, body: {} })
  await made.createClient({ baseUrl: server.baseUrl })[id]!({ body })
  const { headers, body: sent } = server.received[0]!
  const type = headers['content-type'] ?? ''
  const boundary = /boundary=(.*)$/.exec(type)?.[1]
  const named = (each: string) => (boundary === undefined ? each : each.replaceAll(boundary, 'B'))
  return [named(type), named(sent)]
}

const home = { street: 'Main & 1', zip: 'é' }
const homeJson = '{"street":"Main & 1","zip":"é"}'
const encodedHome = '%7B%22street%22%3A%22Main+%26+1%22%2C%22zip%22%3A%22%C3%A9%22%7D'

test.each([
  [
    'a list repeats its name, an object is JSON',
    'form',
    { id: 'a b', address: home, tags: ['x', 'y'], color: undefined },
    `id=a+b&address=${encodedHome}&tags=x&tags=y`,
  ],
  [
    'a style of its encoding counts',
    'styled',
    { id: 'a b', tags: ['x', 'y'], color: home, address: home },
    'id=a+b&tags=x%7Cy&color%5Bstreet%5D=Main%20%26%201&color%5Bzip%5D=%C3%A9&street=Main%20%26%201&zip=%C3%A9',
  ],
  ['a form without anything', 'form', {}, ''],
])('the client writes a body: %s, as a %s', async (_what, id, body, want) => {
  expect(await send(id, body)).toEqual([FORM, want])
})

const disposition = (name: string, file?: string) =>
  `--B\r\nContent-Disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"`}\r\n`

test.each<readonly [string, string, () => object, string]>([
  [
    'scalars are text, objects are JSON, lists are parts of one name',
    'parts',
    () => ({ id: 'a', count: 1, address: home, tags: ['x', 'y'], places: [home], none: undefined }),
    `${disposition('id')}\r\na\r\n${disposition('count')}\r\n1\r\n` +
      `${disposition('address')}Content-Type: application/json\r\n\r\n${homeJson}\r\n` +
      `${disposition('tags')}\r\nx\r\n${disposition('tags')}\r\ny\r\n` +
      `${disposition('places')}Content-Type: application/json\r\n\r\n${homeJson}\r\n--B--\r\n`,
  ],
  [
    'files keep their name and type',
    'parts',
    () => ({
      file: new File(['F'], 'a"b.png', { type: 'image/png' }),
      files: [new Blob(['G']), new Uint8Array([72])],
    }),
    `${disposition('file', 'a%22b.png')}Content-Type: image/png\r\n\r\nF\r\n` +
      `${disposition('files', 'blob')}Content-Type: application/octet-stream\r\n\r\nG\r\n` +
      `${disposition('files', 'blob')}Content-Type: application/octet-stream\r\n\r\nH\r\n--B--\r\n`,
  ],
  [
    'media types of the encoding count',
    'typed',
    () => ({ id: 'a,b', places: [home], count: 1, file: new Blob(['J'], { type: 'image/jpeg' }) }),
    `${disposition('id')}Content-Type: text/csv\r\n\r\na,b\r\n` +
      `${disposition('places')}Content-Type: application/json\r\n\r\n[${homeJson}]\r\n` +
      `${disposition('count')}Content-Type: application/vnd.count+json\r\n\r\n1\r\n` +
      `${disposition('file', 'blob')}Content-Type: image/jpeg\r\n\r\nJ\r\n--B--\r\n`,
  ],
])('a multipart body of the client: %s', async (_what, id, body, want) => {
  expect(await send(id, body())).toEqual([`${MULTIPART}; boundary=B`, want])
})

test('a multipart body is one that other programs read', async () => {
  let sent: Response | undefined
  const client = made.createClient({
    baseUrl: 'http://127.0.0.1',
    fetch: async (request) => {
      const { headers } = request as Request
      sent = new Response(await (request as Request).arrayBuffer(), {
        headers: { 'Content-Type': headers.get('Content-Type')! },
      })
      return Response.json({})
    },
  })
  await client.parts!({ body: { id: 'é\r\n--', file: new File(['bytes'], 'n.txt'), address: home } })
  const form = await sent!.formData()
  expect([form.get('id'), form.get('address')]).toEqual(['é\r\n--', homeJson])
  expect(await (form.get('file') as File).text()).toBe('bytes')
})

test.each<readonly [string, unknown, string, string]>([
  ['patch', home, 'application/merge-patch+json', homeJson],
  ['anything', home, 'application/json', homeJson],
  ['image', new Blob(['P'], { type: 'image/png' }), 'image/png', 'P'],
  ['image', new Uint8Array([80]), 'application/octet-stream', 'P'],
  ['several', {}, `${MULTIPART}; boundary=B`, '--B--\r\n'],
  ['xml', '<a/>', XML, '<a/>'],
  ['mixed', 'written', 'multipart/mixed', 'written'],
])('the client sends the body of %s, %j, as %s', async (id, body, type, want) => {
  expect(await send(id, body)).toEqual([type, want])
})

test.each([
  ['xml', home],
  ['mixed', home],
  ['odd', { address: home }],
  ['odd', { tags: ['a'] }],
  ['oddForm', { address: home }],
])('%s is not sent as something else than it is: %j', async (id, body) => {
  const server = await serve({ status: 200, body: {} })
  await expect(made.createClient({ baseUrl: server.baseUrl })[id]!({ body })).rejects.toMatchObject({
    name: 'ClientError',
  })
  expect(server.received).toEqual([])
})

test('a body that the client does not write is found where it stands', () => {
  const found = made.findings.filter(({ code }) => code === 'client-body')
  const at = (path: string, type: string, method = 'post') =>
    `/paths/~1${path}/${method}/requestBody/content/${type.replaceAll('/', '~1')}`
  expect(found.map(({ place }) => place?.pointer)).toEqual([
    at('xml', XML),
    at('mixed', 'multipart/mixed'),
    at('odd', MULTIPART),
    at('odd', MULTIPART),
    at('oddForm', FORM),
    at('headed', MULTIPART),
    at('sought', 'application/json', 'get'),
  ])
  expect(found.map(({ message }) => message).join('\n')).toMatch(
    /the client does not encode application\/xml.*part address is an object with the media type application\/xml.*part tags has a style.*part address has `explode: true`.*part id has headers.*fetch does not allow a body with GET/s,
  )
})

test('the types take what is written', () => {
  const program = `
import { flatMethods } from './client/src/2030-01-01/flat.ts'
import { connect } from './client/src/2030-01-01/index.ts'
const client = flatMethods(connect({ baseUrl: '' }))
await client.parts({ body: { id: 'a', file: new Blob([]), files: [new Uint8Array(1), 'text'], address: { zip: 'z' } } })
await client.several({ body: { zip: 'z' } })
await client.patch({ body: { zip: 'z' } })
await client.anything({ body: { zip: 'z' } })
await client.xml({ body: '<a/>' })
await client.image({ body: new Blob([]) })
await client.parts({ body: { count: new Blob([]) } }) // wrong
await client.several({ body: '<a/>' }) // wrong
await client.xml({ body: { zip: 'z' } }) // wrong
`
  const wrong = made.compile(program).map((each) => each.slice(0, each.indexOf('// wrong') + 8))
  expect(wrong).toEqual(program.split('\n').filter((line) => line.endsWith('// wrong')))
})
