/** The packed toolkit as strangers get it: from the tarball to an API with two versions, on each Node that is here and in each framework. */
import { execFileSync, type SpawnSyncReturns, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../support/ports.ts'
import { install, pack } from './packed.ts'

const root = mkdtempSync(join(tmpdir(), 'dateline-package-'))
const app = join(root, 'app')
const dateline = join(root, 'node_modules/dateline')
const FRAMEWORKS = ['node', 'express', 'fastify', 'hono'] as const

/** The Node that runs this, and others on the PATH, by major version. */
function findNodes(): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const folders = [dirname(process.execPath), ...(process.env.PATH ?? '').split(delimiter)]
  for (const file of folders.map((folder) => join(folder, 'node')).filter(existsSync)) {
    const [major = ''] = execFileSync(file, ['-p', 'process.versions.node'], { encoding: 'utf8' }).split('.')
    if (Number(major) >= 20 && !found.has(major)) found.set(major, file)
  }
  return found
}

const nodes = findNodes()

const cli = join(dateline, 'dist/cli.js')

const run = (node: string, cwd: string, ...words: readonly string[]) =>
  execFileSync(node, words, { cwd, encoding: 'utf8', stdio: 'pipe' })

function failureOf(node: string, cwd: string, ...words: readonly string[]): string {
  try {
    run(node, cwd, ...words)
  } catch (error) {
    return (error as SpawnSyncReturns<string>).stderr
  }
  throw new Error(`${words.join(' ')} did not fail`)
}

beforeAll(() => {
  install(pack(), root)
  for (const framework of FRAMEWORKS) {
    const folder = framework === 'node' ? app : join(root, framework)
    run(process.execPath, root, cli, 'init', folder, '--framework', framework, '--date', '2030-01-01')
    if (framework !== 'node') cpSync(join(folder, 'server.ts'), join(app, `server-${framework}.ts`))
  }
  run(process.execPath, app, cli, 'generate')
}, 120_000)
afterAll(() => rmSync(root, { recursive: true }))

test('the package holds JavaScript and declarations, and no source in TypeScript but what clients copy', () => {
  const files = readdirSync(join(dateline, 'dist'), { recursive: true, encoding: 'utf8' })
  const sources = files.filter((file) => /(?<!\.d)\.ts$/.test(file))
  const copied =
    /^(client-(runtime|testing|upgrade)\/|runtime\/explain\/|runtime\/(contract|explain|forbidden|formats|nearest|parameters|path-matcher|values)\.ts$)/
  expect(sources.filter((file) => !copied.test(file))).toEqual([])
  const { exports, bin } = JSON.parse(readFileSync(join(dateline, 'package.json'), 'utf8'))
  const named = [
    ...Object.values<Record<string, string>>(exports).flatMap(Object.values),
    ...Object.values(bin),
  ]
  expect(named.filter((path) => !existsSync(join(dateline, path as string)))).toEqual([])
  expect(named.length).toBeGreaterThan(30)
})

test('the manifest names the repository that it is published from, as provenance requires', () => {
  const { repository, publishConfig, private: hidden } = manifestOf(dateline)
  expect(repository).toEqual({
    type: 'git',
    url: 'git+https://git.test/library/dateline.git',
    directory: 'generators',
  })
  expect([publishConfig, hidden]).toEqual([{ access: 'public', provenance: true }, undefined])
})

const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** Adds the folders of a package's dependencies, and of theirs. */
function addDependencies(folder: string, found: Set<string>): Set<string> {
  const { dependencies = {}, optionalDependencies = {} } = manifestOf(folder)
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const parents = folder.split('node_modules/').length - 1
    const roots = Array.from({ length: parents }, (_, n) => folder.split('node_modules/').slice(0, n + 1))
    const holders = [folder, ...roots.reverse().map((parts) => parts.join('node_modules/'))]
    const installed = holders.map((holder) => join(holder, 'node_modules', name)).find(existsSync)
    if (installed === undefined || found.has(realpathSync(installed))) continue
    found.add(realpathSync(installed))
    addDependencies(realpathSync(installed), found)
  }
  return found
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .reduce((sum, entry) => {
      const path = join(folder, entry.name)
      return sum + (entry.isDirectory() ? bytesBelow(path) : lstatSync(path).size)
    }, 0)
}

test('an installation is as small as the README says', () => {
  const readme = readFileSync('generators/README.md', 'utf8')
  const [, packages, megabytes] = /with its (\d+) dependencies\s+it takes (\d+) MB/.exec(readme)!
  const found = addDependencies(dateline, new Set())
  expect(found.size).toBe(Number(packages))
  const bytes = [dateline, ...found].map(bytesBelow).reduce((sum, each) => sum + each, 0)
  expect(bytes / 1e6).toBeLessThan(Number(megabytes))
  expect(bytes / 1e6).toBeGreaterThan(Number(megabytes) * 0.8)
})

test.each(['types', 'react-query'])('the package generates what the toolkit generates: %s', (name) => {
  const copy = join(root, name)
  cpSync(`test/golden/${name}`, copy, { recursive: true, filter: (path) => !path.endsWith('/want') })
  run(process.execPath, copy, cli, 'generate')
  const manifest = readFileSync(join(copy, 'want/manifest.json'), 'utf8')
  expect(manifest).toBe(readFileSync(`test/golden/${name}/want/manifest.json`, 'utf8'))
})

test('a new project passes its own test, and compiles with the server of each framework', () => {
  expect(run(process.execPath, app, '--test', 'api.test.ts')).toMatch(/pass 2/)
  expect(run(process.execPath, app, resolve('node_modules/typescript/bin/tsc'), '-p', '.')).toBe('')
})

test('a new project is not written over', () => {
  expect(failureOf(process.execPath, app, cli, 'init')).toContain('has versions already')
})

test('a command says which package it needs, if that is not installed', () => {
  expect(failureOf(process.execPath, app, cli, 'mcp')).toContain(
    'npm install --save-dev @modelcontextprotocol/server@2',
  )
})

describe('a configuration in TypeScript', () => {
  const project = join(root, 'typescript')
  beforeAll(() => {
    cpSync(app, project, { recursive: true })
    rmSync(join(project, 'dateline.config.json'))
    const config = {
      documents: './openapi',
      versions: './versions',
      out: './generated',
      emit: ['types', 'routes', 'handlers', 'documents'],
      builtWhenNeeded: ['documents'],
      handlers: './',
    }
    const text = `import { defineConfig } from 'dateline'\nexport default defineConfig(${JSON.stringify(config)})\n`
    writeFileSync(join(project, 'dateline.config.ts'), text)
    const build = `import { ensureBuilt } from 'dateline/build'\nawait ensureBuilt('dateline.config.json')\n`
    writeFileSync(join(project, 'build.mjs'), build)
    const suite = `import { testFamily } from 'dateline/vitest'\ntestFamily()\n`
    writeFileSync(join(project, 'family.test.ts'), suite)
    run(process.execPath, project, cli, 'generate')
  })

  test.each([...nodes.keys()])('is read by commands and by programs on Node %s', (major) => {
    const node = nodes.get(major)!
    expect(run(node, project, cli, 'check')).toContain('all match the documents')
    const built = join(project, 'generated/2030-01-01/openapi.json')
    rmSync(built)
    run(node, project, 'build.mjs')
    expect(existsSync(built)).toBe(true)
  })

  test('has its tests, without optional packages', () => {
    const vitest = resolve('node_modules/vitest/vitest.mjs')
    const handlers = join(project, 'handlers.ts')
    const text = readFileSync(handlers, 'utf8')
    const suite = [vitest, 'run', 'family.test.ts']
    expect(run(process.execPath, project, ...suite)).toMatch(/4 passed/)
    writeFileSync(handlers, text.replaceAll('getBook', 'fetchBook'))
    expect(failureOf(process.execPath, project, ...suite)).toMatch(/FAIL .*every handler exists/)
  })
})

const CHANGE = `import type * as Old from '../../generated/2030-01-01/types.ts'
import type * as New from '../../generated/2030-06-01/types.ts'
import { between } from 'dateline/change'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

`

const CHANGES = {
  'rename-title': `export default v.change({
  id: 'rename-title',
  why: 'A book has a name.',
  lenses: [v.rename(['BookCreate', 'Book'], 'title', 'name')],
})
`,
  'require-pages': `export default v.change({
  id: 'require-pages',
  why: 'The number of pages is required.',
  lenses: [v.default(['BookCreate'], 'pages', 1)],
})
`,
  'rename-error-title': `export default v.change({
  id: 'rename-error-title',
  why: 'An error has a message.',
  lenses: [v.rename(['Error'], 'title', 'message')],
})
`,
}

describe('a version with three breaking changes', () => {
  beforeAll(() => {
    run(process.execPath, app, cli, 'new-version', '2030-06-01')
    const file = join(app, 'openapi/2030-06-01.yaml')
    const text = readFileSync(file, 'utf8')
      .replaceAll('required: [title]', 'required: [name]')
      .replace('required: [id, title]', 'required: [id, name]')
      .replaceAll('title: { type: string, maxLength: 200 }', 'name: { type: string, maxLength: 200 }')
      .replace('required: [name]', 'required: [name, pages]')
      .replace(
        /required: \[name\]\n {6}properties:\n {8}title:/,
        'required: [message]\n      properties:\n        message:',
      )
    writeFileSync(file, text)
  })

  test('is refused until changes account for it, and served once they do', { timeout: 60_000 }, async () => {
    const refusal = failureOf(process.execPath, app, cli, 'generate')
    expect(refusal).toContain('break-unclaimed')
    expect(refusal).toContain("v.rename(['BookCreate', 'Book'], 'title', 'name')")
    mkdirSync(join(app, 'versions/2030-06-01'), { recursive: true })
    for (const [id, text] of Object.entries(CHANGES))
      writeFileSync(join(app, `versions/2030-06-01/${id}.ts`), CHANGE + text)
    const handlers = join(app, 'handlers.ts')
    writeFileSync(handlers, readFileSync(handlers, 'utf8').replace('{ title: `', '{ message: `'))
    run(process.execPath, app, cli, 'generate')
    run(process.execPath, app, cli, 'check')
    expect(run(process.execPath, app, resolve('node_modules/typescript/bin/tsc'), '-p', '.')).toBe('')
  })

  test.each([...nodes.keys()])('recorded traffic is replayed on Node %s', (major) => {
    const row = { method: 'POST', target: '/books', request_body: { title: 'Emma' } }
    writeFileSync(join(app, 'traffic.ndjson'), JSON.stringify(row))
    const report = run(nodes.get(major)!, app, cli, 'replay', 'traffic.ndjson', '--from', '2030-01-01')
    expect(report).toContain('createBook body.name is required: 1 exchange, first traffic.ndjson:1')
  })

  const servers = [
    ...FRAMEWORKS.map((framework) => ['24', framework] as const),
    ...[...nodes.keys()].filter((major) => major !== '24').map((major) => [major, 'node'] as const),
  ]
  test.each(servers)(
    'is served on Node %s with %s, beside the first one',
    { timeout: 60_000 },
    async (major, framework) => {
      const node = nodes.get(major)!
      // Node 22.18 and later load TypeScript; before that, jiti does.
      const loads = Number(major) >= 24 ? [] : ['--import', 'jiti/register']
      if (loads.length > 0) run(node, app, cli, 'check')
      const port = await freePort()
      const file = framework === 'node' ? 'server.ts' : `server-${framework}.ts`
      const server = spawn(node, [...loads, file], {
        cwd: app,
        env: { ...process.env, PORT: String(port) },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(server, 'exit')
      try {
        await Promise.race([
          once(createInterface(server.stdout), 'line'),
          ended.then(() => Promise.reject('no server')),
        ])
        const send = async (version: string, path: string, body?: object) => {
          const response = await fetch(`http://127.0.0.1:${port}${path}`, {
            ...(body && { method: 'POST', body: JSON.stringify(body) }),
            headers: { 'api-version': version, 'content-type': 'application/json' },
          })
          const { status, headers } = response
          return [status, headers.get('api-version'), await response.json()] as const
        }
        const old = '2030-01-01'
        const emma = { id: 'book_1', title: 'Emma', pages: 1 }
        expect(await send(old, '/books', { title: 'Emma' })).toEqual([201, old, emma])
        expect(await send(old, '/books/book_1')).toEqual([200, old, emma])
        expect(await send('2030-06-01', '/books/book_1')).toEqual([
          200,
          '2030-06-01',
          { id: 'book_1', name: 'Emma', pages: 1 },
        ])
        expect(await send(old, '/books/book_9')).toEqual([404, old, { title: 'There is no book book_9.' }])
        expect(await send('2030-06-01', '/books/book_9')).toMatchObject([
          404,
          '2030-06-01',
          { message: expect.stringContaining('book_9') },
        ])
        const [status, , refused] = await send('2030-06-01', '/books', { name: 'Emma' })
        expect([status, refused]).toMatchObject([422, { errors: [{ field: 'pages', issue: 'is required' }] }])
      } finally {
        server.kill()
        await ended
      }
    },
  )
})
