import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'
import { memberNames } from '../../generators/scaffold/handled.ts'
import { mergeSource } from '../../generators/scaffold/merge.ts'

const ITEM = (id: string, tag = 'books') =>
  `{ operationId: ${id}, tags: [${tag}], responses: { '200': { description: ok } } }`
const DOCUMENT = (...more: string[]) => `openapi: 3.1.0
info: { title: Test, version: 2030-01-01 }
paths:
  /books:
    get: ${ITEM('listBooks')}
${more.join('\n')}
`
const WITH_CREATE = DOCUMENT(
  `    post: ${ITEM('createBook')}`,
  `  /loans:\n    get: ${ITEM('listLoans', 'loans')}`,
)

const CONFIG = {
  documents: './openapi',
  out: './out',
  handlers: './rooms',
  strict: false,
  stub: {
    templates: 'templates',
    files: [
      { template: 'handlers', file: 'rooms/{{dashed}}/handlers.ts', merge: true },
      { template: 'table', file: 'rows/{{number}}_{{tag}}.sql', for: 'create' },
      { template: 'list', file: 'list.ts', merge: true, without: 'LATER' },
    ],
  },
}

const HANDLERS = `import type { {{pascal}} } from './types.ts'

export const {{camel}}Handlers = {
{{#each operations}}
  async {{id}}() { return '{{kind}}' },
{{/each}}
}
`
const WRITTEN = `// a comment, odd   spacing and all
export const booksHandlers = {
  async listBooks() { return { status: 200,   body: undefined } },
} satisfies Books
`
const LIST = `import { booksHandlers } from './rooms/books/handlers.ts'

export const all = { ...booksHandlers }
export const LATER = {
  createBook: true,
  listLoans: true,
}
`

let folder: string
const at = (name: string) => join(folder, name)
const put = (name: string, text: string) => {
  mkdirSync(dirname(at(name)), { recursive: true })
  writeFileSync(at(name), text)
}
const text = (name: string) => readFileSync(at(name), 'utf8')
const git = (...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], { cwd: folder })

async function run(...argv: string[]) {
  const out: string[] = []
  const error: string[] = []
  const code = await main(['--config', at('dateline.config.json'), '--json', ...argv], {
    out: (line) => void out.push(line),
    error: (line) => void error.push(line),
  })
  return { code, data: out.length > 0 ? JSON.parse(out.join('\n')) : undefined, error: error.join('\n') }
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stub-'))
  put('dateline.config.json', JSON.stringify(CONFIG))
  put('openapi/2030-01-01.yaml', DOCUMENT())
  put('templates/handlers.hbs', HANDLERS)
  put('templates/table.hbs', 'CREATE TABLE {{tag}};\n')
  put(
    'templates/list.hbs',
    `import { {{camel}}Handlers } from './rooms/{{dashed}}/handlers.ts'\n\nexport const all = { ...{{camel}}Handlers }\n`,
  )
  put('rooms/books/handlers.ts', WRITTEN)
  put('rows/0007_authors.sql', '')
  put('list.ts', LIST)
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
})
afterEach(() => rmSync(folder, { recursive: true }))

test('stub writes what the operations need that the document has gained since the last commit', async () => {
  put('openapi/2030-01-01.yaml', WITH_CREATE.replaceAll(/ {2}\/loans[\s\S]*$/g, ''))
  const { code, data } = await run('stub')
  expect([code, data.added]).toEqual([0, ['createBook']])
  for (const line of WRITTEN.trimEnd().split('\n')) expect(text('rooms/books/handlers.ts')).toContain(line)
  expect(text('rooms/books/handlers.ts')).toMatch(/async createBook\(\) \{\s*return 'create'/)
  expect(text('rows/0008_books.sql')).toBe('CREATE TABLE books;\n')
  expect(text('list.ts')).not.toContain('createBook')
  expect(text('list.ts')).toContain('listLoans: true')
})

test('stub writes those that are named, whatever is committed', async () => {
  put('openapi/2030-01-01.yaml', WITH_CREATE)
  git('commit', '-qam', 'second')
  expect((await run('stub')).data.added).toEqual([])
  expect((await run('stub', 'listLoans')).data.added).toEqual(['listLoans'])
  expect(text('rooms/books/handlers.ts')).toBe(WRITTEN)
  expect(existsSync(at('rows/0008_books.sql'))).toBe(false)
  expect((await run('stub', 'listLoans')).error).toMatch(/listLoans is not an operation without a handler/)
})

test('stub writes beside the handlers of the tag, or of its group, wherever they are', async () => {
  const files = [{ template: 'handlers', file: 'rooms/{{folder}}/more.ts' }]
  put('dateline.config.json', JSON.stringify({ ...CONFIG, stub: { templates: 'templates', files } }))
  put('rooms/library/books/handlers.ts', WRITTEN)
  rmSync(at('rooms/books'), { recursive: true })
  put(
    'openapi/2030-01-01.yaml',
    `${WITH_CREATE}\nx-tagGroups:\n  - { name: Library, tags: [books, loans] }\n`,
  )
  expect((await run('stub', 'createBook', 'listLoans')).data.written.toSorted()).toEqual([
    expect.stringMatching(/rooms\/library\/books\/more\.ts$/),
    expect.stringMatching(/rooms\/library\/loans\/more\.ts$/),
  ])
})

test('stub does nothing the second time, and leaves files that are there', async () => {
  put('openapi/2030-01-01.yaml', WITH_CREATE)
  put('rows/0003_books.sql', 'CREATE TABLE books (id text);\n')
  expect((await run('stub')).data.left.map((file: string) => resolve(file))).toEqual([
    at('rows/0003_books.sql'),
  ])
  const before = [text('rooms/books/handlers.ts'), text('list.ts')]
  expect((await run('stub')).data).toMatchObject({ added: [], written: [], left: [] })
  expect([text('rooms/books/handlers.ts'), text('list.ts')]).toEqual(before)
  expect(text('rows/0003_books.sql')).toBe('CREATE TABLE books (id text);\n')
})

test('lists all that is missing without writing', async () => {
  put('openapi/2030-01-01.yaml', WITH_CREATE)
  git('commit', '-qam', 'second')
  expect((await run('stub', '--list')).data.missing).toEqual(['createBook', 'listLoans'])
  expect(existsSync(at('rooms/loans'))).toBe(false)
})

test('formats what it wrote, and says what the formatter says', async () => {
  const format = (...command: string[]) =>
    put('dateline.config.json', JSON.stringify({ ...CONFIG, stub: { ...CONFIG.stub, format: command } }))
  put('openapi/2030-01-01.yaml', WITH_CREATE)
  format(
    process.execPath,
    '-e',
    'for (const f of process.argv.slice(1)) fs.appendFileSync(f, "// formatted")',
  )
  expect((await run('stub', 'createBook')).code).toBe(0)
  expect(text('rooms/books/handlers.ts')).toMatch(/\/\/ formatted$/)
  format(process.execPath, '-e', 'console.error("odd"); process.exit(1)')
  expect(await run('stub', 'listLoans')).toMatchObject({
    code: 2,
    error: expect.stringMatching(/failed:\nodd/),
  })
})

test.each([
  [{ ...CONFIG, stub: undefined }, 2, /`stub` is missing: set templates and files/],
  [{ ...CONFIG, handlers: undefined }, 2, /`handlers` is missing: set it to the folder of handlers/],
  [{ ...CONFIG, stub: { templates: 'a' } }, 3, /`stub.files` is missing or not a list/],
  [{ ...CONFIG, stub: { templates: 'a', files: [{ file: 'a' }] } }, 3, /`stub.files\[0\]` needs `template`/],
])('stub refuses a configuration with its reason: case %#', async (config, code, message) => {
  put('dateline.config.json', JSON.stringify(config))
  const said = await run('stub')
  expect(said.code).toBe(code)
  expect(said.error + JSON.stringify(said.data)).toMatch(message)
})

test('stub asks for names where git knows no document', async () => {
  rmSync(at('.git'), { recursive: true })
  expect(await run('stub')).toMatchObject({
    code: 2,
    error: expect.stringMatching(/none of the documents is committed to git/),
  })
})

describe('merging', () => {
  test.each([
    ['a list', "const A = ['a'] as const", "const A = ['a', 'b'] as const", "const A = ['a', 'b'] as const"],
    [
      'pairs of a map',
      "const A = new Map([['a', 1]])",
      "const A = new Map([['b', 2]])",
      "const A = new Map([['a', 1], ['b', 2]])",
    ],
    ['lines of a text', 'const A = `\na\n`.trim()', 'const A = `\na\nb\n`', 'const A = `\na\nb\n`.trim()'],
    [
      'members',
      'const A = { a: 1 } satisfies B',
      "const A = { 'a': 2, b: 2 }",
      'const A = { a: 1, b: 2 } satisfies B',
    ],
    [
      'members of members',
      'const A = { a: `\na\n` }',
      'const A = { a: `\nb\n`, c: 1 }',
      'const A = { a: `\na\nb\n`, c: 1 }',
    ],
    ['what others use', 'const A = []', 'const B = 1\nconst A = [B]', 'const B = 1\nconst A = [B]'],
    ['a statement', 'const A = 1', 'function b() {}', 'const A = 1\nfunction b() {}'],
    ['imports', "import { a } from 'x'", "import { a, b } from 'x'", "import { a, b } from 'x'"],
  ])('stub merges new code into existing code: %s', (_, source, addition, want) => {
    const plain = (text: string) =>
      text
        .replaceAll(/[\s;]+/g, ' ')
        .replaceAll('"', "'")
        .trim()
    expect(plain(mergeSource(source, addition))).toBe(plain(want))
    expect(plain(mergeSource(mergeSource(source, addition), addition))).toBe(plain(want))
  })
})

test('handlers count in every way to export an object, and in no object that stays private', () => {
  const source = `
    export const one = { a() {} } satisfies object
    const two = { b: 1 }
    export { two }
    const three = { c: 1 }
    export default three
    const own = { d: 1 }
  `
  expect(memberNames(source)).toEqual(['a', 'b', 'c'])
})
