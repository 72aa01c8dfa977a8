/** What was made before is used only where it would come out the same, and never decides what comes out. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createCache, hashOf } from '../../generators/cache/cache.ts'
import { main } from '../../generators/cli.ts'
import { closures } from '../../generators/emit/validators/closure.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join('test/toolkit', '.cache-'))
  cpSync('test/golden/two-versions/openapi', join(folder, 'openapi'), { recursive: true })
  writeFileSync(
    join(folder, 'dateline.config.json'),
    JSON.stringify({ documents: './openapi', out: './out', emit: ['types', 'validators', 'site'] }),
  )
})
afterEach(() => {
  rmSync(folder, { recursive: true })
  vi.unstubAllEnvs()
})

async function run(command: string) {
  const lines: string[] = []
  const print = (line: string) => void lines.push(line)
  const code = await main(['--config', join(folder, 'dateline.config.json'), command], {
    out: print,
    error: print,
  })
  return { code, lines, last: lines.filter((line) => / files?, /.test(line)).at(-1) ?? '' }
}

const files = () =>
  readdirSync(join(folder, 'out'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => [file, readFileSync(file, 'utf8')])

test('a second run finds the same, with its warnings, and writes nothing', async () => {
  const first = await run('generate')
  const written = files()
  const second = await run('generate')
  expect(second.last).toMatch(/ 0 changed$/)
  const warnings = (lines: readonly string[]) => lines.filter((line) => line.includes('warning'))
  expect(warnings(second.lines)).toEqual(warnings(first.lines))
  expect(files()).toEqual(written)
  expect((await run('check')).code).toBe(0)
})

test.each(['out/2030-01-01/types.ts', 'out/validators.js'])(
  'an edited %s is seen after an unchanged run',
  async (path) => {
    await run('generate')
    await run('generate')
    const before = readFileSync(join(folder, path), 'utf8')
    writeFileSync(join(folder, path), `${before}// edited\n`)
    expect((await run('check')).code).toBe(1)
    await run('generate')
    expect(readFileSync(join(folder, path), 'utf8')).toBe(before)
  },
)

test('a file too many and one too few are seen', async () => {
  await run('generate')
  writeFileSync(join(folder, 'out', 'left-over.ts'), '')
  expect((await run('check')).code).toBe(1)
  rmSync(join(folder, 'out', 'left-over.ts'))
  await run('generate')
  rmSync(join(folder, 'out', '2030-06-01', 'types.ts'))
  expect((await run('check')).code).toBe(1)
})

test('an edited document is read again; what comes out is what comes out without a cache', async () => {
  await run('generate')
  const file = join(folder, 'openapi', '2030-06-01.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^info:/m, '# Edited.\ninfo:'))
  expect((await run('check')).code).toBe(0)
  writeFileSync(
    file,
    readFileSync(file, 'utf8')
      .replace(/title: .*$/m, 'title: Another title }')
      .replace(' } }', ' }'),
  )
  const edited = await run('generate')
  const cached = files()
  vi.stubEnv('DATELINE_CACHE', 'off')
  expect((await run('generate')).code).toBe(edited.code)
  expect(files()).toEqual(cached)
})

test('a damaged entry is as if it were not there', () => {
  const cache = createCache(join(folder, 'entries'))
  cache.write('a', 'text')
  expect(cache.read('a')).toBe('text')
  const file = join(folder, 'entries', 'a')
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.subarray(0, bytes.length - 3))
  expect(cache.read('a')).toBeUndefined()
  expect(cache.read('b')).toBeUndefined()
})

test('texts do not run together in a hash', () => {
  expect(hashOf('ab', 'c')).not.toBe(hashOf('a', 'bc'))
})

test('closures tell what is reached, round in circles too', () => {
  const graph = (leaf: string) =>
    new Map([
      ['leaf', { text: leaf, refs: [] }],
      ['a', { text: 'a', refs: ['b'] }],
      ['b', { text: 'b', refs: ['a', 'leaf'] }],
      ['top', { text: 'top', refs: ['a'] }],
      ['alone', { text: 'alone', refs: [] }],
    ])
  const [one, same, other] = [closures(graph('1')), closures(graph('1')), closures(graph('2'))]
  expect(one).toEqual(same)
  for (const name of ['leaf', 'a', 'b', 'top']) expect(one.get(name)!.hash).not.toBe(other.get(name)!.hash)
  expect(one.get('alone')).toEqual(other.get('alone'))
  expect([...one].filter(([, { cyclic }]) => cyclic).map(([name]) => name)).toEqual(['a', 'b', 'top'])
  expect(new Set([...one.values()].map(({ hash }) => hash)).size).toBe(5)
})

// A walk of every path through the web would never end.
test('a chain of thousands and a web of hundreds have hashes', () => {
  const chain = new Map(
    Array.from({ length: 3000 }, (_, n) => [`n${n}`, { text: 'same', refs: [`n${n + 1}`] }] as const),
  )
  const everyone = Array.from({ length: 300 }, (_, n) => `w${n}`)
  const web = new Map(everyone.map((name) => [name, { text: name, refs: everyone }] as const))
  expect(closures(chain).size).toBe(3000)
  expect(new Set([...closures(web).values()].map(({ hash }) => hash)).size).toBe(300)
})
