/** The toolkit serves families that it knows nothing of: one outside of this repository, with a server of its own. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'foreign-'))
const stops: (() => Promise<void>)[] = []
let base: string

const node = (...args: readonly string[]) =>
  execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })

/** Installs what generated code needs, as npm would: links to packages, the toolkit among them. */
function install(): void {
  mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true })
  symlinkSync(resolve('generators'), join(folder, 'node_modules', 'dateline'))
  for (const name of ['@types/node', 'openapi-fetch'])
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
}

async function startServer(): Promise<string> {
  const server = spawn(process.execPath, ['server.ts'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(server, 'exit')
  stops.push(async () => {
    server.kill()
    await ended
  })
  const lines = createInterface(server.stdout)
  const [port] = await Promise.race([once(lines, 'line'), ended.then(() => Promise.reject('no server'))])
  return `http://127.0.0.1:${port}`
}

beforeAll(async () => {
  cpSync('test/toolkit/foreign', folder, { recursive: true })
  install()
  node(resolve('generators/cli.ts'), 'generate')
  base = await startServer()
}, 300_000)
afterAll(async () => {
  for (const stop of stops) await stop()
  rmSync(folder, { recursive: true })
})

const ask = async (version: string, method: string, path: string, body?: object) => {
  const response = await fetch(base + path, {
    method,
    headers: { 'library-version': version, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const { status, headers } = response
  return { status, headers, body: (await response.json()) as { readonly errors?: readonly unknown[] } }
}

test('the generated code compiles, the client and the change among it', () => {
  expect(node(resolve('node_modules/typescript/bin/tsc'), '--project', '.')).toBe('')
}, 300_000)

test('the generated code is what the documents say', () => {
  expect(node(resolve('generators/cli.ts'), 'check')).toContain('match the documents')
})

test('the generated code imports the toolkit and no path outside of its folder', () => {
  const routes = readFileSync(join(folder, 'generated/2030-01-01/routes.ts'), 'utf8')
  const imported = [...routes.matchAll(/from '([^']+)'/g)].map((match) => match[1])
  expect(imported).toContain('dateline/runtime')
  expect(imported.filter((each) => each?.startsWith('../../'))).toEqual([])
})

test('callers of both versions are served by one handler', async () => {
  const made = await ask('2030-01-01', 'POST', '/books', { title: 'Emma', pages: 474, shelf: 'upper' })
  expect(made).toMatchObject({
    status: 201,
    body: { id: 'book_1', title: 'Emma', pages: 474, shelf: 'upper' },
  })
  expect((await ask('2030-06-01', 'GET', '/books/book_1')).body).toEqual({
    id: 'book_1',
    name: 'Emma',
    pages: 474,
    shelf: 'top',
  })
})

test('each version refuses what it does not describe, in its own words', async () => {
  const old = await ask('2030-01-01', 'POST', '/books', { name: 'Emma', pages: 474 })
  expect(old.status).toBe(422)
  expect(old.body.errors).toContainEqual({ field: 'title', issue: 'is required' })
  const next = await ask('2030-06-01', 'POST', '/books', { name: 'Emma', pages: 0 })
  expect(next.status).toBe(422)
  expect(next.body.errors).toEqual([{ field: 'pages', issue: 'must be at least 1' }])
  expect((await ask('2030-06-01', 'GET', '/books/nothing')).status).toBe(400)
  expect((await ask('2030-06-01', 'GET', '/books/book_9')).status).toBe(404)
})
