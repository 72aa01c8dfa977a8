/** The first start of a clone: documents are not committed, and whole once the service is ready; so are pages once they are read. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { current, versions } from '../../generated/versions.ts'
import { linkPackages } from '../support/clone.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { endPrograms, isAlive, type Program, ROOT, startService, until } from '../support/programs.ts'

/** One place for all clones, one after the other: what Node has compiled for one of them is found for the next. */
const place = mkdtempSync(join(tmpdir(), 'svc-clone-'))
chmodSync(place, 0o755)
const clone = join(place, 'clone')
let db: TestDatabase
beforeEach(async () => {
  mkdirSync(clone)
  for (const file of committed()) cpSync(join(ROOT, file), join(clone, file), { recursive: true })
  linkPackages(clone, { withCaches: false })
  db = await openTestDatabase()
})
afterEach(async () => {
  await endPrograms()
  await db.close()
  rmSync(clone, { recursive: true, force: true })
})
afterAll(() => rmSync(place, { recursive: true }))

function committed(): string[] {
  const words = ['ls-files', '--cached', '--others', '--exclude-standard', '--', '.', ':!test']
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(ROOT, file)))
}

const built = (path: string) => join(clone, 'generated', path)
const PATHS = versions.map(({ name }) => `${name}/openapi.json`)

const start = (role: string): Program =>
  startService({ DATABASE_URL: db.url, SVC_PEPPER: db.pepper }, ['--json', '--role', role], { cwd: clone })

const hashOf = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex').slice(0, 32)

function listed(path: string): string | undefined {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'generated/manifest.json'), 'utf8')) as {
    readonly files: Readonly<Record<string, string>>
  }
  return manifest.files[path]
}

const fetched = async (url: string) => hashOf(await (await fetch(url)).text())

/** @returns the hash of the file. The served document has the origins of the service instead of those of the file. */
async function fetchedDocument(
  ready: Readonly<Record<string, unknown>>,
  path = '/openapi.json',
): Promise<string> {
  const { sandbox_base_url, live_base_url, console_url } = ready
  let text = await (await fetch(`${sandbox_base_url}${path}`)).text()
  for (const [port, origin] of Object.entries({
    4010: sandbox_base_url,
    4020: live_base_url,
    4000: console_url,
  }))
    text = text.replaceAll(String(origin), `http://127.0.0.1:${port}`)
  return hashOf(text)
}

/** The process that builds, below a service's; undefined when it is not there. */
function builderOf(pid: number): number | undefined {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  const isBuilder = (child: string) =>
    child !== '' && /cli\.ts\0.*\0build\0/.test(readFileSync(`/proc/${child}/cmdline`, 'utf8'))
  return children.filter(isBuilder).map(Number)[0]
}

test('documents are served as the manifest lists them, at the first start and after somebody edited one', async () => {
  expect(PATHS.filter((path) => existsSync(built(path)))).toEqual([])
  const first = start('api')
  const ready = await first.ready()
  expect(await fetchedDocument(ready)).toBe(listed(`${current}/openapi.json`))
  for (const { name } of versions)
    expect([name, await fetchedDocument(ready, `/openapi/${name}.json`)]).toEqual([
      name,
      listed(`${name}/openapi.json`),
    ])
  await first.end()

  writeFileSync(built(`${current}/openapi.json`), '{}\n')
  const second = start('api')
  expect(await fetchedDocument(await second.ready())).toBe(listed(`${current}/openapi.json`))
})

test('the first reader of the documentation finds it whole', async () => {
  const { docs_url: docs } = await start('console').ready()
  expect(existsSync(built('site'))).toBe(false)
  // The console adds its own parts to pages in HTML.
  const read = [`${current}/passes.md`, `${current}.md`].map((path) => fetched(`${docs}/${path}`))
  expect(await Promise.all(read)).toEqual([listed(`site/${current}/passes.md`), listed(`site/${current}.md`)])
})

test('a start after one that was killed while it built finds everything whole', async () => {
  const killed = start('api')
  const builder = await until('the build to begin', () => builderOf(killed.pid))
  killed.child.kill('SIGKILL')
  process.kill(builder, 'SIGKILL')
  await killed.ended
  await until('the build to end', () => !isAlive(builder))
  expect(PATHS.every((path) => existsSync(built(path)))).toBe(false)
  // As if it had been stopped while it wrote.
  writeFileSync(join(clone, `generated/.dateline.${builder}.tmp`), '{ "openapi"')

  await start('api').ready()
  expect(PATHS.map((path) => hashOf(readFileSync(built(path))))).toEqual(PATHS.map(listed))
  expect(readdirSync(join(clone, 'generated')).filter((name) => name.endsWith('.tmp'))).toEqual([])
})

test('a worker serves neither, and builds nothing', async () => {
  await start('worker').ready()
  expect(PATHS.filter((path) => existsSync(built(path)))).toEqual([])
})
