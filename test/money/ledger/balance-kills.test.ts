/** Balances that are read while processes that move money are killed: entries add up to them at any instant, each entry once. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CreatedRange } from '../../../runtime/database/page.ts'
import { type BalanceEntryRow, listBalanceEntries } from '../../../runtime/money/balance/entries.ts'
import { readAccount } from '../../../runtime/money/ledger/accounts.ts'
import { keepHeld, readHeldBefore } from '../../../runtime/money/ledger/held.ts'
import { readBalanceBefore } from '../../../runtime/money/ledger/positions.ts'
import { verifyLedger } from '../../../runtime/operator/ledger.ts'
import { createTenant } from '../../../runtime/tenants/admin/tenants.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { endPrograms, startProgram, until } from '../../support/programs.ts'

/** Processes that are killed one after the other; `KILL_ROUNDS` sets more. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 2)

/** Entries between two kills. */
const BETWEEN = 80

const ACCOUNTS = ['program_funds', 'settlement_payable'] as const
type Account = (typeof ACCOUNTS)[number]

let db: TestDatabase
let tenant: string
beforeAll(async () => {
  db = await openTestDatabase()
  tenant = (await createTenant(db.operator, { name: 'Acme', plan: 'enterprise' }, '2026-05-19')).id
})
afterAll(async () => {
  await endPrograms()
  await db.close()
})

/** Reads on from the last entry that is known, oldest first. */
async function readOn(account: Account, known: BalanceEntryRow[], created: CreatedRange = {}): Promise<void> {
  for (;;) {
    const last = known.at(-1)
    const boundary = last && ({ created: last.created, id: last.id, side: 'after' } as const)
    const page = { limit: 40, order: 'asc', backward: false, ...(boundary && { boundary }) } as const
    const { rows, hasMore } = await listBalanceEntries(
      db.sandbox,
      tenant,
      { account: [account], created },
      page,
    )
    known.push(...rows)
    if (!hasMore) return
  }
}

/** Each entry is numbered after the one before it, and begins with its balance. */
function expectChain(entries: readonly BalanceEntryRow[]): void {
  let [sequence, balance] = [0, 0]
  for (const entry of entries) {
    sequence += 1
    balance += entry.amount
    expect([entry.id, entry.sequence, entry.balance]).toEqual([entry.id, sequence, balance])
  }
}

async function heldOf(instant: number): Promise<number> {
  const { rows } = await db.control.query<{ held: number }>(
    {
      text: `SELECT coalesce(sum(h.amount), 0)::bigint AS held FROM sandbox.ledger_holds h
              WHERE h.tenant_id = $1 AND h.created < $2 AND NOT EXISTS (
                SELECT FROM sandbox.ledger_resolutions r WHERE r.tenant_id = $1 AND r.hold_id = h.id AND r.created < $2)`,
    },
    [tenant, new Date(instant).toISOString()],
  )
  return rows[0]!.held
}

test('entries add up to the balance of any instant while writers are killed', {
  timeout: 120_000,
}, async () => {
  const known = { program_funds: [], settlement_payable: [] } as Record<Account, BalanceEntryRow[]>
  const readAll = () => Promise.all(ACCOUNTS.map((account) => readOn(account, known[account])))
  const began = Date.now()
  for (let round = 1; round <= ROUNDS; round += 1) {
    const program = startProgram(process.execPath, ['test/money/ledger/mover.ts'], {
      ...{ TEST_DATABASE: db.url, TEST_PEPPER: db.pepper, TEST_TENANT: tenant },
    })
    await program.ready()
    while (known.program_funds.length < round * BETWEEN) {
      await readAll()
      expect(program.stderr()).toBe('')
    }
    await program.end('SIGKILL')
    const open = `SELECT count(*) AS count FROM pg_stat_activity
                   WHERE datname = current_database() AND usename <> current_user AND xact_start IS NOT NULL`
    await until('its transactions to end', async () => {
      const { rows } = await db.control.query<{ count: number }>({ text: open })
      return rows[0]!.count === 0
    })
  }
  await readAll()
  await verifyLedger(db.operator, tenant)

  for (const account of ACCOUNTS) {
    const entries = known[account]
    expectChain(entries)
    expect((await readAccount(db.sandbox, tenant, account)).balance).toBe(entries.at(-1)!.balance)
    const dates = entries.map(({ created }) => created)
    const chosen = dates.filter((_, index) => index % 29 === 0)
    const instants = [began - 1, ...chosen, Math.max(...dates), Math.max(...dates) + 1].toSorted(
      (a, b) => a - b,
    )
    const parts: BalanceEntryRow[] = []
    for (const [index, instant] of instants.entries()) {
      const cut = dates.findIndex((date) => date >= instant)
      const before = cut === -1 ? entries : entries.slice(0, cut)
      const balance = before.at(-1)?.balance ?? 0
      expect([instant, await readBalanceBefore(db.sandbox, tenant, account, instant)]).toEqual([
        instant,
        balance,
      ])
      const part: BalanceEntryRow[] = []
      await readOn(account, part, { ...(index > 0 && { gte: instants[index - 1]! }), lt: instant })
      parts.push(...part)
      expect(parts).toHaveLength(before.length)
      expect([instant, await readHeldBefore(db.sandbox, tenant, instant)]).toEqual([
        instant,
        await heldOf(instant),
      ])
    }
    expect(parts).toEqual(entries)
  }
  const later = Date.now() + 3 * 3_600_000
  const held = await heldOf(later)
  while (await keepHeld(db.sandbox, tenant, later));
  expect(await readHeldBefore(db.sandbox, tenant, later)).toBe(held)
  expect((await readAccount(db.sandbox, tenant, 'program_funds')).held).toBe(held)
})
