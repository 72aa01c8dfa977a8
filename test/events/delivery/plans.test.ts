/** Connections keep the plans that they have made for the queue: one that was made while it was empty has to be right for a full one. */

import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BY_INDEX_ONCE } from '../../../runtime/database/pool/by-index.ts'
import type { VisitRequest } from '../../../runtime/events/delivery/queries/attempts.ts'
import { claimStatement, planStatement } from '../../../runtime/events/delivery/queries/visits.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import { type Explained, literal, nodesOf, readBy } from '../../isolation/examine.ts'
import { openStage, type Stage } from './setup.ts'

/** Attempts that are due for another tenant. */
const DUE = 20_000

let stage: Stage
let client: pg.Client
beforeAll(async () => {
  stage = await openStage()
  client = new pg.Client({ connectionString: stage.database.url })
  await client.connect()
  await client.query('SET search_path = sandbox')
})
afterAll(async () => {
  await client.end()
  await stage.close()
})

test.each([
  ['plan', planStatement],
  ['claim', claimStatement],
])('a %s for one tenant reads none of what waits for another', async (name, statementOf) => {
  const tenantId = newId('ten')
  await stage.addEndpoint(tenantId, 'http://127.0.0.1:1')
  await stage.emit(tenantId, 1)
  const request = (): VisitRequest => ({
    of: 'many',
    tenants: [tenantId],
    now: stage.leaseClock.now(),
    leaseUntil: stage.leaseClock.now() + 20_000,
    token: randomUUID(),
    limit: 100,
    allowance: 100,
    allowances: {},
  })
  /** Executes it as workers do, and takes back what it did. */
  const scans = async () => {
    await client.query(`BEGIN; ${BY_INDEX_ONCE.text}`)
    const values = statementOf(request())[1].map(literal).join(', ')
    const { rows } = await client.query<Explained>(
      `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE ${name} (${values})`,
    )
    await client.query('ROLLBACK')
    const nodes = nodesOf(rows[0]!['QUERY PLAN'][0].Plan)
    return nodes.filter((node) => node['Relation Name'] === 'webhook_ready').map(readBy)
  }
  await client.query('TRUNCATE webhook_ready')
  await client.query('ANALYZE webhook_ready')
  await client.query(`PREPARE ${name} AS ${statementOf(request())[0].text}`)
  const empty = await scans()
  expect(empty.length).toBeGreaterThan(1)
  await client.query(
    `INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, due_at, lease_until)
     SELECT 'ten_other', 'wdla_' || n, 'we_' || n % 100, 'evt_' || n, 1, 'schedule', now(), '-infinity'
       FROM generate_series(1, ${DUE}) n`,
  )
  const full = await scans()
  expect(full.length).toBe(empty.length)
  expect(Math.max(...full)).toBeLessThan(100)
})
