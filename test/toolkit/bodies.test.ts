/** Bodies that are not JSON, end to end: forms with files, text and bytes, with generated clients of both versions. */
import { expect, test } from 'vitest'
import { createVersionedApi } from '../../generators/server/api.ts'
import { toNodeListener } from '../../generators/server/node.ts'
import documentOf2030 from '../golden/bodies/want/2030-01-01/openapi.json' with { type: 'json' }
import type { Handlers } from '../golden/bodies/want/canonical/handlers.ts'
import type { Photo } from '../golden/bodies/want/canonical/types.ts'
import * as old from '../golden/bodies/want/client/src/2030-01-01/index.ts'
import * as newest from '../golden/bodies/want/client/src/2030-06-01/index.ts'
import { versions } from '../golden/bodies/want/versions.ts'
import { listening } from './listening.ts'

const files = new Map<string, Blob>()
const photos: Photo[] = []

const handlers: Handlers<undefined> = {
  async uploadPhoto(_context, { body: { caption, file, stars, labels } }) {
    files.set(caption, file)
    const photo = {
      caption,
      bytes: file.size,
      ...(stars !== undefined && { stars }),
      ...(labels && { labels }),
    }
    photos.push(photo)
    return { status: 201, body: photo }
  },
  searchPhotos: async (_context, { body: { caption, stars } }) => ({
    status: 200,
    body: photos.filter((each) => each.caption === caption && (stars === undefined || each.stars === stars)),
  }),
  readFile: async (_context, { path }) => ({ status: 200, body: files.get(path.photo_id)! }),
  async replaceFile(_context, { path, body }) {
    files.set(path.photo_id, body)
    return { status: 200, body: { caption: `${path.photo_id} ${body.type}`, bytes: body.size } }
  },
  replaceNotes: async (_context, { body }) => ({ status: 200, body: body.toUpperCase() }),
}

const api = createVersionedApi({
  versions,
  handlers,
  context: () => undefined,
  documents: { '2030-01-01': async () => documentOf2030 },
})
const base = listening(toNodeListener(api))
const options = () => ({ baseUrl: base(), maxRetries: 0 })
const oldClient = () => old.createClient({ ...options(), headers: { 'Api-Version': '2030-01-01' } })
const newClient = () => newest.createClient(options())

const png = (bytes: number) => new File([new Uint8Array(bytes).fill(0xff)], 'ä.png', { type: 'image/png' })

test('a form with a file is uploaded in both versions, whose names of parts differ', async () => {
  const body = { stars: 5, labels: ['a', 'b'], file: png(100) }
  expect(await oldClient().uploadPhoto({ body: { title: 'sea', ...body } })).toEqual({
    title: 'sea',
    bytes: 100,
    stars: 5,
    labels: ['a', 'b'],
  })
  expect(await newClient().uploadPhoto({ body: { caption: 'lake', file: png(3) } })).toEqual({
    caption: 'lake',
    bytes: 3,
  })
  expect(files.get('sea')).toMatchObject({ name: 'ä.png', type: 'image/png' })
})

test.each([
  ['a part is missing', { file: png(1) } as { title: string; file: File }, 'title'],
  ['a file is too large', { title: 'sea', file: png(101) }, 'file'],
  [
    'a file has another type',
    { title: 'sea', file: new File(['a'], 'a.txt', { type: 'text/plain' }) },
    'file',
  ],
  ['a number is not one', { title: 'sea', file: png(1), stars: 'five' as unknown as number }, 'stars'],
])('a form is refused in the words of its version if %s', async (_what, body, field) => {
  await expect(oldClient().uploadPhoto({ body })).rejects.toMatchObject({
    status: 422,
    body: { errors: [{ field }] },
  })
})

test('an urlencoded form is translated', async () => {
  expect(await oldClient().searchPhotos({ body: { title: 'sea', stars: 5 } })).toMatchObject([
    { title: 'sea' },
  ])
  expect(await newClient().searchPhotos({ body: { caption: 'lake' } })).toMatchObject([{ caption: 'lake' }])
  await expect(oldClient().searchPhotos({ body: { title: 's' } })).rejects.toMatchObject({
    status: 422,
    body: { errors: [{ field: 'title' }] },
  })
})

test('bytes are sent and answered as they are, with their media type', async () => {
  const path = { photo_id: 'sea' }
  const bytes = new Uint8Array([0x89, 0x00, 0xff])
  expect(await newClient().replaceFile({ path, body: bytes })).toEqual({ caption: 'sea image/png', bytes: 3 })
  const { data, response } = await newClient().readFile({ path }).withResponse()
  expect(response.headers.get('content-type')).toBe('image/png')
  expect(new Uint8Array(await new Response(data).arrayBuffer())).toEqual(bytes)
  await expect(newClient().replaceFile({ path, body: png(101) })).rejects.toMatchObject({ status: 422 })
})

test('text is validated and answered as text; other media types are refused', async () => {
  const path = { photo_id: 'sea' }
  const answer = await newClient().replaceNotes({ path, body: 'größer' })
  expect(await new Response(answer).text()).toBe('GRÖSSER')
  await expect(newClient().replaceNotes({ path, body: 'x'.repeat(41) })).rejects.toMatchObject({
    status: 422,
  })
  const refused = await fetch(`${base()}/photos/sea/notes`, {
    method: 'PUT',
    headers: { 'content-type': 'text/html' },
    body: 'a',
  })
  expect([refused.status, await refused.json()]).toMatchObject([
    415,
    { title: 'Send the body as text/plain.' },
  ])
})
