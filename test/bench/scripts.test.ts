/** The scripts of package.json that measure and prove: each starts, and does a little of what it does. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { endPrograms, startProgram } from '../support/programs.ts'

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}
const measuring = Object.keys(scripts).filter((name) => /^(bench|prove|fuzz)/.test(name))
const withVitest = measuring.filter((name) => scripts[name]!.includes('vitest run'))

/** Options with which a script is done in a second or two. */
const TINY: Readonly<Record<string, readonly string[]>> = {
  'bench:backtest': ['--authorizations', '1000'],
  'bench:console': ['--rows', '1000', '--rounds', '1', '--only', '/passes'],
  'bench:drafts': ['test/golden/gate-unclaimed/openapi'],
  'bench:fairness': ['--rows', '200', '--seconds', '0.1', '--rounds', '1', '--only', '12 counts'],
  'bench:fan-out': ['--devices', '40', '--changes', '1'],
  'bench:gate': ['test/golden/gate-example/openapi'],
  'bench:histories': ['test/golden/gate-example/openapi'],
  'bench:passes': ['--only', 'batches', '--batch', '10', '--rounds', '1'],
  'bench:recovery': ['--events', '20', '--live', '4'],
  'bench:replay': ['--exchanges', '100', '--callers', '2', '--only', 'ndjson'],
  'bench:sanctions': ['--listed', '50', '--cardholders', '20', '--compared', '2'],
  'bench:settlement': ['--sizes', '10'],
  'bench:validation': ['--rounds', '1', '--operations', '1'],
  'bench:watch': ['--megabytes', '0.01', '--edits', '1'],
  'bench:webhooks': ['--rounds', '1', '--deliveries', '10', '--concurrency', '4', '--only', 'throughput'],
}

/**
 * `interrupted.test.ts` starts `bench`. `bench:memory` and `bench:writes` need PostgreSQL servers of their own,
 * and `bench:checkouts` needs a second checkout. `bench:cards`
 * takes 25 s, `bench:size` 11 s, `bench:network` and `bench:toolkit` take 6 s before they measure. `prove:client`, `prove:image` and `prove:postgres-upgrade` install
 * packages from the registry, `prove:speed` and `prove:tasks` fill a service, `prove:trace`, `prove:restore` and
 * `prove:move` start several, and `prove:upgrade` installs two releases.
 */
const NOT_HERE = [
  'bench',
  'bench:cards',
  'bench:checkouts',
  'bench:clearing',
  'bench:memory',
  'bench:network',
  'bench:size',
  'bench:toolkit',
  'bench:writes',
  'prove:clearing',
  'prove:client',
  'prove:image',
  'prove:move',
  'prove:postgres-upgrade',
  'prove:restore',
  'prove:speed',
  'prove:tasks',
  'prove:trace',
  'prove:upgrade',
  'prove:year', // takes minutes
]

/** A busy machine takes ten times as long as a quiet one. */
const timeout = 180_000

afterEach(endPrograms)

test('every script that measures or proves is tried here or says why not', () => {
  expect(measuring).toEqual(expect.arrayContaining(Object.keys(TINY)))
  const tried = [...Object.keys(TINY), ...withVitest, ...NOT_HERE]
  expect(measuring.toSorted()).toEqual(tried.toSorted())
})

test.each(Object.entries(TINY))(
  'npm run %s starts, and measures with %j',
  { timeout },
  async (name, words) => {
    const database = await createTestDatabase()
    try {
      const env = { BENCH_DATABASE_URL: database.url, BENCH_PEPPER: database.pepper }
      const [, ...script] = scripts[name]!.split(' ')
      const program = startProgram(process.execPath, [...script, ...words], env)
      const { code, stdout, stderr } = await program.ended
      expect(code, stderr).toBe(0)
      expect(stdout).not.toBe('')
    } finally {
      await database.drop()
    }
  },
)

/** Their test files are part of every run; what is set for them is what they read. */
test.each(withVitest)('npm run %s names tests that exist and variables that they read', (name) => {
  const [settings = '', command = ''] = scripts[name]!.split('vitest run')
  const paths = command.split(' ').filter((word) => word.startsWith('test/'))
  expect(paths.filter((path) => !existsSync(path))).toEqual([])
  const files = paths.flatMap((path) => (path.endsWith('.ts') ? [path] : globSync(`${path}/**/*.ts`)))
  const texts = files.map((file) => readFileSync(file, 'utf8'))
  const unread = [...settings.matchAll(/(\w+)=/g)]
    .map(([, variable = '']) => variable)
    .filter((variable) => !texts.some((text) => text.includes(`env.${variable}`)))
  expect(unread).toEqual([])
})
