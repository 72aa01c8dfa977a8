import { configDefaults, defineConfig } from 'vitest/config'
import { CHROMIUM } from './test/support/chromium.ts'
import { isInstalled } from './test/support/installed.ts'
import { canIsolate } from './test/support/isolated.ts'
import { folderInMemory } from './test/support/memory.ts'
import { COMPILED } from './test/support/programs.ts'

/** Tests that need what the machine may not have, and no npm package brings along. */
const NEEDS = [
  {
    files: 'test/**/redis/**',
    what: 'redis-server (apt-get install redis-server)',
    has: () => isInstalled('redis-server'),
  },
  {
    files: 'test/**/pgbouncer/**',
    what: 'pgbouncer (apt-get install pgbouncer)',
    has: () => isInstalled('pgbouncer'),
  },
  {
    files: 'test/**/prometheus/**',
    what: 'promtool (apt-get install prometheus)',
    has: () => isInstalled('promtool'),
  },
  {
    files: 'test/**/browser/**',
    what: 'chromium (apt-get install chromium)',
    has: () => isInstalled(CHROMIUM),
  },
  {
    files: 'test/readme/**',
    what: 'network of its own for a test (apt-get install iproute2 util-linux)',
    has: canIsolate,
  },
]

const leftOut = NEEDS.filter(({ has }) => !has())
for (const { files, what } of leftOut) console.warn(`\nLEFT OUT: ${files} – there is no ${what}\n`)

// Where `tmpdir()` is, for every process of the tests.
const inMemory = folderInMemory()
if (inMemory !== undefined) process.env.TMPDIR ??= inMemory

// Where Node keeps what it has compiled, for every process of the tests that has the environment of these.
process.env.NODE_COMPILE_CACHE ??= COMPILED

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...leftOut.map(({ files }) => files)],
    globalSetup: ['test/support/server.ts'],
    // A test that fails once is a finding, in CI too.
    retry: 0,
    // One more than the smallest machine has cores, because tests also wait.
    maxWorkers: 3,
    // Files share what they load, which is compiled and kept once: the documents' second readers above all.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
    reporters: ['default', './test/support/counts.ts'],
    // Output of the programs under test belongs to the tests that start them.
    silent: 'passed-only',
  },
})
