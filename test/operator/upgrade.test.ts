/** A rolling upgrade under load: nodes of the old version serve while the first of the new one migrates, and then go. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MIGRATIONS } from '../../runtime/database/migrate/migration-files.ts'
import { BUCKETS, liftLimit } from '../../runtime/tenants/admin/limits.ts'
import { TEMPLATE } from '../api/fixtures.ts'
import { type DemoDatabase, openDemoDatabase } from '../support/database.ts'
import { endPrograms, type Program, startService, until } from '../support/programs.ts'

/** With millions the same test gives figures: see its output. */
const ROWS = Number(process.env.UPGRADE_ROWS ?? 30_000)

const CALLERS = 6

/** A node's ports stay open a little after the signal, for calls that are on their way. */
const LEAVE = { SVC_LEAVE_MS: '500' }

let db: DemoDatabase
let folder: string
let other: pg.Client

beforeAll(async () => {
  db = await openDemoDatabase('2026-05-19')
  for (const bucket of BUCKETS) {
    await liftLimit(db.operator, {
      tenantId: db.tenantId,
      environment: 'sandbox',
      bucket,
      factor: 1000,
      hours: 1,
    })
  }
  folder = mkdtempSync(join(tmpdir(), 'svc-migrations-'))
  cpSync(MIGRATIONS, folder, { recursive: true })
  writeFileSync(
    join(folder, '9001_note.sql'),
    `-- each environment\n-- A note.\nALTER TABLE passes ADD COLUMN note text NOT NULL DEFAULT 'none';\n`,
  )
  writeFileSync(
    join(folder, '9002_by_note.sql'),
    `-- each environment, concurrently
-- What the new version looks for.
CREATE INDEX passes_by_note ON passes (tenant_id, note, created DESC, id DESC);
CREATE INDEX events_by_version ON events (tenant_id, version, id);
`,
  )
  other = new pg.Client({ connectionString: db.url, application_name: 'somebody else' })
  await other.connect()
})
afterAll(async () => {
  await endPrograms()
  await other.end()
  await db.close()
  rmSync(folder, { recursive: true })
})

interface Node {
  readonly program: Program
  readonly url: string
}

const begin = (env: Record<string, string> = {}): Program =>
  startService({ DATABASE_URL: db.url, SVC_PEPPER: db.pepper, ...env }, ['--json', '--role', 'api'])

async function whenReady(program: Program): Promise<Node> {
  const hasSpoken = () => program.stdout() !== '' || program.child.exitCode !== null
  await until('the node to have migrated', hasSpoken, 20_000 + ROWS / 5)
  const line = await program.ready()
  return { program, url: String(line.sandbox_base_url) }
}

async function call(url: string, path: string, body?: object): Promise<Response> {
  const headers = {
    Authorization: `Bearer ${db.keys.sandbox_secret}`,
    ...(body && { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() }),
  }
  return fetch(`${url}${path}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
}

/** As a balancer would, calls come to the nodes in turn; what is not answered with success is kept. */
function startTraffic(nodes: Node[], templateId: string) {
  const failures: string[] = []
  let answered: number[] = []
  let stopped = false
  let turn = 0
  const calls = [
    (url: string) => call(url, '/v1/passes?limit=10'),
    (url: string) => call(url, '/v1/passes', { template_id: templateId }),
    (url: string) => call(url, '/v1/events?limit=5'),
  ]
  const keepCalling = async () => {
    while (!stopped) {
      turn += 1
      const { url } = nodes[turn % nodes.length]!
      const began = performance.now()
      try {
        const response = await calls[turn % calls.length]!(url)
        const text = await response.text()
        if (!response.ok) failures.push(`${response.status} ${text}`)
      } catch (error) {
        failures.push(String(error))
      }
      answered.push(performance.now() - began)
    }
  }
  const running = Array.from({ length: CALLERS }, keepCalling)
  let since = performance.now()
  return {
    failures,
    answered: () => answered.length,
    /** What was answered since the last report. */
    report: (phase: string) => {
      const rate = Math.round(answered.length / ((performance.now() - since) / 1000))
      console.info(`${phase}: ${rate} requests/s, slowest ${Math.round(Math.max(0, ...answered))} ms`)
      answered = []
      since = performance.now()
    },
    stop: async () => {
      stopped = true
      await Promise.all(running)
    },
  }
}

async function fill(templateId: string): Promise<void> {
  await other.query(
    `INSERT INTO sandbox.passes (tenant_id, id, template_id, status, fields, page_token, google_url, metadata, created, updated)
     SELECT $1, 'pass_0' || lpad(n::text, 25, '0'), $2, 'issued', '{}', n::text, '', '{}', now(), now()
       FROM generate_series(1, ${ROWS}) n`,
    [db.tenantId, templateId],
  )
  await other.query('ANALYZE sandbox.passes') // autovacuum is off in tests
}

test('no request fails: not while the new node waits for a lock, not while it builds, not while the old ones go', async () => {
  const old = await Promise.all([begin(LEAVE), begin(LEAVE)].map(whenReady))
  const nodes = [...old]
  const { id } = (await (await call(old[0]!.url, '/v1/pass_templates', TEMPLATE)).json()) as { id: string }
  await fill(id)
  const traffic = startTraffic(nodes, id)
  const more = async (phase: string) => {
    const before = traffic.answered()
    await until('more answers', () => traffic.answered() > before + 30)
    traffic.report(phase)
  }
  await more('before')

  await other.query('BEGIN; SELECT FROM sandbox.passes LIMIT 1') // a report that takes long
  const program = begin({ SVC_MIGRATIONS_DIR: folder })
  const waits = () => program.stderr().match(/9001_note: a table that it changes is locked/g)?.length ?? 0
  await until('the change to give way twice', () => waits() >= 2)
  await more('while a change waits for its lock')
  await other.query('COMMIT')
  const fresh = await whenReady(program)
  traffic.report('while the column is added and the indexes are built')

  nodes.push(fresh)
  await more('old and new side by side')
  for (const node of old) {
    nodes.splice(nodes.indexOf(node), 1) // the balancer sends it nothing more
    expect(await node.program.end()).toMatchObject({ code: 0 })
  }
  await more('the new one alone')
  await traffic.stop()
  expect(traffic.failures).toEqual([])
  const { rows } = await other.query(
    `SELECT indexrelid::regclass::text AS name FROM pg_index
      WHERE indisvalid AND indexrelid::regclass::text ~ '^(sandbox|live)\\.(passes_by_note|events_by_version)$' ORDER BY 1`,
  )
  expect(rows.map(({ name }) => name)).toEqual([
    'live.events_by_version',
    'live.passes_by_note',
    'sandbox.events_by_version',
    'sandbox.passes_by_note',
  ])
})
