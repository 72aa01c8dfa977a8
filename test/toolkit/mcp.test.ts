/** `dateline mcp`: the client of the protocol calls tools of one version, on a mock that serves two. */
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { loadChanges } from '../../generators/change/load-changes.ts'
import { mcp } from '../../generators/cli/mcp.ts'
import { loadFamily, openRun, UsageError } from '../../generators/cli/run.ts'
import { wireOf } from '../../generators/emit/wire/wire.ts'
import { createDocsTools } from '../../generators/mcp/docs.ts'
import { selectTools, type ToolSelection } from '../../generators/mcp/selection.ts'
import { createTools, DOCS_TOOLS } from '../../generators/mcp/tools.ts'
import { createMock } from '../../generators/mock/mock.ts'
import { toNodeListener } from '../../generators/server/node.ts'

const LIBRARY = 'test/golden/mcp-tools/dateline.config.json'
const quiet = { out: () => undefined, error: () => undefined }

const server = createServer()
const requests: IncomingMessage[] = []
let url: string

beforeAll(async () => {
  const run = await openRun(LIBRARY, quiet)
  const apis = await loadFamily(run)
  const versions = apis.map(({ version }) => version)
  const changes = await loadChanges(run.config.versions, versions, run.report)
  server.on('request', (request) => requests.push(request))
  server.on(
    'request',
    toNodeListener(createMock(apis, changes, { seed: 1, ...(run.config.wire && { wire: run.config.wire }) })),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const clients: Client[] = []
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())))

const wordsOf = (...options: readonly string[]) => [
  ...['generators/cli.ts', '--config', LIBRARY, 'mcp', '--base-url', url],
  ...options,
]

/** Starts the command as clients of the protocol do. */
async function open(...options: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  clients.push(client)
  const env = { PATH: process.env.PATH ?? '', DATELINE_API_KEY: 'secret' }
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: wordsOf(...options), env, stderr: 'ignore' }),
  )
  return client
}

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)

const textOf = ({ content }: Awaited<ReturnType<Client['callTool']>>) =>
  content.map((each) => (each.type === 'text' ? each.text : each.type)).join('\n')

describe('tools', () => {
  test('are described by the document of their version', async () => {
    const client = await open('--version', '2030-01-01', '--allow', 'createBook')
    expect(client.getServerVersion()).toMatchObject({ name: 'Library', version: '2030-01-01' })
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'listBooks')).toMatchObject({
      title: 'List books',
      description: 'List books\n\nNewest first.\n\nGET /books',
      annotations: { readOnlyHint: true, destructiveHint: false },
      inputSchema: {
        type: 'object',
        properties: {
          limit: { type: 'integer', minimum: 1, maximum: 50, default: 10, description: 'Books per page.' },
          added_gte: { type: 'string', format: 'date', examples: ['2030-01-31'] },
        },
        additionalProperties: false,
      },
    })
    const { inputSchema, outputSchema, annotations } = tools.find(({ name }) => name === 'createBook')!
    expect(annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false })
    expect(inputSchema).toEqual({
      type: 'object',
      properties: { body: { $ref: '#/$defs/BookCreate', examples: [{ title: 'Emma', shelf: 'upper' }] } },
      required: ['body'],
      additionalProperties: false,
      $defs: {
        BookCreate: {
          type: 'object',
          properties: {
            title: { type: 'string', minLength: 1, description: 'As on the cover.' },
            shelf: { $ref: '#/$defs/Shelf' },
          },
          required: ['title'],
          additionalProperties: false,
        },
        Shelf: { enum: ['upper', 'lower'], description: 'Where it is.' },
      },
    })
    expect(outputSchema).toMatchObject({ type: 'object', $ref: '#/$defs/Book' })
  })

  test('only read by default, and leave out streams', async () => {
    expect(await namesOf(await open())).toEqual([...DOCS_TOOLS, 'listBooks', 'getBook', 'listFines'])
  })

  test.each<[Partial<ToolSelection>, readonly string[]]>([
    [{ allowed: ['createBook'] }, ['listBooks', 'createBook', 'getBook', 'listFines']],
    [{ allowed: ['books'] }, ['listBooks', 'createBook', 'getBook', 'deleteBook', 'listFines']],
    [{ allowed: ['write', 'admin'], tags: ['books'] }, ['listBooks', 'createBook', 'getBook', 'deleteBook']],
    [{ allowed: ['books'], scopes: ['write'] }, ['listBooks', 'createBook', 'getBook']],
    [{ tags: ['fines'] }, ['listFines']],
  ])('are selected by %j', async (selection, names) => {
    const [api] = await loadFamily(await openRun(LIBRARY, quiet))
    const selected = selectTools(createTools(api!, wireOf({})), {
      tags: [],
      allowed: [],
      scopes: undefined,
      ...selection,
    })
    expect(selected.map(({ tool }) => tool.name)).toEqual(names)
  })
})

test('the documentation is searched, and its pages, sections and operations are read', async () => {
  const client = await open()
  const call = async (name: string, given: Record<string, unknown>) => {
    const { isError = false, ...result } = await client.callTool({ name, arguments: given })
    return [isError, textOf({ ...result })] as const
  }
  const [, found] = await call('search_docs', { words: 'cover' })
  expect(found).toBe('- [Add a book](/docs/2030-06-01/books#createBook): books')
  const [, section] = await call('read_docs', { page: '/docs/2030-06-01/books#schema-Book' })
  expect(section).toMatch(/^### Book object\n[\s\S]*`name` string/)
  const [, operation] = await call('read_docs', { page: 'getBook' })
  expect(operation).toMatch(/^## Show a book\n\nGET `\/books\/\{book_id\}`\n/)
  expect(operation).not.toContain('Remove a book')
  const [, index] = await call('read_docs', {})
  expect(index).toContain('(/docs/2030-01-01/books.md)')
  expect((await call('read_docs', { page: '/docs/2030-01-01/books.md' }))[1]).toMatch(/^# books\n/)
  expect(await call('read_docs', { page: '/docs/films' })).toEqual([
    true,
    'There is no page /docs/films. /docs/llms.txt lists all pages.',
  ])
  expect(await call('read_docs', { page: 'getFilm' })).toEqual([
    true,
    'There is no page getFilm. /docs/llms.txt lists all pages.',
  ])
  expect(await call('search_docs', {})).toEqual([
    true,
    'The arguments of search_docs are not valid:\nwords is required',
  ])
})

test('a section ends at the next heading, not at a comment in a sample', async () => {
  const page = ['# Start', '## 1. Get a key', '```sh', '# Keep it.', 'export KEY', '```', '## 2. Call', '']
  const pages = new Map([['/docs/start', page.join('\n')]])
  const [, read] = createDocsTools('1', async () => ({ pages, search: () => [] }))
  const { content } = await read!.call({ page: '/docs/start#get-a-key' }, AbortSignal.abort())
  expect(content).toEqual([{ type: 'text', text: page.slice(1, 6).join('\n') }])
})

test.each(['sk_live_1', 'SVC_PROD_1', 'live-1'])('the live key %s needs an option', async (key) => {
  const run = await openRun(LIBRARY, quiet)
  const start = (options: object) =>
    mcp(run, { keyEnv: 'KEY', port: '0', ...options }, AbortSignal.abort(), { KEY: key })
  await expect(start({})).rejects.toThrow('KEY is a live key: use the key of a sandbox, or add --live')
  expect(await start({ live: true })).toMatchObject({ data: { version: '2030-06-01' } })
})

describe('calls', () => {
  test('send and return the form of the pinned version, with the key of the environment', async () => {
    const client = await open(
      '--version',
      '2030-01-01',
      '--allow',
      'write',
      'deleteBook',
      '--scopes',
      'write,admin',
    )
    requests.length = 0
    const made = await client.callTool({ name: 'createBook', arguments: { body: { title: 'Emma' } } })
    expect(made.isError).toBeFalsy()
    const { id } = made.structuredContent as { id: string }
    expect(made.structuredContent).toEqual({ id, title: 'Emma' })
    expect(requests[0]!.headers).toMatchObject({
      authorization: 'Bearer secret',
      'library-version': '2030-01-01',
    })
    const newest = await open()
    const shown = await newest.callTool({ name: 'getBook', arguments: { book_id: id } })
    expect(shown.structuredContent).toEqual({ id, name: 'Emma' })
    expect(textOf(shown)).toBe(JSON.stringify({ id, name: 'Emma' }))
    const removed = await client.callTool({ name: 'deleteBook', arguments: { book_id: id } })
    expect([removed.isError ?? false, textOf(removed)]).toEqual([false, 'HTTP 204'])
  })

  test('fill in parameters whose names clients do not allow', async () => {
    const client = await open()
    requests.length = 0
    await client.callTool({ name: 'listBooks', arguments: { added_gte: '2030-02-01', limit: 5 } })
    expect(decodeURIComponent(requests[0]!.url!)).toBe('/books?limit=5&added[gte]=2030-02-01')
  })

  test('with wrong arguments are refused before a request is sent', async () => {
    const client = await open('--allow', 'createBook')
    requests.length = 0
    const refused = await client.callTool({
      name: 'createBook',
      arguments: { body: { title: 'Emma', shelf: 'top' } },
    })
    expect(refused.isError).toBe(true)
    expect(textOf(refused).split('\n')).toEqual([
      'The arguments of createBook are not valid:',
      'body.name is required',
      'body.title is not a known property',
      'body.shelf must be one of "upper", "lower"',
    ])
    expect(requests).toEqual([])
  })

  test('return the error of the API, with its text', async () => {
    const client = await open()
    const refused = await client.callTool({ name: 'getBook', arguments: { book_id: 'book_none' } })
    expect([refused.isError, textOf(refused)]).toEqual([true, 'HTTP 404\n{"error":"no_book"}'])
  })

  test('of a tool that is not offered fail', async () => {
    const client = await open()
    await expect(client.callTool({ name: 'deleteBook', arguments: { book_id: '1' } })).rejects.toThrow(
      'There is no tool deleteBook',
    )
  })
})

test('the same tools are served over HTTP, but not to pages of other sites', async () => {
  const child = spawn(process.execPath, wordsOf('--port', '0'), { stdio: ['ignore', 'inherit', 'pipe'] })
  try {
    let base: string | undefined
    for await (const line of createInterface(child.stderr)) {
      base = /^serving (\S+)/.exec(line)?.[1]
      if (base !== undefined) break
    }
    const client = new Client({ name: 'test', version: '1' })
    clients.push(client)
    await client.connect(new StreamableHTTPClientTransport(new URL(base!)))
    expect(await namesOf(client)).toEqual([...DOCS_TOOLS, 'listBooks', 'getBook', 'listFines'])
    const foreign = await fetch(base!, { method: 'POST', headers: { origin: 'https://elsewhere.test' } })
    expect(foreign.status).toBe(403)
  } finally {
    child.kill()
  }
})

test('a long list of tools is reported with its remedy', async () => {
  const lines: string[] = []
  const run = await openRun('dateline.config.json', { ...quiet, error: (line) => lines.push(line) })
  const options = { keyEnv: 'KEY', baseUrl: url, port: '0' }
  await mcp(run, options, AbortSignal.abort(), {})
  expect(lines[0]).toMatch(/^version \S+ at http:\S+: \d+ tools in \d{3} kB; 0 can write$/)
  expect(lines[1]).toContain('make it smaller with --tag')
})

test.each([
  [{ version: '2029-01-01' }, '--version: there is no version 2029-01-01'],
  [
    { allow: ['createBok'] },
    '--allow createBok selects no operation of this version: did you mean createBook?',
  ],
  [{ tag: ['fine'] }, '--tag fine selects no operation of this version: did you mean fines?'],
  [{ baseUrl: 'library' }, '--base-url: library is not a URL'],
  [{ tag: ['fines'], scopes: 'read' }, 'no operation is selected'],
])('the options %j are a usage error', async (options, message) => {
  const run = await openRun(LIBRARY, quiet)
  const started = mcp(run, { keyEnv: 'KEY', ...options }, AbortSignal.abort(), {})
  await expect(started).rejects.toThrow(UsageError)
  await expect(started).rejects.toThrow(message)
})
