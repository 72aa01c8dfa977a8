/** Documents of several files: served, and every finding, hash and copy follows each file. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { committedOperations } from '../../generators/cli/committed.ts'
import { hashInputs } from '../../generators/cli/inputs.ts'
import { openRun } from '../../generators/cli/run.ts'
import { watch } from '../../generators/cli/watch.ts'
import { main } from '../../generators/cli.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { loadDocument, type ReadingOptions } from '../../generators/document/load.ts'
import { readConfig } from '../../generators/generate/config.ts'
import { createVersionedApi, ErrorReply, fromHeader } from '../../generators/server/api.ts'
import { versions } from '../golden/several-files/want/versions.ts'

const CASE = 'test/golden/several-files'
let folder: string
const at = (path: string) => join(folder, path)

beforeEach(() => {
  folder = mkdtempSync('test/toolkit/.several-files-')
  for (const name of ['dateline.config.json', 'openapi', 'vendor', 'versions', 'want'])
    cpSync(join(CASE, name), at(name), { recursive: true })
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

async function run(...command: readonly string[]) {
  const lines: string[] = []
  const say = (line: string) => void lines.push(line)
  const code = await main(['--config', at('dateline.config.json'), ...command], { out: say, error: say })
  return { code, text: lines.join('\n').replaceAll(`${folder}/`, '') }
}

const edit = (path: string, from: string, to: string) => {
  const text = readFileSync(at(path), 'utf8')
  expect(text).toContain(from)
  writeFileSync(at(path), text.replace(from, to))
}

const inputs = () => {
  const file = at('dateline.config.json')
  return hashInputs(readConfig(file, createReport())!, file)
}

test('a request is validated, translated and answered by what the files say', async () => {
  const api = createVersionedApi({
    versions,
    resolveVersion: fromHeader('Api-Version'),
    context: () => undefined,
    handlers: {
      createBook: (_: undefined, { body }: { body: unknown }) => ({ status: 201, body }),
      showAuthor: () => {
        throw new ErrorReply(404, { title: 'No such author' })
      },
    },
  })
  const ask = async (version: string, path: string, body?: object) => {
    const response = await api.fetch(
      new Request(`http://localhost${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { 'Api-Version': version, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
    return [response.status, await response.json()]
  }
  expect(await ask('2030-01-01', '/books', { title: 'Momo', price: 900 })).toEqual([
    201,
    { title: 'Momo', price: 900 },
  ])
  expect(await ask('2030-06-01', '/books', { name: 'Momo' })).toEqual([201, { name: 'Momo' }])
  expect((await ask('2030-06-01', '/books', { name: 'Momo', price: -1 }))[0]).toBe(422)
  expect(await ask('2030-06-01', '/authors/author_1')).toEqual([404, { title: 'No such author' }])
  expect((await ask('2030-06-01', '/authors/1'))[0]).toBe(400)
})

test.each([
  [
    'a missing file',
    'openapi/shared/schemas.yaml',
    'author.yaml',
    'writer.yaml',
    /shared\/schemas\.yaml:1:\d+ error ref-missing: .*shared\/writer\.yaml does not exist/,
  ],
  [
    'a missing name',
    'openapi/shared/paths.yaml',
    '#/NotFound',
    '#/Gone',
    /shared\/paths\.yaml:16:\d+ error ref-missing: #\/Gone does not exist in .*shared\/errors\.yaml/,
  ],
  [
    'a file outside',
    'openapi/2030-06-01/book.yaml',
    'https://schemas.example.com',
    '../../../../../../../etc',
    /book\.yaml:5:\d+ error ref-outside/,
  ],
  [
    'a URL',
    'openapi/2030-06-01/book.yaml',
    'https://schemas.example.com/',
    'https://elsewhere.example.com/a/',
    /book\.yaml:5:\d+ error ref-remote: https:\/\/elsewhere[\s\S]*curl -o vendor\/money\.json[\s\S]*"remoteReferences": { "https:\/\/elsewhere\.example\.com\/a\/": "\.\/vendor" }/,
  ],
  [
    'a syntax error',
    'openapi/shared/errors.yaml',
    'type: object',
    'type: [object',
    /shared\/errors\.yaml:\d+:\d+ error document-syntax/,
  ],
  [
    'files that refer only to each other',
    'openapi/shared/errors.yaml',
    'type: object\n  required: [title]\n  properties:\n    title: { type: string }',
    '$ref: "#/Problem"',
    /error ref-circular/,
  ],
  [
    'a wrong value',
    'openapi/shared/author.yaml',
    'type: array',
    'type: 3',
    /shared\/author\.yaml:7:\d+ error document-shape/,
  ],
])('%s is found in its own file', async (_, path, from, to, finding) => {
  edit(path, from, to)
  const { code, text } = await run('check')
  expect(code).not.toBe(0)
  expect(text).toMatch(finding)
})

test('drift points to the line in the file that was edited', async () => {
  edit('openapi/2030-06-01/book.yaml', 'name: { type: string }', 'name: { type: string, maxLength: 80 }')
  const { text } = await run('check')
  expect(text).toMatch(/2030-06-01\/book\.yaml:4:\d+ error drift: generated validators\.js/)
})

test('an edit to any file, and a new one, changes the inputs of a run', () => {
  const seen = new Set([inputs()])
  edit('openapi/shared/schemas.yaml', 'author.yaml', 'à.yaml')
  cpSync(at('openapi/shared/author.yaml'), at('openapi/shared/à.yaml'))
  seen.add(inputs())
  for (const path of [
    'shared/à.yaml',
    '2030-01-01/book.yaml',
    'shared/book-summary.yaml',
    'shared/introduction.md',
    'shared/parameters.json',
  ]) {
    appendFileSync(at(`openapi/${path}`), '\n')
    seen.add(inputs())
  }
  appendFileSync(at('vendor/money.json'), '\n')
  seen.add(inputs())
  expect([...seen].filter(Boolean)).toHaveLength(8)
})

test('watch generates again when a file outside the folder of the documents is saved', async () => {
  const run = await openRun(at('dateline.config.json'), { out: () => undefined, error: () => undefined })
  const stop = new AbortController()
  let runs = 0
  const ended = watch(run, stop.signal, async () => {
    runs++
    if (runs === 1) appendFileSync(at('vendor/money.json'), '\n')
    else stop.abort()
    return 0
  })
  expect((await ended).data).toEqual({ runs: 2 })
})

test('stub sees the operations that git has in other files', () => {
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-C', folder, ...words], { stdio: 'pipe' })
  git('init', '-q')
  git('add', '.')
  git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '-qm', 'documents')
  edit('openapi/2030-06-01/create-book.yaml', 'createBook', 'addBook')
  const { documents } = readConfig(at('dateline.config.json'), createReport())!
  expect([...committedOperations(documents)].sort()).toEqual(['createBook', 'showAuthor'])
})

test('the previous version no longer changes with shared files once a new version exists', async () => {
  const before = readFileSync(at('want/2030-06-01/openapi.json'), 'utf8')
  expect((await run('new-version', '2031-01-01')).text).toContain(
    'it now contains the files that it referred to',
  )
  const file = at('openapi/2030-06-01/api.yaml')
  expect(readFileSync(file, 'utf8')).not.toContain('.yaml')
  edit('openapi/shared/author.yaml', 'minLength: 1', 'minLength: 2')
  expect(existsSync(at('openapi/2030-06-01/2031-01-01.yaml'))).toBe(true)
  await run('generate')
  expect(readFileSync(at('want/2030-06-01/openapi.json'), 'utf8')).toBe(before)
})

/** Returns the names of the schemas of a document in a folder of files. */
function schemasOf(files: Readonly<Record<string, string>>, options: ReadingOptions = { strict: true }) {
  for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text)
  const report = createReport()
  const document = loadDocument(at('main.yaml'), report, options)
  expect(report.diagnostics).toEqual([])
  return (document!.json.components as { schemas: Record<string, unknown> }).schemas
}

const MAIN = (schemas: string) =>
  `openapi: 3.1.0\ninfo: { title: T, version: "1" }\npaths: {}\ncomponents:\n  schemas:\n    Root:\n      anyOf: [${schemas}]\n`

test('component names do not depend on the order of references', () => {
  const files = { 'pets.yaml': 'Name: { type: string }\n', 'people.yaml': 'Name: { type: integer }\n' }
  const [pets, people] = ['{ $ref: "pets.yaml#/Name" }', '{ $ref: "people.yaml#/Name" }']
  const names = (order: string) => Object.keys(schemasOf({ ...files, 'main.yaml': MAIN(order) }))
  expect(names(`${pets}, ${people}`)).toEqual(['Root', 'people_Name', 'pets_Name'])
  expect(names(`${people}, ${pets}`)).toEqual(['Root', 'people_Name', 'pets_Name'])
})

test('one target is one component, however it is written and reached', () => {
  const schemas = schemasOf({
    'main.yaml': MAIN(
      '{ $ref: "a%20b.yaml" }, { $ref: "./a b.yaml#" }, { $ref: "../alias.yaml#/Alias" }'.replace('../', ''),
    ),
    'alias.yaml': 'Alias: { $ref: "a b.yaml#/" }\n',
    'a b.yaml':
      '{ type: object, properties: { root: { $ref: "main.yaml#/components/schemas/Root" }, me: { $ref: "#" } } }',
  })
  expect(schemas).toEqual({
    Root: { anyOf: Array(3).fill({ $ref: '#/components/schemas/a_b' }) },
    a_b: {
      type: 'object',
      properties: { root: { $ref: '#/components/schemas/Root' }, me: { $ref: '#/components/schemas/a_b' } },
    },
  })
})
