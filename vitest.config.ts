import { configDefaults, defineConfig } from 'vitest/config'
import { isInstalled } from './test/support/installed.ts'

/** Tests that need a program which the machine may not have, and no npm package brings along. */
const NEEDS = [
  { files: 'test/**/redis/**', program: 'redis-server' },
  { files: 'test/**/pgbouncer/**', program: 'pgbouncer' },
]

const leftOut = NEEDS.filter(({ program }) => !isInstalled(program))
for (const { files, program } of leftOut) {
  console.warn(`\nLEFT OUT: ${files} – there is no ${program} on this machine (apt-get install ${program})\n`)
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...leftOut.map(({ files }) => files)],
    globalSetup: ['test/support/server.ts'],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
    reporters: ['default', './test/support/counts.ts'],
    // Output of the programs under test belongs to the tests that start them.
    silent: 'passed-only',
  },
})
