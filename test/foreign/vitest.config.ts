import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/foreign/*.proof.ts'],
    globalSetup: ['test/support/server.ts'],
    // Generating and compiling a client takes up to a minute.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    reporters: ['verbose'],
  },
})
