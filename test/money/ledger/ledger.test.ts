/** Money comes, is shown, and is the same by every way of adding it up. */

import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pipelined } from '../../../runtime/database/pipelined.ts'
import { lockFunds, readAccount } from '../../../runtime/money/ledger/accounts.ts'
import { type Posting, post } from '../../../runtime/money/ledger/post.ts'
import { verifyLedger } from '../../../runtime/operator/ledger.ts'
import { startVerification } from '../../../runtime/operator/verification.ts'
import { readVerifications } from '../../../runtime/operator/verification-queries.ts'
import { createTenant } from '../../../runtime/tenants/admin/tenants.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/programs.ts'

const NOW = Date.parse('2026-06-01T12:00:00.000Z')

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

async function makeTenant(): Promise<string> {
  return (await createTenant(db.operator, { name: 'Acme', plan: 'enterprise' }, '2026-05-19')).id
}

const write = (tenantId: string, cause: string, posting: Posting) =>
  db.sandbox.transaction(async (tx) => post(tx, tenantId, cause, posting, NOW))

const fund = (tenantId: string, cause: string, amount: number) =>
  write(tenantId, cause, { transfer: { from: 'bank', to: 'program_funds', amount } })

test('a transfer moves money between two accounts, and entries tell how', async () => {
  const tenant = await makeTenant()
  await fund(tenant, 'a', 500)
  await write(tenant, 'b', { transfer: { from: 'program_funds', to: 'network_clearing', amount: 200 } })
  expect(await readAccount(db.sandbox, tenant, 'program_funds')).toEqual({ balance: 300, held: 0 })
  const { rows } = await db.sandbox.query(
    {
      text: `SELECT cause, account_id, amount, previous, current, version FROM ledger_entries WHERE tenant_id = $1
           ORDER BY account_id, version`,
    },
    [tenant],
  )
  expect(rows).toEqual([
    { cause: 'a', account_id: 'bank', amount: -500, previous: 0, current: -500, version: 1 },
    { cause: 'b', account_id: 'network_clearing', amount: 200, previous: 0, current: 200, version: 1 },
    { cause: 'a', account_id: 'program_funds', amount: 500, previous: 0, current: 500, version: 1 },
    { cause: 'b', account_id: 'program_funds', amount: -200, previous: 500, current: 300, version: 2 },
  ])
  expect(await verifyLedger(db.operator, tenant)).toEqual({
    ...{ tenant_id: tenant, balanced: true, faults: [], entries: { sandbox: 4, live: 0 } },
  })
})

test('nothing is posted twice for one cause, and a hold ends once', async () => {
  const tenant = await makeTenant()
  await fund(tenant, 'a', 500)
  await expect(fund(tenant, 'a', 500)).rejects.toMatchObject({ code: '23505' })
  const hold = { id: 'h', amount: 100 }
  await write(tenant, 'b', { placed: hold })
  await expect(write(tenant, 'b', { placed: hold })).rejects.toMatchObject({ code: '23505' })
  expect(await readAccount(db.sandbox, tenant, 'program_funds')).toEqual({ balance: 500, held: 100 })
  await write(tenant, 'c', { resolved: hold })
  await write(tenant, 'd', { placed: { id: 'i', amount: 100 } })
  await expect(write(tenant, 'e', { resolved: hold })).rejects.toMatchObject({ code: '23505' })
  expect(await readAccount(db.sandbox, tenant, 'program_funds')).toEqual({ balance: 500, held: 100 })
  await verifyLedger(db.operator, tenant)
})

test('transfers both ways at once wait for each other in one order, and all of them count', async () => {
  const tenant = await makeTenant()
  const transfers = Array.from({ length: 60 }, (_, n) =>
    n % 2 === 0
      ? ({ from: 'bank', to: 'program_funds', amount: 1 + n } as const)
      : ({ from: 'program_funds', to: 'network_clearing', amount: 1 } as const),
  )
  await Promise.all(transfers.map((transfer, n) => write(tenant, `t${n}`, { transfer })))
  expect((await readAccount(db.sandbox, tenant, 'network_clearing')).balance).toBe(30)
  expect((await verifyLedger(db.operator, tenant)).entries.sandbox).toBe(120)
})

test('funds are locked until the transaction ends', async () => {
  const tenant = await makeTenant()
  await fund(tenant, 'a', 100)
  const take = () =>
    db.sandbox.transaction(async (tx) => {
      const { balance, held } = await lockFunds(tx, tenant)
      if (balance - held < 30) return 0
      pipelined(
        post(tx, tenant, crypto.randomUUID(), { placed: { id: crypto.randomUUID(), amount: 30 } }, NOW),
      )
      return 30
    })
  const taken = await Promise.all(Array.from({ length: 20 }, take))
  expect(taken.reduce<number>((sum, each) => sum + each, 0)).toBe(90)
})

test('the role of an environment can change nothing that was written', async () => {
  for (const table of ['ledger_transactions', 'ledger_entries', 'ledger_holds', 'ledger_resolutions']) {
    const denied = (text: string, environment: 'sandbox' | 'live') =>
      expect(db[environment].query({ text })).rejects.toMatchObject({ code: '42501' })
    await denied(`UPDATE ${table} SET created = now()`, 'sandbox')
    await denied(`TRUNCATE ${table}`, 'sandbox')
    await denied(`UPDATE ${table} SET created = now()`, 'live')
    await denied(`DELETE FROM ${table}`, 'live')
  }
})

const ENTRY = `(tenant_id, id, cause, account_id, amount, previous, current, version, created)`

/** What the owner of the database could do to a ledger, and what is then said of it. */
const BROKEN = [
  {
    about: 'an amount',
    text: `UPDATE sandbox.ledger_entries SET amount = 501 WHERE tenant_id = $1 AND account_id = 'program_funds' AND version = 1`,
    says: 'the 2 entries of transaction a add up to 1, not to 0',
  },
  {
    about: 'a transaction without entries',
    text: `INSERT INTO sandbox.ledger_transactions VALUES ($1, 'z', now())`,
    says: 'the 0 entries of transaction z add up to 0, not to 0',
  },
  {
    about: 'entries without a transaction',
    text: `DELETE FROM sandbox.ledger_transactions WHERE tenant_id = $1 AND cause = 'a'`,
    says: /entry len_\w+ belongs to transaction a, which does not exist/,
  },
  {
    about: 'a balance',
    text: `UPDATE sandbox.ledger_accounts SET balance = balance + 7 WHERE tenant_id = $1 AND id = 'bank'`,
    says: 'the balances in usd add up to 7, not to 0',
  },
  {
    about: 'two balances',
    text: `UPDATE sandbox.ledger_accounts SET balance = balance + CASE id WHEN 'bank' THEN 7 ELSE -7 END
            WHERE tenant_id = $1 AND id IN ('bank', 'program_funds')`,
    says: 'account bank has a balance of -493, but its entries add up to -500',
  },
  {
    about: 'what was before',
    text: `UPDATE sandbox.ledger_entries SET previous = 400 WHERE tenant_id = $1 AND account_id = 'program_funds' AND version = 2`,
    says: /entry len_\w+ goes from 400 by -200 to 300/,
  },
  {
    about: 'what was before and what is after',
    text: `UPDATE sandbox.ledger_entries SET previous = 400, current = 200
            WHERE tenant_id = $1 AND account_id = 'program_funds' AND version = 2`,
    says: /entry len_\w+ of program_funds begins at 400, but the one before it ended at 500/,
  },
  {
    about: 'a gap',
    text: `UPDATE sandbox.ledger_entries SET version = 3 WHERE tenant_id = $1 AND account_id = 'program_funds' AND version = 2`,
    says: /entry len_\w+ of program_funds has number 3, and the one before it is missing/,
  },
  {
    about: 'a version',
    text: `UPDATE sandbox.ledger_accounts SET version = 9 WHERE tenant_id = $1 AND id = 'program_funds'`,
    says: 'account program_funds has version 9 and 2 entries',
  },
  {
    about: 'entries of no account',
    text: `INSERT INTO sandbox.ledger_entries ${ENTRY} VALUES ($1, 'x', 'a', 'y', 0, 0, 0, 1, now())`,
    says: 'account y has version 0 and 1 entries',
  },
  {
    about: 'a checkpoint within a transaction',
    text: `INSERT INTO sandbox.ledger_checkpoints VALUES ($1, '2026-06-01T00:00:00Z', '{"bank": 1}')`,
    says: 'the balances at the checkpoint of 2026-06-01 00:00:00+00 add up to -500, not to 0',
  },
  {
    about: 'a checkpoint at no entry',
    text: `INSERT INTO sandbox.ledger_checkpoints VALUES ($1, '2026-06-01T00:00:00Z', '{"bank": 7}')`,
    says: 'the checkpoint of 2026-06-01 00:00:00+00 refers to a missing entry',
  },
  {
    about: 'a checkpoint that goes back',
    text: `INSERT INTO sandbox.ledger_checkpoints VALUES
             ($1, '2026-06-01T00:00:00Z', '{"bank": 1, "program_funds": 1}'), ($1, '2026-06-02T00:00:00Z', '{"bank": 0, "program_funds": 0}')`,
    says: 'the checkpoint of 2026-06-02 00:00:00+00 has a lower position in account bank than an earlier checkpoint',
  },
  {
    about: 'the end of no hold',
    text: `INSERT INTO sandbox.ledger_resolutions VALUES ($1, 'x', now())`,
    says: 'hold x was resolved, but was never placed',
  },
  {
    about: 'what is held',
    text: `UPDATE sandbox.ledger_accounts SET held = 1 WHERE tenant_id = $1 AND id = 'program_funds'`,
    says: 'account program_funds has 1 held, but its open holds add up to 70',
  },
]

test('the verification of a running service counts the tenants with a fault, and logs them', async () => {
  const logged: unknown[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const tenant = await makeTenant()
  await fund(tenant, 'a', 500)
  await db.control.query({ text: BROKEN[3]!.text }, [tenant])
  const verification = startVerification({
    control: db.control,
    clock: db.clock,
    log,
    everyMs: 10,
    share: 1,
  })
  const first = await until('the first results', async () => (await readVerifications(db.control))[0])
  // Results of all processes are in one place, so they outlive the process.
  await until('a complete verification', async () =>
    (await readVerifications(db.control)).every(({ verified_at: at }) => at > first.verified_at),
  )
  await verification.stop()
  const results = await readVerifications(db.control)
  expect(results.map(({ environment, log, faults }) => [environment, log, faults])).toEqual([
    ['live', 'audit_log', 0],
    ['live', 'ledger', 0],
    ['sandbox', 'audit_log', 0],
    ['sandbox', 'ledger', 1],
  ])
  const fault = `the ledger of ${tenant} is not balanced: ${BROKEN[3]!.says}`
  expect(logged).toContainEqual(expect.objectContaining({ environment: 'sandbox', fault }))
})

describe('an operator is told of', () => {
  test.each(BROKEN)('an operator is told that the ledger has $about', async ({ text, says }) => {
    const tenant = await makeTenant()
    await fund(tenant, 'a', 500)
    await write(tenant, 'b', {
      transfer: { from: 'program_funds', to: 'network_clearing', amount: 200 },
      placed: { id: 'h', amount: 70 },
    })
    await verifyLedger(db.operator, tenant)
    await db.control.query({ text }, [tenant])
    const told = await verifyLedger(db.operator, tenant).catch((error: Error) => error.message)
    expect(told).toMatch(typeof says === 'string' ? `the ledger of sandbox is not balanced: ${says}` : says)
  })
})
