/** A service whose code comes first: its document is stored as versions, and compared with the newest. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { main } from '../../generators/cli.ts'

const DOCUMENT = readFileSync('test/toolkit/foreign/openapi/2030-01-01.yaml', 'utf8')
/** Adds an optional property to answers, which breaks nothing. */
const ADDITIVE = DOCUMENT.replace(
  'required: [id, title, pages, shelf]\n      properties:',
  (text) => `${text}\n        subtitle: { type: string }`,
)
const BREAKING = DOCUMENT.replaceAll('title:', 'name:')
  .replaceAll(/\[(id, )?title/g, '[$1name')
  .replace('name: Library', 'title: Library')

let folder: string
const before = process.cwd()
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'freeze-'))
  process.chdir(folder)
  writeFileSync('service.yaml', DOCUMENT)
})
afterEach(() => {
  process.chdir(before)
  rmSync(folder, { recursive: true })
})

async function dateline(...words: readonly string[]) {
  const said: string[] = []
  const say = (line: string) => void said.push(line)
  const exit = await main(words, { out: say, error: say })
  return { exit, said: said.join('\n') }
}

async function adopt(source = 'service.yaml') {
  await dateline('adopt', source, '--date', '2030-01-01')
  await dateline('generate')
}

test('check passes while the service says what its newest version says', async () => {
  await adopt()
  expect((await dateline('check')).exit).toBe(0)
})

test('check refuses what breaks callers, with the draft of its change, until a new version has it', async () => {
  await adopt()
  writeFileSync('service.yaml', BREAKING)
  const { exit, said } = await dateline('check')
  expect(exit).toBe(1)
  expect(said).toContain('source-changed')
  expect(said).toContain("v.rename(['BookCreate', 'Book'], 'title', 'name')")
  expect((await dateline('freeze', '2030-01-01')).said).toContain('2030-01-01 cannot be stored again')
  expect((await dateline('freeze', '2029-12-31')).said).toContain('2029-12-31 is frozen')
  expect((await dateline('freeze', '2030-06-01')).exit).toBe(0)
  const next = (await dateline('check')).said
  expect(next).not.toContain('source-changed')
  expect(next).toContain('versions/2030-06-01/rename-title.ts')
})

test('what breaks nothing is stored in the newest version', async () => {
  await adopt()
  writeFileSync('service.yaml', ADDITIVE)
  expect((await dateline('check')).said).toContain(
    'run `dateline freeze 2030-01-01`: nothing here breaks callers',
  )
  expect((await dateline('freeze', '2030-01-01')).exit).toBe(0)
  await dateline('generate')
  expect((await dateline('check')).exit).toBe(0)
  expect(readdirSync('openapi')).toEqual(['2030-01-01.yaml'])
})

test('a version that is stored again in the other notation replaces its file', async () => {
  await adopt()
  writeFileSync('service.json', JSON.stringify(parse(ADDITIVE)))
  expect((await dateline('freeze', '2030-01-01', '--from', 'service.json')).exit).toBe(0)
  expect(readdirSync('openapi')).toEqual(['2030-01-01.json'])
})

test('a version is refused whose name cannot be that of a file', async () => {
  await adopt()
  const refused = await dateline('freeze', '../2031-01-01')
  expect([refused.exit, refused.said]).toEqual([
    2,
    expect.stringContaining('cannot be the name of a version'),
  ])
})

test('the document comes from a URL, and from a command', async () => {
  const server = createServer((_request, response) => response.end(DOCUMENT)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  try {
    const { port } = server.address() as AddressInfo
    await adopt(`http://127.0.0.1:${port}/openapi.yaml`)
    expect((await dateline('check')).exit).toBe(0)
    const { exit } = await dateline('freeze', '2030-01-01', '--from', 'cat service.yaml')
    expect(exit).toBe(0)
  } finally {
    server.close()
  }
  const refused = await dateline('check')
  expect([refused.exit, refused.said]).toEqual([2, expect.stringContaining('cannot be read')])
})

test('a source that gives no document is refused, and nothing is written', async () => {
  const refused = await dateline('adopt', 'exit 3')
  expect([refused.exit, refused.said]).toEqual([2, expect.stringContaining('neither a URL nor a file')])
  writeFileSync('empty.yaml', 'no: document\n')
  expect((await dateline('adopt', 'empty.yaml')).said).toContain('the document has no `info`')
  expect(readdirSync('.').sort()).toEqual(['empty.yaml', 'service.yaml'])
})
