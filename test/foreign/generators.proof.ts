/**
 * `npm run prove:generators`: follows the page "Other languages" for each generator and version. The commands of the page
 * generate a client from the served document, `tsc --strict` compiles it, and the shared cases run against the service.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { current, versions } from '../../generated/versions.ts'
import { openDelivery } from '../../runtime/events/delivery/open-delivery.ts'
import { ROOT } from '../support/programs.ts'
import { makeKey, makeTenant, useService } from '../support/service.ts'

/** Headings of the page, with the adapters of the cases. */
const GENERATORS = {
  'openapi-typescript and openapi-fetch': 'openapi-fetch',
  'hey-api': 'hey-api',
  orval: 'orval',
  kubb: 'kubb',
} as const
const CLIENTS = 'test/foreign/clients'
const SANDBOX = 'http://127.0.0.1:4010'
/** Options of a project for Node. The generated code must compile without `skipLibCheck`. */
const OPTIONS = {
  strict: true,
  target: 'es2024',
  module: 'nodenext',
  types: ['node'],
  outDir: 'dist',
  rootDir: 'src',
}
const page = readFileSync(join(ROOT, 'generated/site/other-languages.md'), 'utf8')

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

/** Code blocks of a section. The info string of a program is its path. */
const blocksIn = (heading: string) => {
  const section = page.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? ''
  const blocks = section.matchAll(/^```(\w+)(?: (.+))?\n([\s\S]*?)^```$/gm)
  return [...blocks].map(([, language = '', path = '', code = '']) => ({ language, path, code }))
}

/** Runs a program. @throws an error with its output, unless it exits with 0. */
const run = (program: string, words: readonly string[], options: object) =>
  promisify(execFile)(program, words, options).catch((cause: unknown) => {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${words.join(' ')} failed:\n${stdout}${stderr}`, { cause })
  })

describe.each(versions.map(({ name }) => name))('%s', (version) => {
  const placed = (code: string) => code.replaceAll(SANDBOX, service.urls.sandbox).replaceAll(current, version)

  test.each(Object.entries(GENERATORS))('%s', async (heading, adapter) => {
    const cwd = join(folder, version, adapter)
    mkdirSync(join(cwd, 'src'), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(cwd, 'node_modules'))
    writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, include: ['src'] }))
    for (const file of [`${CLIENTS}/cases.ts`, `${CLIENTS}/${adapter}.ts`, 'docs/site/samples/verify.ts'])
      cpSync(join(ROOT, file), join(cwd, 'src', basename(file)))

    const blocks = blocksIn(heading)
    for (const { path, code } of blocks.filter(({ language }) => language === 'ts'))
      writeFileSync(join(cwd, path), placed(code))
    // The packages that the page installs are those of this project (`documents.test.ts`).
    const commands = blocks.flatMap(({ code }) => [...code.matchAll(/^npx (.+)$/gm)])
    expect(commands).toHaveLength(1)
    const { secret } = await makeKey(service, await makeTenant(service, 'enterprise', version))
    const PATH = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`
    const env = { ...process.env, PATH, API_KEY: secret }
    await run('sh', ['-c', placed(commands[0]![1]!)], { cwd, env })
    await run('node', [join(ROOT, 'node_modules/typescript/bin/tsc')], { cwd, env })

    const { stdout } = await run('node', ['--test-reporter=spec', `dist/${adapter}.js`], { cwd, env })
    expect(stdout).toMatch(/^ℹ pass 5$/m)
  })
})
