/** `testFamily` as a stranger's test file calls it, in a vitest of its own. */
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { install, pack } from './packed.ts'

const folder = mkdtempSync(join(tmpdir(), 'family-suite-'))

beforeAll(() => {
  cpSync('test/toolkit/foreign', folder, { recursive: true })
  install(pack(), folder)
  writeFileSync(
    join(folder, 'family.test.ts'),
    `import { testFamily } from 'dateline/vitest'\ntestFamily({ seconds: 1 })\n`,
  )
  const cli = join(folder, 'node_modules/dateline/dist/cli.js')
  execFileSync(process.execPath, [cli, 'generate'], { cwd: folder, stdio: 'pipe' })
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true }))

function runSuite(): Readonly<Record<string, string>> {
  const vitest = resolve('node_modules/vitest/vitest.mjs')
  const report = join(folder, 'report.json')
  rmSync(report, { force: true })
  const words = [vitest, 'run', '--root', folder, '--reporter', 'json', `--outputFile=${report}`]
  const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' })
  expect(existsSync(report), `${stdout}${stderr}`).toBe(true)
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: { assertionResults: { title: string; status: string }[] }[]
  }
  return Object.fromEntries(testResults[0]!.assertionResults.map(({ title, status }) => [title, status]))
}

const PASSED = {
  'documents and changes agree': 'passed',
  'output is up to date': 'passed',
  'changes prove': 'passed',
}

test('a family passes, and edited output fails the test about output only', { timeout: 120_000 }, () => {
  const passed = runSuite()
  expect(passed).toMatchObject(PASSED)
  appendFileSync(join(folder, 'openapi/2030-06-01.yaml'), 'x-note: edited\n')
  const { 'output is up to date': stale, ...others } = runSuite()
  expect([stale, others['documents and changes agree']]).toEqual(['failed', 'passed'])
})
