/** Output that is not committed: built when it is needed, the same everywhere, and held by the hashes of the manifest. */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt } from 'dateline/build'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'

const VERSION = '2030-01-01'
const DOCUMENT = `${VERSION}/openapi.json`
const PAGE = `site/${VERSION}/books.html`
const NAMES = [DOCUMENT, PAGE]
const EMIT = ['types', 'documents', 'site']

let folder: string
beforeEach(async () => {
  folder = mkdtempSync(join('test/toolkit', '.built-'))
  cpSync('test/golden/one-version/openapi', at('openapi'), { recursive: true })
  configure({})
  await run('generate')
})
afterEach(() => rmSync(folder, { recursive: true }))

const at = (path: string) => join(folder, path)
const out = (name: string) => at(`out/${name}`)
const spec = () => at(`openapi/${VERSION}.yaml`)
const textOf = (name: string) => readFileSync(out(name), 'utf8')

function configure(members: object): void {
  const config = {
    documents: './openapi',
    out: './out',
    emit: EMIT,
    builtWhenNeeded: ['documents', 'site'],
    ...members,
  }
  writeFileSync(at('dateline.config.json'), JSON.stringify(config))
}

async function run(...argv: string[]) {
  const lines: string[] = []
  const print = (line: string) => void lines.push(line)
  const code = await main(['--config', at('dateline.config.json'), ...argv], { out: print, error: print })
  return { code, said: lines.join('\n') }
}

function listed(name: string): string {
  const { files } = JSON.parse(readFileSync(at('out/manifest.json'), 'utf8')) as {
    readonly files: Readonly<Record<string, string>>
  }
  return files[name]!
}

const hashOf = (name: string) =>
  createHash('sha256')
    .update(readFileSync(out(name)))
    .digest('hex')
    .slice(0, 32)

function removeBuilt(): void {
  rmSync(out(DOCUMENT))
  rmSync(out('site'), { recursive: true })
}

function editDocument(): void {
  const text = readFileSync(spec(), 'utf8')
  const edited = text.replace(
    '        pages: {',
    '        isbn: { type: string, maxLength: 13 }\n        pages: {',
  )
  expect(edited).not.toBe(text)
  writeFileSync(spec(), edited)
}

describe('build', () => {
  test('dateline build makes what `generate` wrote, to the byte', async () => {
    const before = NAMES.map(textOf)
    removeBuilt()
    expect(await run('build')).toMatchObject({ code: 0, said: expect.stringMatching(/: \d+ files built$/) })
    expect(NAMES.map(textOf)).toEqual(before)
    expect(NAMES.map(hashOf)).toEqual(NAMES.map(listed))
    expect((await run('build')).said).toMatch(/ 0 files built$/)
  })

  test.each(NAMES)(
    'dateline build makes %s again when its text is another one, and leaves the other alone',
    async (name) => {
      const before = textOf(name)
      writeFileSync(out(name), `${before} `)
      expect((await run('build')).said).toMatch(new RegExp(`^built ${name}\n.* 1 file built$`))
      expect(textOf(name)).toBe(before)
    },
  )

  test('dateline build fails, and writes nothing, when the document was edited since', async () => {
    removeBuilt()
    editDocument()
    const { code, said } = await run('build')
    expect(code).toBe(1)
    expect(said).toMatch(/2030-01-01\.yaml:\d+:\d+ error drift: 2030-01-01\/openapi\.json would differ from/)
    expect(said).toContain('run `dateline generate`')
    expect(NAMES.filter((name) => existsSync(out(name)))).toEqual([])
  })

  test('dateline build fails when nothing was generated yet', async () => {
    rmSync(at('out'), { recursive: true })
    expect(await run('build')).toMatchObject({
      code: 1,
      said: expect.stringContaining('nothing has been generated yet'),
    })
  })

  test('dateline build removes what a killed run was writing, and goes on', async () => {
    removeBuilt()
    writeFileSync(at('out/.dateline.99999999.tmp'), '{ "openapi"')
    await run('build')
    expect(readdirSync(at('out')).filter((name) => name.endsWith('.tmp'))).toEqual([])
    expect(NAMES.map(hashOf)).toEqual(NAMES.map(listed))
  })
})

describe('build of one emitter', () => {
  test('dateline build of one emitter makes its files and no others', async () => {
    removeBuilt()
    expect((await run('build', 'documents')).said).toMatch(/ 1 file built$/)
    expect(NAMES.map((name) => existsSync(out(name)))).toEqual([true, false])
  })

  test('dateline build of one emitter is refused for what the repository holds', async () => {
    expect(await run('build', 'types')).toMatchObject({
      code: 2,
      said: expect.stringContaining('expected one of documents, site'),
    })
  })
})

describe('ensureBuilt', () => {
  test('ensureBuilt in two processes at once leaves every file whole', async () => {
    removeBuilt()
    await Promise.all([1, 2].map(() => ensureBuilt(join(process.cwd(), at('dateline.config.json')))))
    expect(NAMES.map(hashOf)).toEqual(NAMES.map(listed))
    expect(readdirSync(at('out')).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('ensureBuilt says what the build said when it fails', async () => {
    removeBuilt()
    editDocument()
    await expect(ensureBuilt(join(process.cwd(), at('dateline.config.json')))).rejects.toThrow(
      /cannot build the files that are not committed:\n[\s\S]*error drift/,
    )
  })
})

describe('check', () => {
  test('check passes without what is built, and after another branch left its own there', async () => {
    removeBuilt()
    expect(await run('check')).toMatchObject({ code: 0 })
    cpSync(at(`out/${VERSION}`), at('out/2031-01-01'), { recursive: true })
    rmSync(at('out/2031-01-01/types.ts'))
    writeFileSync(at('out/2031-01-01/openapi.json'), 'of another branch')
    expect(await run('check')).toMatchObject({ code: 0 })
    expect(await run('generate')).toMatchObject({ code: 0 })
    expect(NAMES.map(hashOf)).toEqual(NAMES.map(listed))
  })

  test('warns of one that was edited, and passes', async () => {
    writeFileSync(out(DOCUMENT), 'edited')
    const { code, said } = await run('check')
    expect(code).toBe(0)
    expect(said).toContain(`warning drift: ${DOCUMENT} differs from the hash in manifest.json`)
    expect(textOf(DOCUMENT)).toBe('edited')
    await run('generate')
    expect(NAMES.map(hashOf)).toEqual(NAMES.map(listed))
  })

  test('check fails after an edit of the document, built or not', async () => {
    editDocument()
    const lineOf = (said: string) =>
      Number(/2030-01-01\.yaml:(\d+):\d+ error drift: generated 2030-01-01\/openapi/.exec(said)?.[1])
    const built = await run('check')
    expect(built.code).toBe(1)
    expect(readFileSync(spec(), 'utf8').split('\n')[lineOf(built.said) - 1]).toContain('isbn')
    removeBuilt()
    const { code, said } = await run('check')
    expect(code).toBe(1)
    expect(said).toMatch(
      /2030-01-01\.yaml:\d+:\d+ error drift: generated manifest\.json lists a different hash for 2030-01-01\/openapi\.json/,
    )
  })

  test('check fails for a wrong hash in the manifest alone', async () => {
    const file = at('out/manifest.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace(listed(DOCUMENT), '0'.repeat(32)))
    expect(await run('check')).toMatchObject({ code: 1, said: expect.stringContaining('manifest.json') })
    removeBuilt()
    expect(await run('check')).toMatchObject({
      code: 1,
      said: expect.stringMatching(
        /2030-01-01\.yaml:\d+:\d+ error drift: generated manifest\.json lists a different hash/,
      ),
    })
  })
})

test.each([
  ['a list of emitters that can', ['types']],
  ['of what is emitted', ['site'], ['types', 'documents']],
  ['a list', 'site'],
])(
  'a configuration is refused whose `builtWhenNeeded` is %s',
  async (_words, builtWhenNeeded, emit = EMIT) => {
    configure({ builtWhenNeeded, emit })
    expect(await run('check')).toMatchObject({
      code: 3,
      said: expect.stringContaining('use documents, site'),
    })
  },
)
