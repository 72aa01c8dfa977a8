/**
 * `npm run prove:generators`: follows the page "Other languages" for each generator and version. The commands of the page
 * generate a client from the served document, `tsc --strict` compiles it, and the shared cases run against the service.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { current, versions } from '../../generated/versions.ts'
import { openDelivery } from '../../runtime/events/delivery/open-delivery.ts'
import { ROOT } from '../support/programs.ts'
import { makeKey, makeTenant, useService } from '../support/service.ts'

/** Headings of the page, with the adapters of the cases. */
const GENERATORS = {
  'openapi-typescript and openapi-fetch': 'openapi-fetch.ts',
  'hey-api': 'hey-api.ts',
  orval: 'orval.ts',
  kubb: 'kubb.ts',
} as const
const SANDBOX = 'http://127.0.0.1:4010'
const page = readFileSync(join(ROOT, 'generated/site/other-languages.md'), 'utf8')
const { devDependencies, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const bench = JSON.parse(readFileSync(join(ROOT, 'test/bench/package.json'), 'utf8'))
const installed: Readonly<Record<string, string>> = {
  ...bench.devDependencies,
  ...devDependencies,
  ...dependencies,
}

const run = promisify(execFile)
const service = useService({ env: { SVC_WEBHOOK_ALLOW: '127.0.0.0/8' }, keepsTime: true, guarded: false })
let delivery: ReturnType<typeof openDelivery>
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(import.meta.dirname, '.clients-'))
  const { database, clock, outbound, wakeUps } = service
  const wakeUpChannel = { publish: wakeUps.notify }
  const log = pino({ level: 'silent' })
  delivery = openDelivery({ database, clock, outbound, wakeUps, wakeUpChannel, log })
})
afterAll(async () => {
  await delivery.stop()
  rmSync(folder, { recursive: true })
})

const sectionOf = (heading: string) =>
  page.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? ''

const fencesIn = (section: string) =>
  [...section.matchAll(/^```(\w+)(?: (.+))?\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', name = '', code = '']) => ({ language, name, code }),
  )

/** Writes the files of the section and runs its commands, except for installations: their versions are those of the project. */
async function follow(section: string, project: string, placed: (code: string) => string): Promise<void> {
  const fences = fencesIn(section)
  for (const { language, name, code } of fences) {
    if (language === 'ts') writeFileSync(join(project, name), placed(code))
  }
  const commands = fences.filter(({ language }) => language === 'sh').flatMap(({ code }) => code.split('\n'))
  const packages = commands
    .filter((command) => command.startsWith('npm install'))
    .flatMap((command) => [...command.matchAll(/ (@?[^@\s]+)@(\S+)/g)])
    .map(([, name, version]) => [name, version])
  expect(packages).toEqual(packages.map(([name]) => [name, installed[name!]]))
  const PATH = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`
  const generate = commands.filter((command) => command.startsWith('npx '))
  expect(generate).toHaveLength(1)
  await run('sh', ['-c', placed(generate[0]!.slice('npx '.length))], { cwd: project, env: { ...process.env, PATH } })
}

describe.each(versions.map(({ name }) => name))('%s', (version) => {
  test.each(Object.entries(GENERATORS))('%s', async (heading, adapter) => {
    const project = join(folder, version, adapter)
    const write = (name: string, text: string) => {
      mkdirSync(dirname(join(project, name)), { recursive: true })
      writeFileSync(join(project, name), text)
    }
    write('package.json', '{ "type": "module" }')
    write('tsconfig.json', JSON.stringify({ compilerOptions: OPTIONS, include: ['src'] }))
    mkdirSync(join(project, 'src'))
    symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'))
    cpSync(join(import.meta.dirname, 'cases.ts'), join(project, 'src/cases.ts'))
    cpSync(join(import.meta.dirname, 'adapters', adapter), join(project, 'src/adapter.ts'))
    cpSync(join(ROOT, 'docs/site/samples/verify.ts'), join(project, 'src/verify.ts'))

    const placed = (code: string) =>
      code.replaceAll(SANDBOX, service.urls.sandbox).replaceAll(current, version)
    await follow(sectionOf(heading), project, placed)
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    await node([tsc, '-p', project])

    const { secret } = await makeKey(service, await makeTenant(service, 'enterprise', version))
    const env = { ...process.env, API_KEY: secret }
    const { stdout } = await node(['--test-reporter=spec', 'dist/adapter.js'], { cwd: project, env })
    expect(stdout).toMatch(/^ℹ pass 5$/m)
  })
})

const OPTIONS = {
  strict: true,
  target: 'es2024',
  module: 'nodenext',
  types: ['node'],
  outDir: 'dist',
  rootDir: 'src',
}

/** Runs a program. @throws an error with its output, unless it exits with 0. */
const node = (words: readonly string[], options: object = {}) =>
  run(process.execPath, words, options).catch(({ stdout, stderr }) => {
    throw new Error(`${words.join(' ')} failed:\n${stdout}${stderr}`)
  })
