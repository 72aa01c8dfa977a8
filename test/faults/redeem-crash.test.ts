/** A service is killed while a queue of scanners redeems coupons: asked again with the same keys, each scan was made once. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { addToTotals } from '../../runtime/account/totals/adding.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { createKey } from '../../runtime/tenants/admin/keys.ts'
import { createTenant } from '../../runtime/tenants/admin/tenants.ts'
import { makeTemplate } from '../api/fixtures.ts'
import { bothCounts } from '../passes/counted.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { endPrograms, type Program, startService, until } from '../support/programs.ts'
import { type Answer, type Send, speak } from '../support/service.ts'

let database: TestDatabase
let tenantId: string
let secret: string

/** A service in a process of its own. */
interface Node {
  readonly program: Program
  readonly send: Send
}

async function startNode(): Promise<Node> {
  const env = { DATABASE_URL: database.url, SVC_PEPPER: database.pepper }
  const program = startService(env, ['--json', '--role', 'api'])
  const { sandbox_base_url } = await program.ready()
  return { program, send: speak(String(sandbox_base_url), { secret, version: current }) }
}

beforeAll(async () => {
  database = await openTestDatabase({ poolSize: 4 })
  tenantId = (await createTenant(database.operator, { name: 'Crash', plan: 'enterprise' }, current)).id
  secret = (await createKey(database.operator, { tenantId, environment: 'sandbox' })).secret
})
afterAll(async () => {
  await endPrograms()
  await database.close()
})

const COUPONS = 10
/** Of each coupon; all together are as many as a tenant may have under way. */
const SCANNERS = 6

interface Scan {
  readonly key: string
  readonly passId: string
  readonly scanner: string
}

const ask = (send: Send, { key, passId, scanner }: Scan): Promise<Answer> =>
  send('/v1/scans', {
    body: { pass_id: passId, mode: 'redeem', scanner },
    headers: { 'Idempotency-Key': key },
  })

interface Kept {
  readonly id: string
  readonly status: string
  readonly accepted: number
  readonly scans: number
  readonly redeemed: number
  readonly told: number
}

/** What the database holds of each coupon: its scans, and the events that tell of them. */
async function keptOf(passIds: readonly string[]): Promise<readonly Kept[]> {
  const text = `SELECT p.id, p.status,
      (SELECT count(*) FROM sandbox.scans s WHERE s.pass_id = p.id AND s.result = 'accepted') AS accepted,
      (SELECT count(*) FROM sandbox.scans s WHERE s.pass_id = p.id) AS scans,
      (SELECT count(*) FROM sandbox.events e
        WHERE e.type = 'pass.redeemed' AND e.body::json #>> '{data,pass,id}' = p.id) AS redeemed,
      (SELECT count(*) FROM sandbox.events e
        WHERE e.type = 'pass.scanned' AND e.body::json #>> '{data,scan,pass_id}' = p.id) AS told
    FROM sandbox.passes p WHERE p.id = ANY ($1) ORDER BY p.id`
  return (await database.control.query<Kept>({ text }, [passIds])).rows
}

async function countAnswers(keys: readonly string[]): Promise<number> {
  const text = 'SELECT count(*) AS count FROM sandbox.idempotency_answers WHERE key = ANY ($1::uuid[])'
  return (await database.control.query<{ count: number }>({ text }, [keys])).rows[0]!.count
}

test('redemptions killed after the first answer, after some and after half of them redeem once', {
  timeout: 120_000,
}, async () => {
  let node = await startNode()
  for (const answered of [1, 12, 30]) {
    const template_id = await makeTemplate(node.send, { kind: 'coupon' })
    const passes = Array(COUPONS).fill({ template_id })
    const { body } = await node.send('/v1/passes/batch', { body: { passes } })
    await addToCounts()
    const ids: string[] = body.results.map((each: Answer['body']) => each.pass.id)
    const scans = ids.flatMap((passId) =>
      Array.from({ length: SCANNERS }, (_, at): Scan => ({ key: randomUUID(), passId, scanner: `${at}` })),
    )
    const answers = new Map<Scan, Answer>()
    const { program, send } = node
    const killed = Promise.withResolvers<void>()
    const asked = scans.map(async (scan, at) => {
      // On a busy machine all others may be answered before the service is gone.
      if (at === scans.length - 1) await killed.promise
      const answer = await ask(send, scan).catch(() => undefined) // killed
      if (answer) answers.set(scan, answer)
      if (answers.size !== answered) return
      program.child.kill('SIGKILL')
      killed.resolve()
    })
    await Promise.all(asked)
    await program.ended
    await forgotten()
    await compareCounts()
    await addToCounts()
    await compareCounts()
    node = await startNode()
    const between = await keptOf(ids)
    for (const each of between) expect(each).toMatchObject(agreeing(each))
    expect(await countAnswers(scans.map(({ key }) => key))).toBe(
      between.reduce((sum, each) => sum + each.scans, 0),
    )
    expect(answers.size).toBeLessThan(scans.length)
    const again = await Promise.all(scans.map((scan) => ask(node.send, scan)))
    for (const [at, scan] of scans.entries()) {
      expect(again[at]!.status).toBe(201)
      expect(again[at]!.text).toBe((answers.get(scan) ?? again[at])!.text)
    }
    const done = { status: 'redeemed', accepted: 1, scans: SCANNERS, redeemed: 1, told: SCANNERS }
    expect(await keptOf(ids)).toEqual(ids.toSorted().map((id) => ({ id, ...done })))
    await compareCounts()
    console.log(`killed after ${answers.size} of ${scans.length} answers`)
  }
  await verifyAudit(database.operator, tenantId, 'sandbox')
})

const addToCounts = () => database.sandbox.transaction((tx) => addToTotals(tx, tenantId, 2000, Date.now()))

/** The kept counts are those of the passes, whether the last events are added to them or not. */
async function compareCounts(): Promise<void> {
  const { kept, counted } = await bothCounts(database.sandbox, tenantId)
  expect(kept).toEqual(counted)
}

/** The killed service's transactions end when the server notices. */
async function forgotten(): Promise<void> {
  const text = `SELECT count(*) AS count FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid()
                   AND (state <> 'idle' OR xact_start IS NOT NULL)`
  const count = async () => (await database.control.query<{ count: number }>({ text })).rows[0]!.count
  await until('the transactions to end', async () => (await count()) === 0)
}

/** Whole or not there at all: who wins is redeemed, and every scan was told. */
function agreeing({ accepted, scans }: Kept): Partial<Kept> {
  return { status: accepted === 1 ? 'redeemed' : 'issued', redeemed: accepted, told: scans }
}
