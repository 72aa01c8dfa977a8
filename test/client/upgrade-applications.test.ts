/** Applications that the command of an installed client package upgrades: they compile, and pass their own tests, before and after. */
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { mock } from '../../generators/cli/mock.ts'
import { openRun } from '../../generators/cli/run.ts'
import type { UpgradePlace, UpgradeResult } from '../../generators/client-upgrade/upgrade.ts'
import { startProgram } from '../support/programs.ts'
import { installClient } from './installed.ts'

interface Application {
  /** The client package, and the source of the application. */
  readonly client: string
  readonly source: string
  readonly from: string
  readonly to: string
  readonly env?: Readonly<Record<string, string>>
}

/** What the report says of a program that compiles before the upgrade and after it. */
const COMPILES = { errorsBefore: 0, marked: [], errors: [] }

/** An application in a Git repository of its own, which has installed its client. */
function install({ client, source, from, to, env = {} }: Application) {
  const folder = installClient(client)
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(source, folder, { recursive: true })
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: folder, stdio: 'pipe' })
  git('init', '-q')
  writeFileSync(join(folder, '.gitignore'), 'node_modules\n')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'Start')
  const { name, bin } = JSON.parse(readFileSync(resolve(client, 'package.json'), 'utf8'))
  const command = join(folder, 'node_modules', name, Object.values<string>(bin)[0]!)
  const run = (words: readonly string[], more = {}) =>
    startProgram(process.execPath, words, { ...env, ...more }, { cwd: folder }).ended
  const checks = readdirSync(source).find((file) => file.endsWith('.checks.ts'))!
  return {
    read: (file: string) => readFileSync(join(folder, file), 'utf8'),
    upgradeWithoutMorph: async () => {
      const morph = join(folder, 'node_modules/ts-morph')
      unlinkSync(morph)
      const ended = await run([command, 'upgrade', from, to])
      symlinkSync(resolve('node_modules/ts-morph'), morph)
      return ended
    },
    /** Upgrades the application. @returns what is left to do. */
    upgrade: async () => {
      const { code, stdout, stderr } = await run([command, 'upgrade', from, to, '--json'])
      expect(stderr).toBe('')
      const { errorsBefore, silent, marked, errors } = JSON.parse(stdout) as UpgradeResult
      const places = (found: readonly UpgradePlace[]) =>
        found.map((each) => `${each.version} ${each.change}: ${each.text}`)
      return {
        exit: code,
        errorsBefore,
        silent: places(silent),
        marked: places(marked),
        errors: places(errors),
      }
    },
    /** Runs the application's own tests. @returns what they print unless they pass. */
    test: async (version: string) => {
      const { code, stdout, stderr } = await run(['--test', '--test-reporter=tap', checks], {
        EXPECTED_VERSION: version,
      })
      return code === 0 ? 'passed' : stdout + stderr
    },
  }
}

test('labels of a library: names, places and constants of two steps', async () => {
  const stop = new AbortController()
  const base = Promise.withResolvers<string>()
  const out = (line: string) => base.resolve(/http:\/\/[\d.:]+/.exec(line)?.[0] ?? '')
  const config = await openRun('test/golden/upgrade/dateline.config.json', { out, error: () => undefined })
  const ended = mock(config, { port: '0' }, stop.signal)
  onTestFinished(async () => {
    stop.abort()
    await ended
  })
  const app = install({
    client: 'test/golden/upgrade/want/client',
    source: 'test/golden/upgrade/application',
    from: '2030-01-01',
    to: '2030-12-01',
    env: { BASE_URL: await base.promise },
  })
  expect(await app.test('2030-01-01')).toBe('passed')
  expect(await app.upgradeWithoutMorph()).toMatchObject({
    code: 2,
    stderr: 'ts-morph is not installed: run `npm install --save-dev ts-morph`\n',
  })
  expect(await app.upgrade()).toEqual({
    ...COMPILES,
    exit: 1,
    silent: ['2030-12-01 require-keys: return client.createBook({ body })'],
  })
  expect(await app.test('2030-12-01')).toBe('passed')
})

test('an export of settlements, with what means something else', async () => {
  const app = install({
    client: 'generated/client',
    source: 'test/client/applications/settlement-export',
    from: '2025-11-01',
    to: '2026-05-19',
  })
  expect(await app.test('2025-11-01')).toBe('passed')
  expect(await app.upgrade()).toEqual({
    ...COMPILES,
    exit: 1,
    silent: [
      "2026-02-01 return-merchant-category-code: merchant.category_code === 'restaurants'",
      '2026-05-19 return-archived-passes: (await client.countPasses({ query: { include_archived: true } })).count',
      "2026-05-19 return-interchange: export const hasEarned = ({ interchange_amount: earned }: Schemas['Settlement']): boolean => earned > 0",
    ],
  })
  expect(await app.test('2026-05-19')).toBe('passed')
})
