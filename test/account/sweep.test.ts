/** What has run out is deleted, and nothing else. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweep } from '../../runtime/process/cleanup-job.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'

const HOUR = 3_600_000
const NOW = Date.parse('2026-06-01T12:00:00Z')

let db: TestDatabase

beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

const clock = { machine: () => NOW, service: (of: string) => (of === 'sandbox' ? NOW + 240 * HOUR : NOW) }

const rows = async (text: string) => (await db.control.query({ text })).rows

test('stored responses are swept an hour after they expire, by each environment’s clock', async () => {
  const keep = async (environment: 'sandbox' | 'live', name: string, age: number, count = 1) => {
    const created = new Date(clock.service(environment) - age).toISOString()
    const text = `INSERT INTO idempotency_answers (tenant_id, key, fingerprint, status, body, head, created)
                  SELECT $1, gen_random_uuid(), '', 200, '{}', '', $2 FROM generate_series(1, $3)`
    await db[environment].query({ text }, [name, created, count])
  }
  for (const environment of ['sandbox', 'live'] as const) {
    await keep(environment, 'new', 0)
    await keep(environment, 'still replayed', 24 * HOUR - 1)
    await keep(environment, 'in doubt', 25 * HOUR - 1)
    await keep(environment, 'over', 25 * HOUR)
  }
  await keep('live', 'many', 100 * HOUR, 2500)
  await sweep(db, clock)
  for (const environment of ['sandbox', 'live']) {
    expect(await rows(`SELECT tenant_id FROM ${environment}.idempotency_answers ORDER BY created`)).toEqual(
      ['in doubt', 'still replayed', 'new'].map((tenant_id) => ({ tenant_id })),
    )
  }
})

test('challenges, used codes and names of batches', async () => {
  const at = (age: number) => new Date(NOW - age).toISOString()
  await db.control.query({
    text: `INSERT INTO control.tenants (id, name, plan, created) VALUES ('ten', 'T', 'trial', now())`,
  })
  for (const [name, age] of [
    ['new', 0],
    ['old', 26 * HOUR],
  ] as const) {
    await db.control.query(
      {
        text: `INSERT INTO control.challenges (tenant_id, digest, environment, key_id, operation, request_hash, created, expires_at)
               VALUES ('ten', $1, 'live', '', '', '', $2, $2)`,
      },
      [Buffer.from(name), at(age)],
    )
    const step = Math.floor((NOW - age) / 30_000)
    await db.control.query({ text: `INSERT INTO control.totp_uses VALUES ('ten', $1, $2)` }, [name, step])
    await db.live.query({ text: 'INSERT INTO usage_batches VALUES ($1, $2)' }, [name, at(age)])
  }
  await sweep(db, clock)
  expect(await rows(`SELECT convert_from(digest, 'UTF8') AS name FROM control.challenges`)).toEqual([
    { name: 'new' },
  ])
  expect(await rows('SELECT member_id AS name FROM control.totp_uses')).toEqual([{ name: 'new' }])
  expect(await rows('SELECT id AS name FROM live.usage_batches')).toEqual([{ name: 'new' }])
})

test('payments on chains that have ended, with what was signed for them, after 90 days', async () => {
  const pay = async (nonce: number, state: string, ...ages: readonly number[]) => {
    const payment = `INSERT INTO control.chain_payments (chain_id, signer, nonce, environment, space, transfer_id, recipient, value,
                       valid_before, signature, after_block, state)
                     VALUES (1, 's', $1, 'live', 'ten', $2, 'r', 1, 1, '', 1, $3)`
    await db.control.query({ text: payment }, [nonce, `po_${nonce}`, state])
    const signed = `INSERT INTO control.chain_transactions (chain_id, signer, nonce, attempt, hash, raw, max_fee, priority_fee, signed_at)
                    VALUES (1, 's', $1, $2, '', '', 1, 1, $3)`
    for (const [attempt, age] of ages.entries())
      await db.control.query({ text: signed }, [nonce, attempt, new Date(NOW - age * 24 * HOUR)])
  }
  await pay(1, 'settled', 91)
  await pay(2, 'failed', 200, 91)
  await pay(3, 'settled', 200, 89)
  await pay(4, 'open', 200)
  await pay(5, 'displaced', 89)
  await sweep(db, clock)
  for (const table of ['chain_payments', 'chain_transactions']) {
    const left = await rows(`SELECT DISTINCT nonce FROM control.${table} ORDER BY nonce`)
    expect([table, left.map(({ nonce }) => nonce)]).toEqual([table, [3, 4, 5]])
  }
})
