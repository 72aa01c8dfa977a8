/** What has run out is deleted, and nothing else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

describe('totals of days and months', () => {
  /** Returns the UTC day that began a number of days before the service time of the environment. */
  const dayBefore = (environment: 'sandbox' | 'live', days: number) =>
    new Date(clock.service(environment) - days * 24 * HOUR).toISOString().slice(0, 10)

  test('spending is kept as long as a limit reads it', async () => {
    const spend = (environment: 'sandbox' | 'live', space: string, granularity: string, days: number) =>
      db[environment].query(
        { text: `INSERT INTO card_spending VALUES ($1, 'card', $2, $3, 'food', 100, 1)` },
        [space, granularity, granularity === 'all' ? '1970-01-01' : dayBefore(environment, days)],
      )
    for (const environment of ['sandbox', 'live'] as const) {
      for (const days of [0, 6, 13, 14, 15, 500]) await spend(environment, 'ten', 'day', days)
      for (const days of [0, 366, 399, 400, 900]) await spend(environment, 'ten', 'month', days)
      await spend(environment, 'ten', 'all', 0)
    }
    // The first and second sandbox of a different tenant: the clock of the second one is behind.
    await spend('sandbox', 'old', 'day', 100)
    await spend('sandbox', 'old.s2', 'day', 100)
    await spend('sandbox', 'old.s2', 'month', 500)
    const clocks = `INSERT INTO settlement_clocks (tenant_id, offset_ms) VALUES ('old', 0), ('old.s2', -1)`
    await db.sandbox.query({ text: clocks })
    await sweep(db, clock)
    for (const environment of ['sandbox', 'live'] as const) {
      const left = await rows(
        `SELECT tenant_id, granularity, period FROM ${environment}.card_spending ORDER BY 1, 2, 3 DESC`,
      )
      const kept = (tenant_id: string, granularity: string, ...days: readonly number[]) =>
        days.map((each) => ({ tenant_id, granularity, period: dayBefore(environment, each) }))
      expect(left).toEqual([
        ...(environment === 'sandbox'
          ? [...kept('old.s2', 'day', 100), ...kept('old.s2', 'month', 500)]
          : []),
        { tenant_id: 'ten', granularity: 'all', period: '1970-01-01' },
        ...kept('ten', 'day', 0, 6, 13),
        ...kept('ten', 'month', 0, 366, 399),
      ])
    }
  })

  test('daily totals and usage are kept for 400 days', async () => {
    for (const environment of ['sandbox', 'live'] as const) {
      const days = [0, 399, 400, 401].map((each) => dayBefore(environment, each))
      for (const text of [
        `INSERT INTO daily_totals SELECT 'ten', d, 'pass.created', '', 1, 0 FROM unnest($1::date[]) AS d`,
        `INSERT INTO usage_counters SELECT 'ten', d, 'standard', 1 FROM unnest($1::date[]) AS d`,
      ])
        await db[environment].query({ text }, [days])
    }
    await db.sandbox.query({
      text: `INSERT INTO daily_totals VALUES ('old.s2', '2020-01-01', 'balance', '', 0, 1)`,
    })
    await db.live.query({
      text: `INSERT INTO daily_totals SELECT 'many', '2020-01-01', 'pass.created', n::text, 1, 0 FROM generate_series(1, 2500) AS n`,
    })
    await sweep(db, clock)
    for (const environment of ['sandbox', 'live'] as const) {
      const kept = [0, 399].map((each) => ({ tenant_id: 'ten', day: dayBefore(environment, each) }))
      const read = (table: string) =>
        rows(`SELECT tenant_id, day FROM ${environment}.${table} ORDER BY tenant_id, day DESC`)
      expect(await read('usage_counters')).toEqual(kept)
      expect(await read('daily_totals')).toEqual([
        ...(environment === 'sandbox' ? [{ tenant_id: 'old.s2', day: '2020-01-01' }] : []),
        ...kept,
      ])
    }
  })
})
