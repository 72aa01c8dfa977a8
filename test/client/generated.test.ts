/** The committed package: what the documents and the configuration make of the runtime, in every version. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as v1 from '../../generated/client/src/2025-06-01/index.ts'
import * as v2 from '../../generated/client/src/2025-11-01/index.ts'
import * as v3 from '../../generated/client/src/2026-02-01/index.ts'
import * as v4 from '../../generated/client/src/2026-05-19/index.ts'
import { createClient } from '../../generated/client/src/index.ts'
import { versions } from '../../generated/versions.ts'
import { notedClock, serve } from './scripted.ts'

const packages = { '2025-06-01': v1, '2025-11-01': v2, '2026-02-01': v3, '2026-05-19': v4 }

test('every version has its subpath, with a method for each operation', () => {
  expect(Object.keys(packages)).toEqual(versions.map(({ name }) => name))
  for (const { name, operations } of versions) {
    const client = packages[name as keyof typeof packages].createClient({ baseUrl: 'http://127.0.0.1' })
    expect(Object.keys(client).sort()).toEqual(operations.map(({ id }) => id).sort())
  }
})

test.each(versions)('$name shows an example of each call where it is declared', ({ name, operations }) => {
  const text = readFileSync(`generated/client/src/${name}/functions.ts`, 'utf8')
  const shown = [...text.matchAll(/@example\n \* ```ts\n \* await client\.(\w+)\(/g)].map(([, id]) => id)
  expect(shown).toEqual([...text.matchAll(/^export function (\w+)\(/gm)].map(([, id]) => id))
  expect(shown.toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
})

test.each(Object.entries(packages))(
  'the client of %s asks for its version, under a key',
  async (version, { createClient }) => {
    const server = await serve({ status: 201, body: {} })
    const client = createClient({ baseUrl: server.baseUrl, apiKey: 'svc_sk_1' })
    await client.createPass({ body: { template_id: 'tpl_1' } })
    expect(server.received[0]?.headers).toMatchObject({
      authorization: 'Bearer svc_sk_1',
      'service-version': version,
      'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  },
)

test('lists can be walked from 2026-02-01 on', () => {
  const walkable = Object.entries(packages).map(([version, { createClient }]) => {
    const list = createClient({
      baseUrl: 'http://127.0.0.1:1',
      maxRetries: 0,
      clock: notedClock(),
    }).listPasses()
    list.catch(() => {}) // nobody listens there
    return [version, Symbol.asyncIterator in list]
  })
  expect(walkable).toEqual([
    ['2025-06-01', false],
    ['2025-11-01', false],
    ['2026-02-01', true],
    ['2026-05-19', true],
  ])
})

test('a refusal is of the class of its type, the same in every version', async () => {
  const server = await serve({
    status: 404,
    body: { error: { type: 'not_found', code: 'not_found', message: 'No.' } },
  })
  const call = v1
    .createClient({ baseUrl: server.baseUrl, apiKey: 'k' })
    .getPass({ path: { pass_id: 'pass_1' } })
  await expect(call).rejects.toThrow(v4.NotFoundError)
})

test('one set of settings serves all versions, each asking for its own', async () => {
  const server = await serve({ status: 200, body: {} })
  const client = createClient({ baseUrl: server.baseUrl, apiKey: 'svc_sk_1' })
  await client.at('2025-06-01').getMe()
  await client.at('2026-05-19').getMe()
  await client.at('2025-06-01').getMe()
  const asked = server.received.map(({ headers }) => [headers['service-version'], headers.authorization])
  expect(asked).toEqual([
    ['2025-06-01', 'Bearer svc_sk_1'],
    ['2026-05-19', 'Bearer svc_sk_1'],
    ['2025-06-01', 'Bearer svc_sk_1'],
  ])
  expect(client.at('2025-11-01')).toBe(client.at('2025-11-01'))
})

test.each(['2024-01-01', 'constructor', '__proto__'])('there is no version %s', (version) => {
  const client = createClient({ baseUrl: 'http://127.0.0.1' })
  const known = versions.map(({ name }) => name).join(', ')
  expect(() => client.at(version as '2026-05-19')).toThrow(
    new v4.ClientError(`Version ${version} does not exist: expected one of ${known}`),
  )
})
