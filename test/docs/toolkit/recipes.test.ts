/** The recipes of the toolkit's documentation: TypeScript compiles in a new project, and commands run as printed. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applyDiff, type FencedBlock, fencedBlocks } from '../../readme/page.ts'
import { install, pack } from '../../toolkit/packed.ts'

const root = mkdtempSync(join(tmpdir(), 'dateline-recipes-'))
const project = join(root, 'project')
const service = join(root, 'service')
const cli = join(root, 'node_modules/dateline/dist/cli.js')
const blocks = fencedBlocks(readFileSync('docs/toolkit/recipes.md', 'utf8'))

const node = (cwd: string, ...words: readonly string[]) =>
  execFileSync(process.execPath, words, { cwd, encoding: 'utf8', stdio: 'pipe' })

beforeAll(() => {
  install(pack(), root)
  mkdirSync(service)
  node(root, cli, 'init', 'project', '--date', '2030-01-01')
  node(project, cli, 'generate')
}, 120_000)
afterAll(() => rmSync(root, { recursive: true }))

test('TypeScript compiles', { timeout: 120_000 }, () => {
  const files = blocks.filter(({ language }) => language === 'ts')
  expect(files.length).toBeGreaterThan(6)
  for (const { title, text } of files) writeFileSync(join(project, title), text)
  const tsc = spawnSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', '.'], {
    cwd: project,
    encoding: 'utf8',
  })
  expect(tsc.stdout).toBe('')
})

test.each([
  ['pinned-api.ts', { 'Api-Version': '2030-01-01' }, '/books/book_1'],
  ['path-api.ts', {}, '/2030-01-01/books/book_1'],
  ['own-errors.ts', {}, '/books/book_1'],
  ['metered-api.ts', {}, '/books/book_1'],
])('%s answers', async (file, headers, path) => {
  const text = blocks.find(({ title }) => title === file)!.text
  writeFileSync(join(project, file), text)
  const { api } = (await import(join(project, file))) as {
    api: { fetch(request: Request): Promise<Response> }
  }
  const response = await api.fetch(new Request(`http://localhost${path}`, { headers }))
  expect([response.status, await response.json()]).toEqual([404, { title: 'There is no book book_1.' }])
})

test('commands run as printed, and a breaking change is refused', { timeout: 120_000 }, () => {
  let shown = ''
  const type = (command: string, fails: boolean) => {
    const npx = `npx() { shift; "${process.execPath}" "${cli}" "$@"; }\n`
    const { status, stdout, stderr } = spawnSync('bash', ['-c', npx + command], {
      cwd: service,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
    })
    shown = stdout + stderr
    expect([command, status !== 0, shown]).toEqual([command, fails, shown])
  }
  const follow = ({ language, title, text }: FencedBlock) => {
    const file = join(service, title)
    if (language === 'sh') for (const command of text.trim().split('\n')) type(command, title === 'Fails')
    else if (language === 'js') writeFileSync(file, text)
    else if (language === 'diff') writeFileSync(file, applyDiff(title, readFileSync(file, 'utf8'), text))
    else if (title === 'Part of the output') expect(shown).toContain(text.trimEnd())
  }
  const ran = blocks.filter(({ language }) => ['sh', 'js', 'diff', 'text'].includes(language))
  expect(ran.length).toBeGreaterThan(6)
  ran.forEach(follow)
})

test('the workflow is the one that `init` writes, without the tests', () => {
  const [shown] = blocks.filter(({ language }) => language === 'yaml')
  const written = load(readFileSync(join(project, '.github/workflows/api.yml'), 'utf8')) as {
    jobs: { check: { steps: { run?: string }[] } }
  }
  written.jobs.check.steps = written.jobs.check.steps.filter(({ run }) => run !== 'npm test')
  expect(load(shown!.text)).toEqual(written)
})
