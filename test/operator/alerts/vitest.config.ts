import { defineConfig } from 'vitest/config'
import { isInstalled } from '../../support/installed.ts'

if (!isInstalled('prometheus')) {
  console.error('prove:alerts requires Prometheus: apt-get install prometheus')
  process.exit(2)
}

export default defineConfig({
  test: {
    include: ['test/operator/alerts/*.proof.ts'],
    globalSetup: ['test/support/server.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
  },
})
