/** `dateline mock`: records over real HTTP, in every version, from documents and changes alone. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MockCommandOptions, mock } from '../../generators/cli/mock.ts'
import { openRun, UsageError } from '../../generators/cli/run.ts'
import { readPreference } from '../../generators/mock/prefer.ts'

const SHOP = 'test/golden/mock-records/dateline.config.json'
const LIBRARY = 'test/toolkit/foreign/dateline.config.json'

/** Starts a mock in this process. */
async function start(config: string, options: MockCommandOptions = {}) {
  const stop = new AbortController()
  const lines: string[] = []
  const started = Promise.withResolvers<string>()
  const terminal = {
    error: () => undefined,
    out(line: string) {
      lines.push(line)
      const [base] = /http:\/\/[\d.:]+/.exec(line) ?? []
      if (base !== undefined) started.resolve(base)
    },
  }
  const ended = mock(await openRun(config, terminal), { port: '0', ...options }, stop.signal)
  const base = await Promise.race([started.promise, ended.then(() => Promise.reject('it ended'))])
  const end = async () => {
    stop.abort()
    return ended
  }
  return { base, lines, end }
}

async function ask(url: string, method = 'GET', body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

describe('records of one version', () => {
  let served: Awaited<ReturnType<typeof start>>
  const at = (path: string) => `${served.base}${path}`
  beforeAll(async () => {
    served = await start(SHOP)
  })
  afterAll(() => served.end())

  test('a created record is shown, changed and listed until it is deleted', async () => {
    const created = await ask(at('/orders'), 'POST', { cents: 250 })
    expect(created).toMatchObject({
      status: 201,
      body: { id: expect.stringMatching(/^ord_[a-z0-9]{8}$/), cents: 250 },
    })
    // The caller gave no note, so the example of the document is not a value of this record.
    expect(created.body).not.toHaveProperty('note')
    const order = at(`/orders/${created.body.id}`)
    expect((await ask(order)).body).toEqual(created.body)
    const changed = await ask(order, 'PATCH', { note: 'fragile', state: 'paid' })
    expect(changed.body).toEqual({ ...created.body, note: 'fragile', state: 'paid' })
    expect((await ask(at('/orders?state=paid'))).body.data).toEqual([changed.body])
    expect((await ask(order, 'DELETE')).status).toBe(204)
    expect(await ask(order)).toMatchObject({ status: 404, body: { error: 'no_order' } })
    expect((await ask(at('/orders?state=paid'))).body.data).toEqual([])
  })

  test('a list has pages, whose cursors lead through all records once', async () => {
    for (let cents = 1; cents <= 4; cents++) await ask(at('/orders'), 'POST', { cents })
    const all = (await ask(at('/orders?limit=50'))).body.data.map(({ id }: { id: string }) => id)
    const found: string[] = []
    let cursor: string | null = null
    do {
      const { body } = await ask(at(`/orders?limit=2${cursor === null ? '' : `&starting_after=${cursor}`}`))
      expect(body.data.length).toBeLessThanOrEqual(2)
      expect(body.has_more).toBe(body.next_cursor !== null)
      found.push(...body.data.map(({ id }: { id: string }) => id))
      cursor = body.next_cursor
    } while (cursor !== null)
    expect(found).toEqual(all)
    expect(all.length).toBeGreaterThanOrEqual(5)
  })

  test('a request is validated as a server does', async () => {
    expect(await ask(at('/orders'), 'POST', { cents: 0 })).toMatchObject({
      status: 422,
      body: { code: 'invalid_body', errors: [{ field: 'cents', issue: 'must be at least 1' }] },
    })
    expect((await ask(at('/orders?limit=51'))).status).toBe(400)
    expect((await ask(at('/orders/ord_1'))).body.code).toBe('invalid_parameter')
  })

  test('`Prefer` selects a documented response and an example by its name', async () => {
    const prefer = (preference: string) => ask(at('/orders'), 'POST', { cents: 1 }, { prefer: preference })
    expect(await prefer('code=409')).toMatchObject({ status: 409, body: { error: 'sold out' } })
    expect(await prefer('code=409, example=closed')).toMatchObject({
      status: 409,
      body: { error: 'shop closed' },
    })
    expect((await prefer('code=418')).body.title).toContain('createOrder has no response 418')
    expect((await prefer('code=409, example=other')).body.title).toContain('has no example other')
  })

  test('the same seed gives the same records, a different seed different ones', async () => {
    const listed = async (seed: string) => {
      const other = await start(SHOP, { seed })
      const { body } = await ask(`${other.base}/orders`)
      await other.end()
      return body
    }
    const [one, again, different] = [await listed('1'), await listed('1'), await listed('2')]
    expect(one.data).toHaveLength(1)
    expect(again).toEqual(one)
    expect(different).not.toEqual(one)
  })
})

describe('versions', () => {
  let served: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    served = await start(LIBRARY, { version: '2030-01-01' })
  })
  afterAll(() => served.end())

  test('a record created in the old version is shown in both, each in its own form', async () => {
    const made = await ask(`${served.base}/books`, 'POST', { title: 'Emma', pages: 474, shelf: 'upper' })
    expect(made).toMatchObject({ status: 201, body: { title: 'Emma', pages: 474, shelf: 'upper' } })
    expect(made.headers.get('library-version')).toBe('2030-01-01')
    const path = `/books/${made.body.id}`
    const newest = { id: made.body.id, name: 'Emma', pages: 474, shelf: 'top' }
    expect((await ask(`${served.base}/2030-06-01${path}`)).body).toEqual(newest)
    expect(
      (await ask(`${served.base}${path}`, 'GET', undefined, { 'library-version': '2030-06-01' })).body,
    ).toEqual(newest)
    const refused = await ask(`${served.base}/2030-01-01/books`, 'POST', { name: 'Emma', pages: 474 })
    expect(refused.body.errors).toContainEqual({ field: 'title', issue: 'is required' })
  })

  test('the first lines name the URL of each version and a command to try', () => {
    expect(served.lines).toEqual([
      `serving 2 versions at ${served.base}; requests without a version get 2030-01-01`,
      `  2030-01-01  ${served.base}/2030-01-01, or with Library-Version: 2030-01-01`,
      `  2030-06-01  ${served.base}/2030-06-01, or with Library-Version: 2030-06-01`,
      `try: curl -H 'Library-Version: 2030-01-01' ${served.base}/openapi/2030-01-01.json`,
      'stop with Ctrl+C; records are kept until then',
    ])
    expect(served.base).toMatch(/^http:\/\/127\.0\.0\.1:/)
  })
})

describe('the command', () => {
  test('a family with an unaccounted difference is not served', async () => {
    const config = 'test/golden/gate-unclaimed/dateline.config.json'
    const terminal = { out: () => undefined, error: () => undefined }
    const run = await openRun(config, terminal)
    await expect(mock(run, { port: '0' }, AbortSignal.abort())).rejects.toMatchObject({
      diagnostics: expect.arrayContaining([expect.objectContaining({ severity: 'error' })]),
    })
  })

  test('a port in use, and options that are not valid, are usage errors', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const terminal = { out: () => undefined, error: () => undefined }
    const refused = async (options: MockCommandOptions) =>
      expect(mock(await openRun(SHOP, terminal), options, AbortSignal.abort())).rejects
    await (await refused({ port: String(port) })).toThrow(
      new UsageError(`port ${port} is in use: choose a different one with --port, or 0 for any free port`),
    )
    await (await refused({ port: '-1' })).toThrow('--port must be an integer from 0 to 65535, not -1')
    await (await refused({ version: '2029-01-01' })).toThrow('there is no version 2029-01-01')
    taken.close()
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('it ends with exit code 0 after %s', async (signal) => {
    const child = spawn(process.execPath, ['generators/cli.ts', '--config', SHOP, 'mock', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exit = once(child, 'exit')
    await Promise.race([
      once(createInterface(child.stdout), 'line'),
      exit.then(() => Promise.reject('it ended')),
    ])
    child.kill(signal)
    expect(await exit).toEqual([0, null])
  })
})

test.each([
  [null, {}],
  ['code=404', { code: 404 }],
  ['respond-async, code="404"; example=first', { code: 404, example: 'first' }],
  ['code=4044', {}],
])('the preference %s', (header, want) => {
  expect(readPreference(header)).toEqual(want)
})
