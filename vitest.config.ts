import { configDefaults, defineConfig } from 'vitest/config'
import { hasRedisServer } from './test/support/installed.ts'

/** Tests that need a program which the machine may not have, and no npm package brings along. */
const NEED_REDIS = 'test/**/redis/**'

const redis = hasRedisServer()
if (!redis) {
  console.warn(
    `\nLEFT OUT: ${NEED_REDIS} – there is no redis-server on this machine (apt-get install redis-server)\n`,
  )
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(redis ? [] : [NEED_REDIS])],
    globalSetup: ['test/support/server.ts'],
    maxWorkers: 2,
    testTimeout: 60_000,
    // Some tests meet real time-outs and bursts: on a crowded machine one may need another go. What is wrong fails each time.
    retry: process.env.CI ? 2 : 0,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
    reporters: ['default', './test/support/counts.ts'],
    // Output of the programs under test belongs to the tests that start them.
    silent: 'passed-only',
  },
})
