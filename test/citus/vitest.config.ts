import { configDefaults, defineConfig } from 'vitest/config'

const { SVC_CITUS_BIN, SVC_CITUS_URL } = process.env
if (!SVC_CITUS_BIN && !SVC_CITUS_URL) {
  console.error(
    'prove:citus wants a Citus: SVC_CITUS_BIN, the folder with initdb and postgres of a PostgreSQL that has it, or SVC_CITUS_URL, the coordinator of a cluster as superuser.',
  )
  process.exit(2)
}
/** Servers that are not started here are not killed either. */
const NEEDS_BIN = 'test/citus/{cut,outage,two-phases,load/*}.proof.ts'
if (!SVC_CITUS_BIN) console.warn(`\nLEFT OUT: ${NEEDS_BIN} – they kill servers: SVC_CITUS_BIN\n`)

/** Tests of the service that do not know where its tables are. Most tests of deliveries do: they claim for many tenants at once. */
const ALSO = [
  'test/api/**/*.test.ts',
  'test/account/**/*.test.ts',
  'test/events/{*,outbound/*}.test.ts',
  'test/isolation/isolation.test.ts',
  'test/events/delivery/{by-hand,crash,exhaustion,fifo,first-attempts,outages,recoveries,retention,schedule}.test.ts',
]

export default defineConfig({
  test: {
    include: ['test/citus/**/*.proof.ts', ...ALSO],
    exclude: [...configDefaults.exclude, ...(SVC_CITUS_BIN ? [] : [NEEDS_BIN])],
    globalSetup: ['test/citus/server.ts'],
    maxWorkers: 2,
    // Migrations take long where there are many shards: a cluster that was there has 32, unless it says otherwise.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    reporters: ['default', './test/citus/table.ts', './test/support/counts.ts'],
    silent: 'passed-only',
  },
})
