/** Output never costs anybody a file: only what dateline wrote, and nobody edited since, is replaced or removed. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'
import { manifestOf, mergeManifests, parseManifest, printManifest } from '../../generators/output/manifest.ts'
import { writeFiles } from '../../generators/output/write.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dateline-output-'))
  cpSync('test/golden/one-version/openapi', join(folder, 'openapi'), { recursive: true })
  configure({})
})
afterEach(() => rmSync(folder, { recursive: true }))

const at = (path: string) => join(folder, path)
const write = (path: string, text = 'mine\n') => {
  mkdirSync(join(at(path), '..'), { recursive: true })
  writeFileSync(at(path), text)
}

function configure(members: object): void {
  const config = { documents: './openapi', out: './out', emit: ['types', 'documents'], ...members }
  write('dateline.config.json', `${JSON.stringify(config, null, 2)}\n`)
}

async function run(...argv: string[]) {
  const lines: string[] = []
  const print = (line: string) => void lines.push(line)
  const code = await main(['--config', at('dateline.config.json'), ...argv], { out: print, error: print })
  return { code, said: lines.join('\n') }
}

/** Everything below the folder, with texts. */
const all = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => [file, readFileSync(file, 'utf8')])

describe('an output folder that holds what output is made of', () => {
  test.each([
    ['.', 'the configuration', {}],
    ['./openapi', 'the document', {}],
    ['./src', '`handlers`', { handlers: './src/handlers', emit: ['types'] }],
    ['./changes', '`versions`', { versions: './changes' }],
    ['./changes/2030-01-01', 'inside `versions`', { versions: './changes' }],
    ['./repository', 'a Git repository', {}],
    ['./repository/.git/hooks', 'a Git repository', {}],
    ['./link', 'the document', {}],
    ['./README', 'a file', {}],
    // A name that begins like the way out.
    ['./holder', 'the document', { documents: './holder/..documents' }],
  ])('%s is refused where it stands: it is or holds %s', async (out, why, members) => {
    write('src/handlers/mine.ts')
    write('changes/2030-01-01/mine.ts')
    write('repository/.git/HEAD')
    write('README')
    symlinkSync('openapi', at('link'))
    cpSync(at('openapi'), at('holder/..documents'), { recursive: true })
    configure({ out, ...members })
    const before = all()
    const { code, said } = await run('generate')
    expect(code).toBe(3)
    expect(said).toMatch(/dateline\.config\.json:3:3 error config-invalid: `out` names/)
    expect(said).toContain(why)
    expect(said).toContain('nothing was written')
    expect(all()).toEqual(before)
  })

  test('documents beside the output, and output below the documents, are both fine', async () => {
    configure({ out: './openapi/made' })
    expect((await run('generate')).code).toBe(0)
    expect((await run('check')).code).toBe(0)
    expect(existsSync(at('openapi/2030-01-01.yaml'))).toBe(true)
  })
})

describe('files that dateline did not write', () => {
  test.each(['notes.md', '2030-01-01/notes.md', '2030-01-01/types.ts', 'manifest.json', '.gitignore'])(
    'a foreign file %s stays, and nothing is written beside it',
    async (path) => {
      write(`out/${path}`)
      const before = all()
      const { code, said } = await run('generate')
      expect(code).toBe(1)
      expect(said).toMatch(new RegExp(`out/${path.replaceAll('.', '\\.')}:1:1 error output-foreign`))
      expect(all()).toEqual(before)
    },
  )

  test('sources of somebody else in the folder stay, the first twenty named', async () => {
    for (let n = 0; n < 25; n++) write(`src/module-${n}.ts`)
    configure({ out: './src' })
    const before = all()
    const { code, said } = await run('generate')
    expect(code).toBe(1)
    expect(said.match(/src\/module-\d+\.ts:1:1/g)).toHaveLength(20)
    expect(said).toContain('5 more such files')
    expect(all()).toEqual(before)
  })

  test('a stale file goes; one that was edited since stays, and is named', async () => {
    await run('generate')
    configure({ emit: ['types'] })
    const before = readFileSync(at('out/2030-01-01/openapi.json'), 'utf8')
    write('out/2030-01-01/openapi.json', `${before}\n`)
    expect(await run('generate')).toMatchObject({ code: 1 })
    expect(existsSync(at('out/2030-01-01/openapi.json'))).toBe(true)
    write('out/2030-01-01/openapi.json', before)
    expect((await run('generate')).said).toContain('removed 2030-01-01/openapi.json')
    expect(existsSync(at('out/2030-01-01/openapi.json'))).toBe(false)
  })

  test('an empty folder in the place of a file is somebody’s', async () => {
    mkdirSync(at('out/2030-01-01/types.ts'), { recursive: true })
    expect((await run('generate')).code).toBe(1)
  })

  test('links in the folder are not followed: what they lead to stays', async () => {
    await run('generate')
    renameSync(at('out/2030-01-01'), at('elsewhere'))
    symlinkSync('../elsewhere', at('out/2030-01-01'))
    configure({ emit: ['types'] })
    const { code, said } = await run('generate')
    expect(code).toBe(1)
    expect(said).toContain('out/2030-01-01:1:1 error output-foreign')
    expect(readdirSync(at('elsewhere')).sort()).toEqual(['openapi.json', 'types.ts'])
  })

  test('a link in the place of a file is somebody’s, though it leads to the same text', async () => {
    await run('generate')
    renameSync(at('out/2030-01-01/types.ts'), at('elsewhere.ts'))
    symlinkSync('../../elsewhere.ts', at('out/2030-01-01/types.ts'))
    configure({ emit: ['types'] })
    const { code, said } = await run('generate')
    expect(code).toBe(1)
    expect(said).toContain('out/2030-01-01/types.ts:1:1 error output-foreign')
  })

  test('types ahead of a gate that fails are held to the same', async () => {
    cpSync('test/golden/gate-unclaimed/openapi', at('broken'), { recursive: true })
    mkdirSync(at('versions'))
    configure({ documents: './broken', versions: './versions' })
    write('out/notes.md')
    const { code, said } = await run('generate')
    expect(code).toBe(1)
    expect(said).toContain('output-foreign')
    expect(readdirSync(at('out'))).toEqual(['notes.md'])
    rmSync(at('out/notes.md'))
    await run('generate', '--dry-run')
    expect(existsSync(at('out/2030-06-01/types.ts'))).toBe(false)
    await run('generate')
    expect(existsSync(at('out/2030-06-01/types.ts'))).toBe(true)
  })
})

test('a dry run says what would be written and removed, and does neither', async () => {
  expect(await run('generate', '--dry-run')).toMatchObject({
    code: 0,
    said: expect.stringMatching(/would write 2030-01-01\/types\.ts[\s\S]* would change$/),
  })
  expect(existsSync(at('out'))).toBe(false)
  await run('generate')
  configure({ emit: ['types'] })
  const before = all()
  expect((await run('generate', '--dry-run')).said).toContain('would remove 2030-01-01/openapi.json')
  expect(all()).toEqual(before)
})

describe('a run that was killed', () => {
  const OLD = [
    { path: 'v1/a.ts', text: 'a of yesterday' },
    { path: 'v1/b.ts', text: 'b of yesterday' },
  ]
  const KILLED = [
    { path: 'v1/a.ts', text: 'a of today' },
    { path: 'v2/c.ts', text: 'c of today' },
  ]
  const NEXT = [{ path: 'v3/d.ts', text: 'd of tomorrow' }]

  // The manifest is written before the first file, and again after the last.
  test.each([0, 1, 2, 3])(
    'a run that was killed after %i of its steps is completed, or cleared away, by the next',
    (steps) => {
      writeFiles(at('out'), OLD)
      const both = mergeManifests(manifestOf(OLD), manifestOf(KILLED))
      write('out/manifest.json', printManifest(both))
      write('out/.dateline.999999999.tmp', 'half a fi')
      if (steps > 0) rmSync(at('out/v1/b.ts'))
      if (steps > 1) write('out/v1/a.ts', 'a of today')
      if (steps > 2) write('out/v2/c.ts', 'c of today')
      writeFiles(at('out'), NEXT)
      expect(readdirSync(at('out')).sort()).toEqual(['manifest.json', 'v3'])
      expect(parseManifest(readFileSync(at('out/manifest.json'), 'utf8'))).toEqual(manifestOf(NEXT))
    },
  )

  test('a run that was killed is not taken for one that is running', () => {
    const temporary = `out/.dateline.${process.ppid}.tmp`
    write(temporary, 'half a fi')
    writeFiles(at('out'), OLD)
    expect(existsSync(at(temporary))).toBe(true)
  })

  test('a run that was killed leaves a manifest that lists what it had begun', () => {
    writeFiles(at('out'), OLD)
    // A folder in the way, where nothing may be written: the run ends after the manifest and the first file.
    mkdirSync(at('out/client/node_modules'), { recursive: true })
    const blocked = [...KILLED, { path: 'client/node_modules', text: '' }]
    expect(() => writeFiles(at('out'), blocked)).toThrow('output-unwritable')
    const manifest = parseManifest(readFileSync(at('out/manifest.json'), 'utf8'))
    expect(manifest).toEqual(mergeManifests(manifestOf(OLD), manifestOf(blocked)))
    rmSync(at('out/client'), { recursive: true })
    writeFiles(at('out'), KILLED)
    expect(readdirSync(at('out/v1'))).toEqual(['a.ts'])
  })
})

test('a file that differs in case alone is not lost where case does not count', () => {
  writeFiles(at('out'), [{ path: 'V1/types.ts', text: 'one' }])
  writeFiles(at('out'), [{ path: 'v1/types.ts', text: 'one' }])
  expect(readdirSync(at('out')).sort()).toEqual(['manifest.json', 'v1'])
  expect(readFileSync(at('out/v1/types.ts'), 'utf8')).toBe('one')
})

test.each([
  ['2030-A', '2030-a'],
  ['canonical', '2030'],
  ['Client', '2030'],
  ['node_modules', '2030'],
])('versions %s and %s have no folder of their own', async (one, other) => {
  rmSync(at('openapi'), { recursive: true })
  const document = (version: string) =>
    `openapi: 3.1.0\ninfo: { title: T, version: '${version}' }\npaths: {}\n`
  write('openapi/1.yaml', document(one))
  write('openapi/2.yaml', document(other))
  const { code, said } = await run('generate')
  expect(code).toBe(0)
  expect(said).toContain('version-unclear')
  expect(existsSync(at('out/1/types.ts')) && existsSync(at('out/2/types.ts'))).toBe(true)
})

test('the output of another family in a subfolder is left alone', async () => {
  await run('generate')
  configure({ out: './out/other', emit: ['types'] })
  await run('generate')
  const before = all().filter(([file]) => file!.includes('/out/other/'))
  configure({})
  expect(await run('check')).toMatchObject({ code: 0 })
  expect(await run('generate')).toMatchObject({ code: 0 })
  expect(all().filter(([file]) => file!.includes('/out/other/'))).toEqual(before)
})
