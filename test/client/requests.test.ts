/** What the client sends, and what it makes of a success. */
import { expect, test } from 'vitest'
import { ClientError } from '../../generators/client-runtime/errors.ts'
import { clientOf, serve } from './scripted.ts'

const OK = { status: 200, body: { id: 'a' } }
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('a request carries the version of the subpath, the key, and a body of JSON', async () => {
  const server = await serve({ status: 201, body: { id: 'a' } })
  const made = await clientOf(server).createThing({ body: { name: 'é' } })
  expect(made).toEqual({ id: 'a' })
  const [{ method, url, headers, body }] = server.received as [(typeof server.received)[0]]
  expect([method, url, body]).toEqual(['POST', '/things', '{"name":"é"}'])
  expect(headers).toMatchObject({
    accept: 'application/json',
    'api-version': '2030-01-01',
    authorization: 'Bearer key_1',
    'content-type': 'application/json',
  })
  expect(headers['idempotency-key']).toMatch(UUID)
})

test('every call has an idempotency key of its own, unless it is given one', async () => {
  const server = await serve(OK)
  const client = clientOf(server)
  await client.createThing({ body: {} })
  await client.createThing({ body: {} })
  await client.createThing({ body: {}, idempotencyKey: 'mine' })
  await client.pingThing()
  const keys = server.received.map(({ headers }) => headers['idempotency-key'])
  expect(keys[0]).not.toBe(keys[1])
  expect(keys.slice(2)).toEqual(['mine', undefined])
})

test('path and query are spelt as URLs spell them', async () => {
  const server = await serve(OK)
  const client = clientOf({ ...server, baseUrl: `${server.baseUrl}/` })
  await client.getThing({ path: { id: 'a/b c' } })
  await client.listThings({
    query: { 'created[gte]': '2030-01-01T00:00:00+01:00', kind: ['x', 'y'], no: undefined },
  })
  expect(server.received.map(({ url }) => url)).toEqual([
    '/things/a%2Fb%20c',
    '/things?created[gte]=2030-01-01T00%3A00%3A00%2B01%3A00&kind=x&kind=y',
  ])
})

test.each(['', '.', '..', undefined, null])(
  'a path parameter %j would reach another operation',
  async (id) => {
    const server = await serve(OK)
    await expect(clientOf(server).getThing({ path: { id } })).rejects.toThrow(ClientError)
    expect(server.received).toEqual([])
  },
)

test('headers of a call stand over those of the client, the version over both', async () => {
  const server = await serve(OK)
  const client = clientOf(server, { headers: { 'X-One': '1', 'X-Two': '1', 'Api-Version': '1999-01-01' } })
  await client.getThing({ path: { id: 'a' }, headers: { 'X-Two': '2', 'Api-Version': '1998-01-01' } })
  expect(server.received[0]?.headers).toMatchObject({
    'x-one': '1',
    'x-two': '2',
    'api-version': '2030-01-01',
  })
})

test('a key that is a function is asked before each call', async () => {
  const server = await serve(OK)
  let asked = 0
  const client = clientOf(server, { apiKey: async () => `token_${++asked}` })
  await client.getThing({ path: { id: 'a' } })
  await client.getThing({ path: { id: 'a' } })
  expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer token_1',
    'Bearer token_2',
  ])
})

test('withResponse gives status, headers and request id beside the body', async () => {
  const server = await serve({ ...OK, headers: { 'Request-Id': 'req_1' } })
  const call = clientOf(server).getThing({ path: { id: 'a' } })
  const { data, response, requestId } = await call.withResponse()
  expect([data, response.status, requestId]).toEqual([{ id: 'a' }, 200, 'req_1'])
  expect(await call).toEqual({ id: 'a' })
  expect(server.received).toHaveLength(1)
})

test('an answer without a body is undefined', async () => {
  const server = await serve((response) => response.writeHead(204).end())
  expect(await clientOf(server).deleteThing({ path: { id: 'a' } })).toBeUndefined()
})

test('an answer that is not JSON is handed on as it arrives', async () => {
  let finish = () => {}
  const server = await serve((response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write('data: 1\n\n')
    finish = () => void response.end('data: 2\n\n')
  })
  const reader = (await clientOf(server).watchThings()).getReader()
  const first = await reader.read()
  expect(new TextDecoder().decode(first.value)).toBe('data: 1\n\n')
  finish()
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('data: 2\n\n')
  expect((await reader.read()).done).toBe(true)
})

test('the client sends and reads bodies of other media types', async () => {
  const server = await serve(OK)
  const client = clientOf(server)
  await client.sendForm({ body: { a: '1 2', b: ['x', 'y'], c: undefined } })
  await client.sendParts({ body: { name: 'n', file: new Blob(['bytes']) } })
  await client.sendBytes({ body: new Uint8Array([65, 66]) })
  const [form, parts, bytes] = server.received
  expect(form?.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/)
  expect(form?.body).toBe('a=1+2&b=x&b=y')
  expect(parts?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
  expect(parts?.body).toContain('bytes')
  expect([bytes?.headers['content-type'], bytes?.body]).toEqual(['application/octet-stream', 'AB'])
})
