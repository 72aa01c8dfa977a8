/** Versions that are renamed, deleted and squashed: all others get the same as before, or nothing changes. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join('test/toolkit', '.versions-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const file = (name: string) => join(folder, name)
const read = (name: string) => readFileSync(file(name), 'utf8')
function write(name: string, text: string): void {
  mkdirSync(dirname(file(name)), { recursive: true })
  writeFileSync(file(name), text)
}

async function dateline(...words: readonly string[]) {
  const said: string[] = []
  const say = (line: string) => void said.push(line)
  const exit = await main(['--config', file('dateline.config.json'), ...words], { out: say, error: say })
  return { exit, said: said.join('\n').replaceAll(`${folder}/`, '') }
}

/** Every file of the family, by path. */
const filesNow = () =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => join(each.parentPath, each.name))
      .sort()
      .map((each) => [each.slice(folder.length + 1), readFileSync(each, 'utf8')]),
  )

/** @param properties of a book, which is created and read. */
const documentOf = (version: string, properties: string, required: string) => `openapi: 3.1.0
info: { title: Library, version: "${version}" }
paths:
  /books:
    post:
      operationId: createBook
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Book' } } } }
      responses:
        '200': { description: The book, content: { application/json: { schema: { $ref: '#/components/schemas/Book' } } } }
components:
  schemas:
    Book:
      type: object
      additionalProperties: false
      required: [${required}]
      properties: { ${properties} }
`

const typesOf = (version: string) => `../../out/${version}/types.ts`

const changeOf = (id: string, old: string, next: string, lens: string, more = '') =>
  `import type * as Old from '${typesOf(old)}'
import type * as New from '${typesOf(next)}'
import { between } from 'dateline/change'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({ id: '${id}', why: 'A test.', lenses: [${lens}]${more} })
`

const [A, B, C, D] = ['2021-01-01', '2021-06-01', '2021-09-01', '2099-01-01'] as const

/** Four versions of a book: its title becomes a name, its size becomes pages, and it gets a required shelf. */
async function makeFamily(): Promise<void> {
  const string = (name: string) => `${name}: { type: string, maxLength: 20 }`
  const number = (name: string) => `${name}: { type: integer, minimum: 1 }`
  write('openapi/2021-01-01.yaml', documentOf(A, `${string('title')}, ${number('size')}`, 'title, size'))
  write('openapi/2021-06-01.yaml', documentOf(B, `${string('name')}, ${number('size')}`, 'name, size'))
  write('openapi/2021-09-01.yaml', documentOf(C, `${string('name')}, ${number('pages')}`, 'name, pages'))
  const shelf = `${string('shelf')}, ${string('since')}`
  write(
    'openapi/2099-01-01.yaml',
    documentOf(D, `${string('name')}, ${number('pages')}, ${shelf}`, 'name, pages, shelf').replace(
      'type: object',
      `type: object\n      examples: [{ name: Emma, pages: 1, shelf: top, since: "${D}" }]`,
    ),
  )
  const example = `, examples: [
    { schema: 'Book', old: { title: 'Emma', size: 2 }, new: { name: 'Emma', size: 2 } },
  ]`
  write(
    `versions/${B}/name-books.ts`,
    changeOf('name-books', A, B, "v.rename(['Book'], 'title', 'name')", example),
  )
  write(`versions/${C}/count-pages.ts`, changeOf('count-pages', B, C, "v.rename(['Book'], 'size', 'pages')"))
  write(
    `versions/${D}/require-shelf.ts`,
    changeOf('require-shelf', C, D, "v.default(['Book'], 'shelf', 'top')"),
  )
  const config = {
    documents: './openapi',
    versions: './versions',
    out: './out',
    emit: ['types', 'translations'],
  }
  write('dateline.config.json', JSON.stringify(config, null, 2))
  expect((await dateline('generate')).said).toContain('files')
}

/** A book of the newest version, as the generated code gives it to callers of a version. */
async function shown(version: string): Promise<unknown> {
  const module = await import(resolve(file(`out/translations/${version}.ts`)))
  const translate = module.Book_fromCanonical ?? module.Book_down
  return translate({ name: 'Emma', pages: 2, shelf: 'top' })
}

describe('remove-version', () => {
  test('squashes a version in between: older ones get the same in one step', async () => {
    await makeFamily()
    const newer = read(`out/translations/${C}.ts`)
    const { exit, said } = await dateline('remove-version', B)
    expect(said).toContain(`removed openapi/${B}.yaml
moved versions/${B}/name-books.ts to versions/${C}/name-books.ts
removed 1 example of versions/${C}/name-books.ts: both steps change its component
edited versions/${C}/count-pages.ts
proved for ${A}: one step gives the same as two, in 3 translations; newer versions are not affected`)
    expect(exit).toBe(0)
    expect(read(`versions/${C}/name-books.ts`)).toBe(
      changeOf('name-books', A, C, "v.rename(['Book'], 'title', 'name')", ', examples: []'),
    )
    expect(read(`versions/${C}/count-pages.ts`)).toContain(`'../../out/${A}/types.ts'`)
    expect(existsSync(file(`versions/${B}`))).toBe(false)
    expect(existsSync(file(`out/${B}`))).toBe(false)
    expect(read(`out/translations/${C}.ts`)).toBe(newer)
    expect((await dateline('check')).exit).toBe(0)
    expect(await shown(A)).toEqual({ title: 'Emma', size: 2 })
  })

  test('with --dry-run, it proves and prints, and changes nothing', async () => {
    await makeFamily()
    const before = filesNow()
    const { exit, said } = await dateline('remove-version', B, '--dry-run')
    expect([exit, said]).toEqual([
      0,
      expect.stringMatching(/proved for 2021-01-01[^\n]*\nnothing was written$/),
    ])
    expect(filesNow()).toEqual(before)
  })

  test('refuses changes of both steps about one property, and takes changes that give the same', async () => {
    await makeFamily()
    const name = "v.rename(['Book'], 'name', 'label')"
    write(`openapi/${C}.yaml`, read(`openapi/${C}.yaml`).replaceAll(/\bname\b/g, 'label'))
    write(`openapi/${D}.yaml`, read(`openapi/${D}.yaml`).replaceAll(/\bname\b/g, 'label'))
    write(`versions/${C}/label-books.ts`, changeOf('label-books', B, C, name))
    expect((await dateline('generate')).exit).toBe(0)
    const before = filesNow()
    const refused = await dateline('remove-version', B)
    expect(refused.exit).toBe(1)
    expect(refused.said).toContain('version-not-squashed')
    expect(refused.said).toMatch(
      /createBook body: it becomes \{"name":"","pages":1\} in one step and \{"pages":1,"label":""\} in two/,
    )
    expect(filesNow()).toEqual(before)

    const wrong = `v.rename(['Book'], 'title', 'label', { up: (old) => old, down: (next) => next.trim() })`
    write('versions/wrong/label-books.ts', changeOf('label-books', A, C, wrong))
    write(
      'versions/wrong/count-pages.ts',
      changeOf('count-pages', A, C, "v.rename(['Book'], 'size', 'pages')"),
    )
    const differs = await dateline('remove-version', B, '--changes', file('versions/wrong'))
    expect([differs.exit, differs.said]).toEqual([
      1,
      expect.stringMatching(
        /proof-differs: 2021-01-01 createBook answer: it becomes \{.*found with \{.*label/,
      ),
    ])
    const right = wrong.replace(/, \{.*\}/, '')
    write('versions/right/label-books.ts', changeOf('label-books', A, C, right))
    write('versions/right/count-pages.ts', read('versions/wrong/count-pages.ts'))
    rmSync(file('versions/wrong'), { recursive: true })
    const { exit, said } = await dateline('remove-version', B, '--changes', file('versions/right'))
    expect([exit, said]).toEqual([0, expect.stringContaining(`moved versions/right to versions/${C}`)])
    expect(readdirSync(file('versions')).sort()).toEqual([C, D])
    expect((await dateline('check')).exit).toBe(0)
  })

  test('removes changes that the other step undoes', async () => {
    await makeFamily()
    for (const version of [C, D])
      write(`openapi/${version}.yaml`, read(`openapi/${version}.yaml`).replaceAll(/\bname\b/g, 'title'))
    write(
      `versions/${C}/title-books.ts`,
      changeOf('title-books', B, C, "v.rename(['Book'], 'name', 'title')"),
    )
    expect((await dateline('generate')).exit).toBe(0)
    const { exit, said } = await dateline('remove-version', B)
    expect(said).toContain(`removed versions/${B}/name-books.ts: it changes nothing in one step`)
    expect([exit, readdirSync(file(`versions/${C}`))]).toEqual([0, ['count-pages.ts']])
  })

  test('deletes the oldest version with the changes that lead from it', async () => {
    await makeFamily()
    const newer = read(`out/translations/${B}.ts`)
    const { exit } = await dateline('remove-version', A)
    expect([exit, readdirSync(file('versions')).sort()]).toEqual([0, [C, D]])
    expect(read(`out/translations/${B}.ts`)).toBe(newer)
    expect((await dateline('check')).exit).toBe(0)
  })

  test('deletes the newest version only if it is not published', async () => {
    await makeFamily()
    expect((await dateline('remove-version', D)).exit).toBe(0)
    const before = filesNow()
    expect(await dateline('remove-version', C)).toEqual({
      exit: 2,
      said: `${C} may be published: its callers would be refused. If it has no callers, add \`--unpublished\`.`,
    })
    expect(filesNow()).toEqual(before)
    const { exit, said } = await dateline('remove-version', C, '--unpublished')
    expect([exit, said]).toEqual([0, expect.stringContaining(`handlers serve ${B} now`)])
    expect(await shown(A)).toMatchObject({ title: 'Emma' })
  })

  test('removes a document that the configuration lists, and refuses the only version', async () => {
    await makeFamily()
    const list = [A, B, C, D].map((version) => `./openapi/${version}.yaml`)
    write('dateline.config.json', read('dateline.config.json').replace('"./openapi"', JSON.stringify(list)))
    for (const version of [D, A, B]) expect((await dateline('remove-version', version)).exit).toBe(0)
    expect(JSON.parse(read('dateline.config.json')).documents).toEqual([`./openapi/${C}.yaml`])
    expect(await dateline('remove-version', C)).toEqual({ exit: 2, said: `${C} is the only version` })
    expect((await dateline('remove-version', B)).said).toBe(`${B} is not a version: expected ${C}`)
  })
})

describe('rename-version', () => {
  const NEW = '2099-06-01'

  test('renames the document, the changes and what names them, so that check passes', async () => {
    await makeFamily()
    const list = [A, B, C, D].map((version) => `./openapi/${version}.yaml`)
    write('dateline.config.json', read('dateline.config.json').replace('"./openapi"', JSON.stringify(list)))
    write(
      'openapi/2021-09-01.yaml',
      `${read('openapi/2021-09-01.yaml')}x-next: "${D}"\nx-text: After ${D}.\n`,
    )
    const { exit, said } = await dateline('rename-version', D, NEW)
    expect(said).toContain(`edited openapi/${C}.yaml
renamed openapi/${D}.yaml to openapi/${NEW}.yaml
renamed versions/${D} to versions/${NEW} (1 file)
edited dateline.config.json`)
    expect(said).toContain(`openapi/${C}.yaml:18: still names ${D}`)
    expect(exit).toBe(0)
    expect(read(`openapi/${NEW}.yaml`)).toContain(`since: "${NEW}"`)
    expect(read(`openapi/${C}.yaml`)).toContain(`x-next: "${NEW}"`)
    expect(read(`versions/${NEW}/require-shelf.ts`)).toContain(`'../../out/${NEW}/types.ts'`)
    expect([existsSync(file(`versions/${D}`)), existsSync(file(`out/${D}`))]).toEqual([false, false])
    expect((await dateline('check')).exit).toBe(0)
  })

  test('refuses a published version, and a name that changes the order', async () => {
    await makeFamily()
    const before = filesNow()
    const refusal = async (...words: string[]) => {
      const { exit, said } = await dateline('rename-version', ...words)
      return [exit, said]
    }
    expect(await refusal(B, '2021-07-01')).toEqual([2, expect.stringContaining('is frozen, because a newer')])
    expect(await refusal(D, C)).toEqual([2, `${C} already exists`])
    expect(await refusal(D, '2021-02-01')).toEqual([2, expect.stringContaining(`is not later than ${C}`)])
    expect(await refusal(D, '../x')).toEqual([2, expect.stringContaining('cannot be the name of a version')])
    expect(filesNow()).toEqual(before)
    expect((await dateline('rename-version', B, '2021-07-01', '--unpublished')).exit).toBe(0)
    expect(read(`versions/${C}/count-pages.ts`)).toContain("'../../out/2021-07-01/types.ts'")
    expect(await shown(A)).toEqual({ title: 'Emma', size: 2 })
  })

  test('if the output cannot be generated, every file stays as it was', async () => {
    await makeFamily()
    write(`out/${NEW}/types.ts`, 'not from dateline\n')
    const before = filesNow()
    const { exit, said } = await dateline('rename-version', D, NEW)
    expect([exit, said]).toEqual([1, expect.stringContaining('output-foreign')])
    expect(filesNow()).toEqual(before)
  })
})
