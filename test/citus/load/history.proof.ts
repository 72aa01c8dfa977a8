/**
 * Databases that stopped at random points of the migration history, with rows, are brought up by two processes while an earlier
 * node writes. Earlier releases do not run on the Citus of today: the earlier node is the statements that every release since the first
 * has sent, on a pool of this release, which retries and translates errors as it did.
 */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { current } from '../../../generated/versions.ts'
import { mayPass } from '../../../runtime/database/errors.ts'
import { migrate } from '../../../runtime/database/migrate/migrate.ts'
import { MIGRATIONS } from '../../../runtime/database/migrate/migration-files.ts'
import { asRole } from '../../../runtime/database/migrate/roles.ts'
import { openDatabase } from '../../../runtime/database/open/open-database.ts'
import { createPool, type MeasuredPool } from '../../../runtime/database/pool/pool.ts'
import { verifyAudit } from '../../../runtime/tenants/admin/audit.ts'
import { createKey } from '../../../runtime/tenants/admin/keys.ts'
import { createTenant } from '../../../runtime/tenants/admin/tenants.ts'
import { createClock } from '../../../runtime/tenants/clock/clock.ts'
import { endPrograms, startService, until } from '../../support/programs.ts'
import { PEPPER } from '../../support/server.ts'
import { ask, type Cluster, createClusterDatabase, startCluster } from '../cluster.ts'
import { startTraffic } from './callers.ts'

const POINTS = Number(process.env.CITUS_POINTS ?? 10)
const TENANTS = ['ten_a', 'ten_b', 'ten_c', 'ten_d'] as const
/** All migrations take this long on a busy machine. */
const PATIENCE_MS = 600_000
/** Between two writes of a lane: the proof is about what happens, not how often. */
const PAUSE_MS = 20

const files = readdirSync(MIGRATIONS)
  .filter((name) => name.endsWith('.sql'))
  .toSorted()
/** Citus refuses 0012 for tables that are distributed. */
const first = files.findIndex((name) => name > '0013')

/** Different files, one at random of each part of the history. */
const points = Array.from({ length: POINTS }, (_, part) => {
  const size = (files.length - first) / POINTS
  return files[Math.floor(first + (part + Math.random()) * size)]!
})

let cluster: Cluster
beforeAll(async () => {
  cluster = await startCluster(process.env.SVC_CITUS_BIN!)
})
afterAll(() => cluster.stop())

/** Ends what a test has started, also if it failed. */
let atEnd = async () => {}
afterEach(async () => {
  await atEnd()
  atEnd = async () => {}
})

/** Brings a database up to the file before the given one. */
async function migrateUpTo(url: string, end: string) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-migrations-'))
  for (const file of files.filter((name) => name < end)) cpSync(join(MIGRATIONS, file), join(folder, file))
  try {
    return await migrate({ connectionString: url }, PEPPER, { directory: folder, citus: true })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const TEMPLATE = {
  name: 'proof_template',
  text: `INSERT INTO pass_templates (tenant_id, id, name, kind, status, brand, fields, barcode, relevant_locations, metadata, created, updated)
         VALUES ($1, $2, 'n', 'generic', 'active', '{}', '[]', '{}', '[]', '{}', now(), now())`,
}
const COUNT = {
  name: 'proof_count',
  text: `INSERT INTO event_heads AS h (tenant_id, sequence) VALUES ($1, 1)
         ON CONFLICT (tenant_id) DO UPDATE SET sequence = h.sequence + 1`,
}

/** Writes a row and counts it in one transaction, as an event is. Repeats only what the service repeats or answers with 503. */
function startWriter(pool: MeasuredPool) {
  const written = new Map<string, string[]>(TENANTS.map((tenant) => [tenant, []]))
  const failures: unknown[] = []
  let [stopped, longestMs, repeated] = [false, 0, 0]
  const writeOne = async (tenant: string, id: string) => {
    for (;;) {
      try {
        await pool.forTenant(tenant).transaction(async (tx) => {
          const { rows } = await tx.query(
            { text: 'SELECT FROM pass_templates WHERE tenant_id = $1 AND id = $2' },
            [tenant, id],
          )
          if (rows.length > 0) return
          await tx.query(TEMPLATE, [tenant, id])
          await tx.query(COUNT, [tenant])
        })
        return
      } catch (error) {
        if (!mayPass(error)) throw error
        repeated += 1
      }
    }
  }
  const running = TENANTS.map(async (tenant) => {
    for (let n = 1; !stopped; n += 1) {
      const began = performance.now()
      await writeOne(tenant, `tpl_${n}`)
      longestMs = Math.max(longestMs, performance.now() - began)
      written.get(tenant)!.push(`tpl_${n}`)
      await wait(PAUSE_MS)
    }
  }).map((lane) => lane.catch((error: unknown) => failures.push(error)))
  return {
    count: () => [...written.values()].reduce((sum, { length }) => sum + length, 0),
    stop: async () => {
      stopped = true
      await Promise.all(running)
      return { written, failures, longestMs, repeated }
    },
  }
}

/** Every tenant table is distributed, in one group. */
async function layoutOf(url: string) {
  const [row] = await ask<{ left: string[] | null; groups: number }>(
    url,
    `SELECT array_agg(c.oid::regclass::text) FILTER (WHERE d.logicalrelid IS NULL) AS left,
            count(DISTINCT d.colocationid)::int AS groups
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
       LEFT JOIN pg_dist_partition d ON d.logicalrelid = c.oid
      WHERE c.relnamespace IN ('sandbox'::regnamespace, 'live'::regnamespace) AND c.relkind IN ('r', 'p')`,
  )
  return row
}

test.each(points)(
  'a database from before %s is brought up under load, and nothing is lost',
  async (point) => {
    const servers = [cluster.coordinator, ...cluster.workers].map((node) => node.url)
    const url = await createClusterDatabase(servers, `history_${point.slice(0, 4)}`)
    const { roles } = await migrateUpTo(url, point)
    const pool = createPool({
      connection: () => asRole({ connectionString: url }, roles.sandbox, PEPPER),
      ...{ max: 12, prepared: true, applicationName: 'svc sandbox', distributed: true },
    })
    const writer = startWriter(pool)
    atEnd = async () => {
      await writer.stop()
      await endPrograms()
      await pool.end()
    }
    await until('rows', () => writer.count() >= 40, PATIENCE_MS)

    const env = {
      ...{
        DATABASE_URL: url,
        SVC_PEPPER: PEPPER,
        SVC_CITUS: '1',
        DATABASE_POOL_SIZE: '8',
        LOG_LEVEL: 'error',
      },
      CONSOLE_BASE_URL: 'http://console.test',
    }
    const programs = [1, 2].map(() => startService(env, ['--json', '--role', 'api', '--role', 'worker']))
    const urls = await Promise.all(
      programs.map(async (each) => String((await each.ready()).sandbox_base_url)),
    )
    const migrated = writer.count()
    await until('rows after the migrations', () => writer.count() >= migrated + 40, PATIENCE_MS)

    const opened = await openDatabase({
      ...{
        databaseUrl: url,
        pepper: PEPPER,
        dataDir: '/nowhere',
        poolSize: 4,
        preparedStatements: true,
        citus: true,
      },
    })
    const operator = { control: opened.control, clock: createClock(), pepper: PEPPER }
    const { id: tenantId } = await createTenant(operator, { name: 'New', plan: 'enterprise' }, current)
    const { secret } = await createKey(operator, { tenantId, environment: 'sandbox', scope: 'admin' })
    const traffic = startTraffic(urls, [{ tenantId, secret, lanes: 2 }])
    await until('writes through both', () => traffic.writes() >= 20 || traffic.failed(), PATIENCE_MS)
    const figures = await traffic.stop()
    const { written, failures, longestMs, repeated } = await writer.stop()
    await verifyAudit(operator, tenantId, 'sandbox')
    await opened.close()
    const ends = await Promise.all(programs.map((each) => each.end()))

    expect([...failures, ...figures.failures]).toEqual([])
    expect(ends.map(({ code }) => code)).toEqual([0, 0])
    expect(await layoutOf(url)).toEqual({ left: null, groups: 1 })
    for (const [tenant, ids] of written) {
      const rows = await ask<{ id: string }>(
        url,
        `SELECT id FROM sandbox.pass_templates WHERE tenant_id = '${tenant}'`,
      )
      expect([tenant, rows.map(({ id }) => id).toSorted()]).toEqual([tenant, ids.toSorted()])
      const [head] = await ask<{ sequence: number }>(
        url,
        `SELECT sequence::int FROM sandbox.event_heads WHERE tenant_id = '${tenant}'`,
      )
      expect([tenant, head?.sequence]).toEqual([tenant, ids.length])
    }
    for (const server of servers)
      await ask(server, `DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`)
    console.log(
      `from before ${point}: ${writer.count()} writes of the earlier node, 0 lost, 0 doubled, ${repeated} repeated, longest ${Math.round(longestMs)} ms; ` +
        `${figures.writes} writes of the processes`,
    )
  },
)
