/**
 * `node test/bench/queries.ts`: what the pool's own mechanisms save, each beside what pg offers for it, in alternating rounds of one
 * process. Medians; CPU is that of this process, which other programs on the machine hardly change.
 *
 * Options: --rounds N (9), --only NAME (of comparisons whose name holds it).
 */
import { parseArgs } from 'node:util'
import pg from 'pg'
import { acquireServer } from '../../runtime/database/embedded/server.ts'
import { clientConfig, PipelinedClient } from '../../runtime/database/pool/connection.ts'
import { createPool } from '../../runtime/database/pool/pool.ts'
import { PreparedQuery } from '../../runtime/database/pool/prepared-query.ts'
import { withScratch } from './scratch.ts'

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, only: { type: 'string', default: '' } },
})

type Run = () => Promise<unknown>

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}

const times = async (count: number, atOnce: number, run: Run) => {
  for (let done = 0; done < count; done += atOnce) await Promise.all(Array.from({ length: atOnce }, run))
}

/** Both in turn, the first first in every other round. @param count executions of a round, so many `atOnce`. */
async function compare(
  name: string,
  { count, atOnce }: { readonly count: number; readonly atOnce: number },
  ways: Readonly<Record<string, Run>>,
): Promise<void> {
  if (!name.includes(options.only)) return
  const measured = Object.entries(ways).map(([way, run]) => ({
    way,
    run,
    cpu: [] as number[],
    ms: [] as number[],
  }))
  for (const { run } of measured) await times(count, atOnce, run)
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const { run, cpu, ms } of round % 2 === 0 ? measured : measured.toReversed()) {
      const before = process.cpuUsage()
      const began = performance.now()
      await times(count, atOnce, run)
      ms.push((performance.now() - began) / (count / atOnce))
      const { user, system } = process.cpuUsage(before)
      cpu.push((user + system) / count)
    }
  }
  for (const { way, cpu, ms } of measured) {
    console.log(
      `${name.padEnd(34)} ${way.padEnd(26)} ${median(cpu).toFixed(1).padStart(7)} µs CPU each ${median(ms).toFixed(2).padStart(8)} ms for ${atOnce}`,
    )
  }
}

const TABLES = `
  CREATE TABLE passes (tenant_id text, id text, template_id text, status text, holder_email text, holder_name text, fields json,
    page_token text, metadata json, expires_at timestamptz, created timestamptz, updated timestamptz, changed timestamptz,
    seen int, template_fields json, kind text, revision bigint, PRIMARY KEY (tenant_id, id));
  INSERT INTO passes SELECT 'ten_1', 'pass_' || n, 'tpl_1', 'active', 'ada@example.com', 'Ada', '{"points":"12"}', 'token' || n, '{}',
    NULL, now(), now(), now(), 3, '[{"key":"points","label":"Points","value":"0"},{"key":"tier","label":"Tier","value":"Basic"}]',
    'loyalty', 12 FROM generate_series(1, 1000) AS n;
  CREATE TABLE log (tenant_id text, id text, at timestamptz, body text, n int);
  CREATE TABLE heads (tenant_id text PRIMARY KEY, sequence bigint);
  INSERT INTO heads VALUES ('ten_1', 0)`

const ONE = { name: 'one', text: 'SELECT * FROM passes WHERE tenant_id = $1 AND id = $2' }
const LIST = {
  name: 'list',
  text: 'SELECT * FROM passes WHERE tenant_id = $1 AND id >= $2 ORDER BY id LIMIT 25',
}
const POST = { name: 'post', text: 'INSERT INTO log VALUES ($1, $2, $3, $4, $5)' }
const TAKE = { name: 'take', text: 'UPDATE heads SET sequence = sequence + 1 WHERE tenant_id = $1' }

const PASS = ['ten_1', 'pass_500']
const ENTRY = [
  'ten_1',
  'x',
  '2026-01-01T00:00:00Z',
  '{"a":"the body of a request that is a little longer"}',
  3,
]

await withScratch(async ({ directory, atEnd }) => {
  const server = await acquireServer({ dataDir: directory, say: console.error })
  atEnd(server.release)
  const config = () => clientConfig(server.connection(), 'bench')
  const client = new PipelinedClient(config())
  await client.connect()
  atEnd(() => client.end())
  await client.query(`${TABLES}; SET synchronous_commit = off`)
  const described = { own: 'PreparedQuery', theirs: 'client.query({ name, … })' }
  const prepared = (statement: { name: string; text: string }, values: unknown[]) => ({
    [described.own]: () =>
      new Promise((resolve, reject) => {
        client.gather()
        const settle = (error: Error | null, result: unknown) => (error ? reject(error) : resolve(result))
        client.query(
          new PreparedQuery(statement.name, statement.text, values, settle) as unknown as pg.Submittable,
        )
      }),
    [described.theirs]: () => {
      client.gather()
      return client.query({ ...statement, values })
    },
  })
  await compare('a statement with one row', { count: 4000, atOnce: 16 }, prepared(ONE, PASS))
  await compare('a statement with 25 rows', { count: 1600, atOnce: 16 }, prepared(LIST, PASS))
  await compare('a statement that writes', { count: 4000, atOnce: 16 }, prepared(POST, ENTRY))

  const pools = [true, false].map((flushTogether) =>
    createPool({ connection: config, max: 16, prepared: true, applicationName: 'bench', flushTogether }),
  )
  for (const pool of pools) atEnd(pool.end)
  const [together, alone] = pools as [(typeof pools)[0], (typeof pools)[0]]
  const theirs = new pg.Pool({ ...config(), max: 16 })
  atEnd(() => theirs.end())
  await compare(
    'single statements',
    { count: 6400, atOnce: 64 },
    {
      'shared connections': () => together.query(ONE, PASS),
      'pg.Pool': () => theirs.query({ ...ONE, values: PASS }),
    },
  )
  const write = (pool: (typeof pools)[0]) => () =>
    pool.transaction(async (tx) => {
      await tx.query(POST, ENTRY)
      await tx.query(TAKE, ['ten_1'])
    })
  await compare(
    'writes of one tenant',
    { count: 640, atOnce: 64 },
    {
      'flushed together': write(together),
      'each COMMIT flushes': write(alone),
    },
  )
})
