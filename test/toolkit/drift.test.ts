/** One edit of a document reaches every output; one edit of an output is found and traced back to its line. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'
import { EMITTERS } from '../../generators/generate/config.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join('test/toolkit', '.family-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const spec = () => join(folder, 'openapi/2030-01-01.yaml')
const out = (path: string) => join(folder, 'out', path)

async function run(command: string) {
  const lines: string[] = []
  const print = (line: string) => void lines.push(line)
  const code = await main(['--config', join(folder, 'dateline.config.json'), command], {
    out: print,
    error: print,
  })
  return { code, lines }
}

beforeEach(async () => {
  cpSync('test/golden/one-version/openapi', join(folder, 'openapi'), { recursive: true })
  configure(EMITTERS)
  await run('generate')
})

function configure(emit: readonly string[]): void {
  const config = { documents: './openapi', out: './out', emit }
  writeFileSync(join(folder, 'dateline.config.json'), JSON.stringify(config))
}

test('a property added to a schema is in every output, and nothing else changes', async () => {
  const before = readFileSync(out('validators.js'), 'utf8')
  writeFileSync(
    spec(),
    readFileSync(spec(), 'utf8').replace(
      '        pages: {',
      '        isbn: { type: string, maxLength: 13 }\n        pages: {',
    ),
  )
  const { code, lines } = await run('generate')
  expect(code).toBe(0)
  const written = lines.filter((line) => line.startsWith('wrote ')).map((line) => line.slice('wrote '.length))
  expect(written).toEqual(
    expect.arrayContaining([
      '2030-01-01/openapi.json',
      '2030-01-01/types.ts',

      'validators.js',
    ]),
  )
  expect(written.filter((path) => /routes|handlers|versions|translations/.test(path))).toEqual([])
  // Every page names the search index, which has all properties, by its digest.
  const isPage = (path: string) => /^site\/.*\.html$/.test(path)
  for (const path of written)
    if (path !== 'manifest.json' && !isPage(path))
      expect(readFileSync(out(path), 'utf8'), path).toContain('isbn')
  expect(before).not.toContain('isbn')
  expect((await run('generate')).lines.at(-1)).toMatch(/ 0 changed$/)
})

test.each([
  ['2030-01-01/types.ts', 'pages?: number | null', 'pages?: number', 'pages: { type: [integer'],
  ['2030-01-01/routes.ts', "id: 'getBook'", "id: 'fetchBook'", '    get:'],
  ['validators.js', '.length <= 200', '.length <= 300', 'title: { type: string, minLength: 1'],
  ['validators.js', "'seconds'", "'hours'", 'seconds: { type'],
  ['validators.js', "new RegExp('^book_[0-9]", "new RegExp('^book_[1-9]", 'BookId:'],
  ['validators.js', 'export const Paper', 'export const paper', 'Paper:'],
  ['2030-01-01/validators.js', '  BookList,', '  BookLists,', 'BookList:'],
  ['2030-01-01/validators.d.ts', 'function Medium(', 'function medium(', 'Medium:'],
  ['canonical/handlers.ts', '  createBook(', '  makeBook(', '    post:'],
  ['site/2030-01-01/books.html', 'id="getBook"', 'id="fetchBook"', '    get:'],
  ['2030-01-01/openapi.json', '"maxLength": 200', '"maxLength": 300', 'title: { type: string, minLength: 1'],
])('an edit of %s is found and traced to its line', async (path, from, to, source) => {
  const text = readFileSync(out(path), 'utf8')
  expect(text).toContain(from)
  writeFileSync(out(path), text.replace(from, to))
  const { code, lines } = await run('check')
  expect(code).toBe(1)
  const said = lines.join('\n')
  expect(said).toContain(`generated ${path}:`)
  const line = Number(/2030-01-01\.yaml:(\d+):/.exec(said)?.[1])
  expect(readFileSync(spec(), 'utf8').split('\n')[line - 1]).toContain(source)
})

test('a missing file and a stale one are found, and generate mends both', async () => {
  configure(EMITTERS.filter((each) => each !== 'routes'))
  rmSync(out('validators.js'))
  const { code, lines } = await run('check')
  expect(code).toBe(1)
  expect(lines.join('\n')).toMatch(
    /validators\.js is missing[\s\S]*routes\.ts no longer comes from any document/,
  )
  expect((await run('generate')).code).toBe(0)
  expect((await run('check')).code).toBe(0)
})

test('a document that does not parse leaves the output as it was', async () => {
  const before = readFileSync(out('versions.ts'), 'utf8')
  writeFileSync(spec(), 'openapi: 3.1.0\n  bad: [')
  const { code, lines } = await run('generate')
  expect(code).toBe(3)
  expect(lines.join('\n')).toContain('document-syntax')
  expect(readFileSync(out('versions.ts'), 'utf8')).toBe(before)
})

test('one version’s name may begin another’s', async () => {
  const numbered = join(folder, 'numbered')
  mkdirSync(join(numbered, 'openapi'), { recursive: true })
  for (const version of ['v1', 'v10']) {
    const text = `openapi: 3.1.0\ninfo: { title: T, version: ${version} }\npaths: {}\ncomponents: { schemas: { A: { type: string } } }\n`
    writeFileSync(join(numbered, `openapi/${version}.yaml`), text)
  }
  const config = join(numbered, 'dateline.config.json')
  writeFileSync(config, JSON.stringify({ documents: './openapi', out: './out', emit: ['types'] }))
  const lines: string[] = []
  const print = (line: string) => void lines.push(line)
  await main(['--config', config, 'generate'], { out: print, error: print })
  const types = join(numbered, 'out/v10/types.ts')
  writeFileSync(types, readFileSync(types, 'utf8').replace('A = string', 'A = number'))
  expect(await main(['--config', config, 'check'], { out: print, error: print })).toBe(1)
  expect(lines.join('\n')).toMatch(/v10\.yaml:4:\d+ error drift: generated v10\/types\.ts/)
})

test.each(['[ <<<<<<< ours', '{}', '[null, 1]'])(
  'an index of changes that is none is drift, not a bug of dateline: %s',
  async (text) => {
    const two = join(folder, 'two')
    rmSync(two, { recursive: true, force: true })
    cpSync('test/golden/two-versions/openapi', join(two, 'openapi'), { recursive: true })
    mkdirSync(join(two, 'versions/2030-06-01'), { recursive: true })
    const lenses = [
      { kind: 'ignored-parameter', operations: ['listParcels'], in: 'query', name: 'include_lost' },
    ]
    const change = { id: 'list-lost-parcels', why: 'Lists lost parcels.', lenses }
    writeFileSync(
      join(two, 'versions/2030-06-01/list-lost-parcels.ts'),
      `export default ${JSON.stringify(change)}\n`,
    )
    cpSync('test/golden/two-versions/dateline.config.json', join(two, 'dateline.config.json'))
    const config = join(folder, 'two/dateline.config.json')
    const check = async (command: string) => {
      const lines: string[] = []
      const print = (line: string) => void lines.push(line)
      return {
        code: await main(['--config', config, command], { out: print, error: print }),
        said: lines.join('\n'),
      }
    }
    expect((await check('generate')).code).toBe(0)
    const index = join(folder, 'two', 'want', 'changes.json')
    expect(readFileSync(index, 'utf8')).toContain('list-lost-parcels')
    writeFileSync(index, text)
    expect(await check('check')).toEqual({
      code: 1,
      said: expect.stringContaining('error drift: generated changes.json:1'),
    })
  },
)
