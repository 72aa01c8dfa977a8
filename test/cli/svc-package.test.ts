/** The package of `svc`: what is in it, and that it runs where nothing of the project is. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { service } from '../../generated/client/src/2026-05-19/index.ts'
import { events } from '../../generated/events.ts'
import { headersOf } from '../../runtime/cli/forward-event.ts'
import { compile } from '../../runtime/cli/package/modules.ts'
import { EXIT_TABLE } from '../../runtime/cli/terminal/exit-codes.ts'
import { endPrograms, ROOT, startProgram, until } from '../support/programs.ts'
import { serveAuthorization } from './authorization-stand-in.ts'

const readManifest = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
const manifest = readManifest('runtime/cli/package/package.json')

/** The machine's own Node, the one that the project brings, and those whose folders `SVC_TEST_NODES` names. */
const NODES = [
  dirname(process.execPath),
  ...(process.env.SVC_TEST_NODES ?? '').split(delimiter),
  ...(process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules')),
]
  .map((folder) => join(folder, 'node'))
  .filter((node) => existsSync(node))
  .map((node) => ({ node, version: execFileSync(node, ['--version'], { encoding: 'utf8' }).trim() }))
  .filter(({ version }, index, all) => all.findIndex((other) => other.version === version) === index)

let folder: string
let tarball: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-package-'))
  const words = ['runtime/cli/package/pack.ts', '--out', folder]
  tarball = execFileSync(process.execPath, words, { cwd: ROOT, encoding: 'utf8' }).trim()
})
afterEach(endPrograms)
afterAll(() => rmSync(folder, { recursive: true }))

test('the package of svc holds the client and the room of the command, and neither the server nor its packages', () => {
  const { files, imported } = compile(ROOT, 'runtime/cli/svc.ts')
  const own =
    /^(runtime\/cli\/(svc|[a-z-]+\.|terminal\/|sign-in\/)|runtime\/(platform\/(environment|ids|random|release)|tenants\/keys\/keys)\.js$|generated\/client\/src\/|generated\/(2026-05-19\/events|canonical\/records)\.js$)/
  expect([...files.keys()].filter((file) => !own.test(file))).toEqual([])
  expect([...files.keys()].filter((file) => /admin|doctor|operate/.test(file))).toEqual([])
  const packages = imported.filter((name) => !name.startsWith('node:'))
  expect(packages).toEqual(Object.keys(manifest.dependencies))
  expect(manifest.bundleDependencies).toEqual(packages)
  for (const name of packages)
    expect(manifest.dependencies[name]).toBe(readManifest('package.json').dependencies[name])
})

test('the README of the package has the exit codes of the help', () => {
  const readme = readFileSync(join(ROOT, 'runtime/cli/package/README.md'), 'utf8')
  for (const [code, meaning] of EXIT_TABLE) expect(readme).toContain(`| ${code} | ${meaning} |`)
})

test.each(Object.entries(events))(
  'the package names headers of deliveries as %s does',
  async (version, types) => {
    const [view] = Object.values(types)
    const sent = Object.keys(await headersOf({ id: 'evt_1', version }, '{}', 'whsec_x'))
    for (const name of Object.values(view!.headers)) expect(sent).toContain(name)
    expect(Object.keys(events)).toContain(service.version)
  },
)

test.each(NODES)(
  'installed from its tarball it signs in and calls, on Node $version',
  async ({ node, version }) => {
    const home = join(folder, version)
    const path = { PATH: [dirname(node), '/usr/bin', '/bin'].join(delimiter), HOME: home }
    const npm = join(dirname(node), 'npm')
    const install = ['install', '--offline', '--no-audit', '--no-fund', '--prefix', home, tarball]
    execFileSync(existsSync(npm) ? npm : '/usr/bin/npm', install, { env: path, stdio: 'pipe' })
    const svc = join(home, 'node_modules/.bin/svc')
    const run = (...words: readonly string[]) =>
      startProgram(svc, words, {
        ...path,
        NODE_COMPILE_CACHE: '',
        SVC_AUTH_URL: standIn.url,
        SVC_BASE_URL: standIn.url,
      })
    const standIn = await serveAuthorization()
    const login = run('login', '--no-browser')
    await fetch(await until('the address', () => /http\S+\/oauth\/authorize\S+/.exec(login.stderr())?.[0]))
    expect(await login.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('Harbour Coffee') })
    const me = await run('get', '/v1/me', '--json').ended
    expect([me.code, JSON.parse(me.stdout).tenant.name, me.stderr]).toEqual([0, 'Harbour Coffee', ''])
    for (const words of [
      ['--help'],
      ['cards', 'simulate', '--help'],
      ['completion', 'bash'],
      ['open', 'docs', '--no-browser'],
    ])
      expect(await run(...words).ended).toMatchObject({ code: 0, stderr: '' })
    expect((await run('logout').ended).code).toBe(0)
    expect((await run('status').ended).code).toBe(3)
  },
)
