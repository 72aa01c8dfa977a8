/** `dateline replay`: HAR files and request logs, what breaks, what changes silently, and records that cannot be read. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { loadFamily, replay as replayFamily } from '../../generators/cli/library.ts'
import { createBatches, startThread } from '../../generators/cli/replay-threads.ts'
import { loadVersions } from '../../generators/cli/replay-versions.ts'
import { openRun } from '../../generators/cli/run.ts'
import { main } from '../../generators/cli.ts'
import { splitHar, splitLines } from '../../generators/replay/records.ts'
import { createReplayer, type Replayer } from '../../generators/replay/replayer.ts'

const folder = mkdtempSync(join(tmpdir(), 'dateline-replay-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Books: a renamed title, a price in cents, a removed parameter and operation, and a deprecated property. */
const documentOf = (version: string, book: string, more: string) => `openapi: 3.1.0
info: { title: Library, version: '${version}' }
servers: [{ url: https://library.example/api }]
paths:
  /books:
    post:
      operationId: createBook
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Book' } } } }
      responses:
        '201': { description: The book, content: { application/json: { schema: { $ref: '#/components/schemas/Book' } } } }
${more}
components:
  schemas:
    Book:
      type: object
      additionalProperties: false
${book}`

const OLD = documentOf(
  '2030-01-01',
  `      required: [title, price]
      properties:
        title: { type: string }
        price: { type: integer, description: In euros }
        shelf: { type: string, deprecated: true }
`,
  `    get:
      operationId: listBooks
      deprecated: true
      parameters: [{ name: sort, in: query, schema: { type: string } }]
      responses: { '204': { description: None } }
  /books/{id}/lend:
    post:
      operationId: lendBook
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { '204': { description: Lent } }
`,
)

const NEW = documentOf(
  '2030-06-01',
  `      required: [name, price]
      properties:
        name: { type: string }
        price: { type: integer, description: In cents }
        shelf: { type: string, deprecated: true }
`,
  `    get:
      operationId: listBooks
      deprecated: true
      responses: { '204': { description: None } }
`,
)

const CHANGES = {
  'name-books': `v.rename(['Book'], 'title', 'name')`,
  'price-in-cents': `v.convert(['Book'], 'price', { up: (euros) => euros * 100, down: (cents) => cents / 100 })`,
  'drop-lending': `v.accept('operation-removed')`,
  'drop-sort': `v.ignoredParameter('query', 'sort', 'listBooks')`,
}

function writeFamily(): string {
  mkdirSync(join(folder, 'openapi'), { recursive: true })
  mkdirSync(join(folder, 'versions/2030-06-01'), { recursive: true })
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  symlinkSync(resolve('generators'), join(folder, 'node_modules/dateline'))
  writeFileSync(join(folder, 'openapi/2030-01-01.yaml'), OLD)
  writeFileSync(join(folder, 'openapi/2030-06-01.yaml'), NEW)
  for (const [id, lens] of Object.entries(CHANGES))
    writeFileSync(
      join(folder, `versions/2030-06-01/${id}.ts`),
      `import { between } from 'dateline/change'\nconst v = between()\nexport default v.change({ id: '${id}', why: 'Test', lenses: [${lens}] })\n`,
    )
  const file = join(folder, 'dateline.config.json')
  writeFileSync(file, JSON.stringify({ documents: './openapi', versions: './versions', out: './out' }))
  return file
}

const config = writeFamily()
const silent = { out: () => undefined, error: () => undefined }

async function replay(name: string, content: string | Buffer, ...more: string[]) {
  const file = join(folder, name)
  writeFileSync(file, content)
  const lines: string[] = []
  const out = (line: string) => lines.push(line.replaceAll(`${folder}/`, ''))
  const exit = await main(['--config', config, 'replay', file, '--from', '2030-01-01', ...more], {
    out,
    error: out,
  })
  return { exit, text: lines.join('\n') }
}

const entry = (method: string, path: string, key: string, body?: object, answer?: object) => ({
  request: {
    method,
    url: `https://library.example/api${path}`,
    headers: [{ name: 'Authorization', value: `Bearer ${key}` }],
    ...(body && { postData: { mimeType: 'application/json; charset=utf-8', text: JSON.stringify(body) } }),
  },
  response: {
    status: answer ? 201 : 204,
    content: answer ? { mimeType: 'application/json', text: JSON.stringify(answer) } : {},
  },
})

test('a HAR file shows what breaks, what changes silently and what is deprecated, per caller, and no key', async () => {
  const emma = { title: 'Emma', price: 12 }
  const entries = [
    entry('POST', '/books', 'first', emma, emma),
    entry('POST', '/books', 'first', { ...emma, shelf: 'A' }),
    entry('GET', '/books?sort=name', 'second'),
    entry('POST', '/books/1/lend', 'second'),
    entry('POST', '/books', 'second', { title: 'Emma' }),
    entry('GET', '/elsewhere', 'second'),
    { request: 'not an entry' },
  ]
  const { exit, text } = await replay(
    'traffic.har',
    JSON.stringify({ log: { version: '1.2', entries } }, null, 1),
  )
  expect(
    text,
  ).toBe(`2030-01-01 → 2030-06-01: replayed 5 exchanges of 2 callers; left out 1 of no operation, 1 unreadable

Breaks: the later version refuses the request as it is sent
  createBook body.name is required: 2 exchanges, first traffic.har entry 1, 1 caller
  createBook body.title is not a known property: 2 exchanges, first traffic.har entry 1, 1 caller
  lendBook operation does not exist: 1 exchange, first traffic.har entry 4, 1 caller
  listBooks query.sort is not a known parameter: 1 exchange, first traffic.har entry 3, 1 caller

Silent: the later version accepts this as it is sent, but reads it otherwise
  createBook body.price has a different value: 2 exchanges, first traffic.har entry 1, 1 caller

Other changes of these requests
  createBook body.name is added: 2 exchanges, first traffic.har entry 1, 1 caller
  createBook body.title is removed: 2 exchanges, first traffic.har entry 1, 1 caller
  listBooks query.sort is removed: 1 exchange, first traffic.har entry 3, 1 caller

Changes of answers
  createBook answer.name is added: 1 exchange, first traffic.har entry 1, 1 caller
  createBook answer.price has a different value: 1 exchange, first traffic.har entry 1, 1 caller
  createBook answer.title is removed: 1 exchange, first traffic.har entry 1, 1 caller

Deprecated
  createBook body.shelf is deprecated: 1 exchange, first traffic.har entry 2, 1 caller
  listBooks operation is deprecated: 1 exchange, first traffic.har entry 3, 1 caller

Does not fit its own version
  createBook body.price is required: 1 exchange, first traffic.har entry 5, 1 caller

Callers
  key 5431204c6713: 2 exchanges
    breaks createBook body.name is required: 2
    breaks createBook body.title is not a known property: 2
    silent createBook body.price has a different value: 2
    deprecated createBook body.shelf is deprecated: 1
  key afa7c16c1d91: 3 exchanges
    breaks lendBook operation does not exist: 1
    breaks listBooks query.sort is not a known parameter: 1
    deprecated listBooks operation is deprecated: 1
    invalid createBook body.price is required: 1

Unreadable
  traffic.har entry 7 has no \`request\` with a \`method\` and \`url\``)
  expect(exit).toBe(0)
})

test('a compressed request log is read line by line, and bad lines stop nothing', async () => {
  const row = (more: object) => JSON.stringify({ method: 'POST', target: '/books', caller: 'shop', ...more })
  const lines = [
    row({ request_body: JSON.stringify({ title: 'Emma', price: '[redacted]' }), version: '2030-01-01' }),
    '{"method":"POST"',
    '[]',
    '',
    row({ request_body: { title: 'Emma', price: 1 }, version: '2030-06-01' }),
    row({
      method: 'GET',
      target: undefined,
      path: '/books',
      query: 'sort=name',
      key_id: 'key_1',
      caller: undefined,
    }),
    row({ request_body: '{"title": "cut off at the limit of the log…', status: '201' }),
  ]
  const { exit, text } = await replay('log.ndjson.gz', gzipSync(lines.join('\n')), '--json')
  const report = JSON.parse(text)
  expect(exit).toBe(0)
  expect(report).toMatchObject({ records: 6, replayed: 3, otherVersion: 1, noOperation: 0, bad: 2 })
  expect(report.badRecords.map(({ at }: { at: string }) => at)).toEqual([
    'log.ndjson.gz:2',
    'log.ndjson.gz:3',
  ])
  expect(report.callers.map(({ caller }: { caller: string }) => caller)).toEqual(['shop', 'key_1'])
  // A redacted value is not compared with its schema.
  expect(report.findings.filter(({ kind }: { kind: string }) => kind === 'invalid')).toEqual([])
})

test('a request whose translation the later version refuses fails the command', async () => {
  const change = join(folder, 'versions/2030-06-01/price-in-cents.ts')
  const text = readFileSync(change, 'utf8')
  writeFileSync(change, text.replace('euros * 100', 'String(euros)'))
  const row = { method: 'POST', target: '/books', request_body: { title: 'Emma', price: 1 } }
  const found = await replay('one.ndjson', JSON.stringify(row))
  const library = await replayFamily(loadFamily(config), [join(folder, 'one.ndjson')], { from: '2030-01-01' })
  writeFileSync(change, text)
  expect(found.exit).toBe(1)
  expect(library).toMatchObject({ ok: false, data: { replayed: 1, to: '2030-06-01' } })
  expect(found.text).toContain('createBook body.price must be an integer: 1 exchange, first one.ndjson:1')
})

test('a lens that throws is a finding, and does not stop the replay', async () => {
  const change = join(folder, 'versions/2030-06-01/price-in-cents.ts')
  const text = readFileSync(change, 'utf8')
  writeFileSync(change, text.replace('euros * 100', "{ throw new Error('no rate') }"))
  const row = { method: 'POST', target: '/books', request_body: { title: 'Emma', price: 1 } }
  const found = await replay('two.ndjson', `${JSON.stringify(row)}\n${JSON.stringify(row)}`)
  writeFileSync(change, text)
  expect(found.text).toContain('createBook operation is not translated: no rate: 2 exchanges')
})

test('a thread replays batches as the main thread does', async () => {
  const options = { from: '2030-01-01' }
  const versions = await loadVersions(await openRun(config, silent), options)
  const [here, alone] = [1, 2].map(() => createReplayer(versions, { versionHeader: 'api-version' })) as [
    Replayer,
    Replayer,
  ]
  const thread = startThread({ config, options })
  const file = { file: 'log.ndjson', isHar: false }
  const batches = createBatches(file, here, [thread])
  const lines = [1, 2, 3].map((price) =>
    Buffer.from(
      JSON.stringify({
        method: 'POST',
        target: '/books',
        caller: 'shop',
        request_body: { title: 'Emma', price },
      }),
    ),
  )
  for (const [index, line] of [...lines, Buffer.from('{bad')].entries()) {
    batches.add(line, index + 1, index + 1)
    alone.replay(file, line, index + 1, index + 1)
    if (index % 2 === 1) await batches.flush()
  }
  expect(here.result().counts.replayed).toBe(0)
  expect(await thread.end()).toEqual(alone.result())
})

test('versions are checked before any traffic is read', async () => {
  expect(await replay('none.ndjson', '', '--to', '2030-01-01')).toEqual({
    exit: 2,
    text: '--to must be a later version than 2030-01-01',
  })
})

/** Splits a text given in chunks of a few bytes. */
function split(splitter: typeof splitHar, text: string, bytes: number): string[] {
  const found: string[] = []
  const { push, end } = splitter((record, at) =>
    found.push(`${at} ${Buffer.isBuffer(record) ? record.toString() : record.fault}`),
  )
  const all = Buffer.from(text)
  for (let start = 0; start < all.length; start += bytes) push(all.subarray(start, start + bytes))
  end()
  return found
}

test('entries of a HAR file are found wherever chunks end, and nowhere but in log.entries', () => {
  const first = { text: '"}]{[\\" entries', headers: [{ a: 1 }] }
  const har = JSON.stringify(
    { entries: [0], log: { pages: [{ entries: [{}] }], entries: [first, { é: 'ü' }], comment: '[{' } },
    null,
    2,
  )
  const indented = (value: object) => JSON.stringify(value, null, 2).replaceAll('\n', '\n      ')
  for (const bytes of [1, 3, 7, 1000])
    expect(split(splitHar, har, bytes)).toEqual([`1 ${indented(first)}`, `2 ${indented({ é: 'ü' })}`])
  expect(split(splitHar, '{"log":{"entries":[{"a":1},{"a":', 5)).toEqual([
    '1 {"a":1}',
    '2 is not complete: the file ends',
  ])
  expect(split(splitHar, '{"method":"GET"}', 5)).toEqual(['0 has no log.entries: this is not a HAR file'])
})

test('lines are found wherever chunks end', () => {
  for (const bytes of [1, 4, 1000])
    expect(split(splitLines, 'one\n\r\n\ntwo\r\nthree', bytes)).toEqual(['1 one', '4 two\r', '5 three'])
})
