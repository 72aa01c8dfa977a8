/** The checks of the simulated peers: each finds what is wrong. */
import { keccak256, stringToHex } from 'viem'
import { expect, test } from 'vitest'
import type { Database } from '../../runtime/database/database.ts'
import { authorizationsFollowTheMerchant } from './authorizations/checks.ts'
import type { Blocks, MinedTransaction } from './chain/blocks.ts'
import { chainPaymentsAreRight, noncesAreUnique } from './chain/checks.ts'
import { accountOf, addressOf } from './chain/node.ts'
import { oldPaymentsAreGone } from './chain/old-payments.ts'
import type { Evidence } from './checks/evidence.ts'
import { answersAreStored } from './checks/keys.ts'
import { leasesAreFree } from './checks/leases.ts'
import { LOSSES, logsAreQuiet, lossesAreTold, START_LINES } from './checks/logs.ts'
import { restIsQuiet } from './checks/rest.ts'
import { retentionIsKept } from './checks/retention.ts'
import { settlementsMoveInTime } from './checks/settlement-history.ts'
import { createMachine } from './clockwork/machines.ts'
import type { Merchant } from './merchant.ts'
import { findUntrueChange } from './told.ts'
import { devicesAreCurrent, googleIsCurrent } from './wallets/checks.ts'

const DAY_MS = 86_400_000

/** Answers each statement with the rows of the table that it names first. */
const databaseOf = (tables: Readonly<Record<string, readonly object[]>>): Database => ({
  query: async <Row>({ text }: { readonly text: string }) => {
    const table = /FROM \w+\.(\w+)/.exec(text)?.[1] ?? ''
    const rows = (tables[table] ?? []) as Row[]
    return { rows, count: rows.length }
  },
})

const MERCHANT = {
  ...{ name: 'm1', tenantId: 'acct_1', payable: 1000, transfers: new Map([['po_1', 75]]) },
  ...{ addresses: new Set([addressOf('m1')]), rejected: new Set() },
  shown: [{ id: 'pass_1', points: '5' }],
  balances: { sandbox: { payable: 925, held: 0, available: 0 } },
} as unknown as Merchant

const PAID: MinedTransaction = {
  ...{ hash: '0x1', from: 'payer', nonce: 0, maxFee: 1n, priorityFee: 1n, block: 1, isPaid: true },
  authorization: {
    ...{ from: 'payer', to: addressOf('m1'), value: 750_000n, validBefore: 1n, isSigned: true },
    nonce: keccak256(stringToHex('po_1')),
  },
}
const PAYOUT = {
  id: 'po_1',
  amount: 75,
  status: 'paid',
  created: 0,
  settlement_id: null,
  address: accountOf('m1'),
}

const chainWith = (mined: readonly MinedTransaction[], payout: object = {}) =>
  chainPaymentsAreRight(
    { db: databaseOf({ payouts: [{ ...PAYOUT, ...payout }] }), blocks: { mined } as Blocks, now: 1e9 },
    MERCHANT,
  )

const OTHER = { ...PAID, authorization: { ...PAID.authorization!, nonce: '0x2' as const } }

test.each([
  ['no payment', [], {}, 'is paid, and the chain has 0 payments'],
  ['two payments', [PAID, PAID], {}, 'was paid 2 times'],
  ['a payment of a failed payout', [PAID], { status: 'failed' }, 'is failed, and the chain has 1 payments'],
  ['a payout that does not end', [], { status: 'in_transit' }, 'is still in_transit'],
  ['a payment without a payout', [PAID, OTHER], {}, 'got 1 USDC payments without a payout'],
])('the checks find %s on the chain', async (_, mined, payout, fault) => {
  await expect(chainWith([PAID])).resolves.toBeUndefined()
  await expect(chainWith(mined, payout)).rejects.toThrow(fault)
})

test('the checks find a settled payment that the chain does not have', async () => {
  const db = databaseOf({ chain_payments: [{ nonce: 0, hash: '0x1' }] })
  const evidence = (mined: readonly MinedTransaction[]) => ({ db, blocks: { mined } as Blocks, now: 0 })
  await expect(noncesAreUnique(evidence([PAID]))).resolves.toBeUndefined()
  await expect(noncesAreUnique(evidence([]))).rejects.toThrow('payment 0 is settled')
  await expect(noncesAreUnique(evidence([PAID, PAID]))).rejects.toThrow('has the nonce 0')
})

const DECISION = {
  ...{ id: 'azd_1', status: 'responded', approved: true, amount: null, decline_reason: null },
  ...{
    default_action_used: false,
    requested: 500,
    authorized: 500,
    decline_code: null,
    decision_id: 'azd_1',
  },
}
const STOOD_IN = { ...DECISION, status: 'timed_out', approved: null, default_action_used: true }

test.each([
  ['a pending question', { ...DECISION, status: 'pending' }, 'is still pending'],
  ['an untrue answer', { ...DECISION, amount: 3 }, 'the endpoint gave'],
  ['another amount', { ...DECISION, authorized: 4 }, 'allows 500 of 500, and its transaction authorized 4'],
  ['a refused approval', { ...DECISION, authorized: 0, decline_code: 'decision_declined' }, 'was approved'],
  ['a stand-in above its maximum', STOOD_IN, 'was declined: decision_timed_out'],
])('the checks find %s', async (_, row, fault) => {
  const authorizers = { answers: new Map([['azd_1', { given: { approved: true }, delayMs: 0 }]]) }
  const check = (decision: object) => {
    const db = databaseOf({ authorization_decisions: [decision] })
    return authorizationsFollowTheMerchant({ db, authorizers: { ...authorizers, answer: fail } }, MERCHANT)
  }
  await expect(check(DECISION)).resolves.toBeUndefined()
  await expect(check(row)).rejects.toThrow(fault)
})

function fail(): never {
  throw new Error('no question is asked here')
}

test('the checks find a pass that is not current in a wallet', async () => {
  const { shown, name } = MERCHANT
  const device = (points: string) => ({
    id: 'phone',
    passes: new Map([['pass_1', { serial: 'pass_1', points }]]),
  })
  const devices = (points: string) => [device(points)] as unknown as Merchant['devices']
  await expect(devicesAreCurrent(undefined, { shown, name, devices: devices('5') })).resolves.toBeUndefined()
  await expect(devicesAreCurrent(undefined, { shown, name, devices: devices('4') })).rejects.toThrow(
    'shows 4 points',
  )
  const google = (body: string) => ({
    google: {
      answer: fail,
      resources: new Map([
        ['loyaltyObject/1.pass_1', { state: 'ACTIVE', textModulesData: [{ id: 'points', body }] }],
      ]),
    },
  })
  await expect(googleIsCurrent(google('5'), { shown, name })).resolves.toBeUndefined()
  await expect(googleIsCurrent(google('4'), { shown, name })).rejects.toThrow('Google shows 4 points')
})

const STORED = { key: 'k1', status: 201, created: 1e9 }

test.each([
  ['a missing answer', [], 'what is stored of an answer 201'],
  ['another answer', [{ ...STORED, status: 409 }], 'is 409, not 201'],
  ['an old answer', [STORED, { ...STORED, key: 'k2', created: 0 }], 'an answer is stored since 1970'],
])('the checks find %s to a request with a key', async (_, rows, fault) => {
  const answered = new Map([['k1', { at: 1e9, status: 201 }]])
  const merchant = { ...MERCHANT, live: { answered }, sandbox: { answered } } as unknown as Merchant
  const check = (idempotency_answers: readonly object[]) =>
    answersAreStored(
      { db: databaseOf({ idempotency_answers }), now: 1e9, lateMs: 0 } as unknown as Evidence,
      merchant,
    )
  await expect(check([STORED])).resolves.toBeUndefined()
  await expect(check(rows)).rejects.toThrow(fault)
})

test.each([
  ['a lost old row', [], 'was deleted'],
  ['a row that is kept too long', [0], 'is kept since 1970'],
])('the checks find %s', async (_, created, fault) => {
  const rows = created.map((at) => ({ created: at }))
  const evidence = { db: databaseOf({ events: rows }), now: 40 * DAY_MS, started: 39 * DAY_MS }
  await expect(retentionIsKept(evidence as unknown as Evidence)).rejects.toThrow(fault)
})

test('the checks find an update that does not tell all that changed', () => {
  const event = (pass: object, previous_attributes?: object) =>
    JSON.stringify({ type: 'pass.updated', data: { pass: { id: 'pass_1', ...pass } }, previous_attributes })
  const first = event({ status: 'issued', fields: { points: '1', name: 'Ada' } })
  const later = { status: 'issued', fields: { points: '2', name: 'Ada' } }
  expect(findUntrueChange([first, event(later, { fields: { points: '1' } })])).toBeUndefined()
  expect(findUntrueChange([first, event(later, { fields: { name: 'Ada' } })])).toContain('what fields was')
})

test('the checks find a line of the log that a calm day does not have, and one that is missing', async () => {
  const line = (text: string, level = 30) => ({ level, text, at: 0 })
  const usual = START_LINES.map((text) => line(text))
  const quiet = (logs: Evidence['logs']) =>
    logsAreQuiet({ logs, faults: 0, blocks: { shortages: [] } as unknown as Blocks })
  await expect(quiet(usual)).resolves.toBeUndefined()
  await expect(quiet(usual.slice(1))).rejects.toThrow('no process said')
  await expect(quiet([...usual, line('A payout is held up: no reason', 40)])).rejects.toThrow(
    'A payout is held up',
  )
})

test('the checks find a loss of the database that no process told', () => {
  const told = (lines: readonly string[], crashes: number) =>
    lossesAreTold({ logs: lines.map((text) => ({ level: 40, text, at: 0 })), crashes } as unknown as Evidence)
  expect(() => told(LOSSES, 6)).not.toThrow()
  expect(() => told([], 5)).not.toThrow()
  for (const text of LOSSES)
    expect(() =>
      told(
        LOSSES.filter((each) => each !== text),
        6,
      ),
    ).toThrow(`no line says: ${text}`)
})

test('the checks find a lease that a process kept when it ended, unless it lost a connection shortly before', async () => {
  const machine = createMachine('a')
  const free = (tables: Parameters<typeof databaseOf>[0]) =>
    leasesAreFree(databaseOf(tables), machine, 10 * DAY_MS)
  await expect(free({})).resolves.toBeUndefined()
  for (const table of ['chain_signers', 'google_cursors', 'wallet_updates', 'webhook_ready'])
    await expect(free({ [table]: [{ token: 't' }] })).rejects.toThrow('still has a lease: {"token":"t"}')
  machine.lostAt = 10 * DAY_MS - 1000
  await expect(free({ chain_signers: [{ token: 't' }] })).resolves.toBeUndefined()
})

test('the checks find work at rest: a statement that is no search, and a search that runs too often', () => {
  const rest = (counts: object) => () => restIsQuiet(new Map(Object.entries(counts)))
  expect(
    rest({ COMMIT: 200, lease_clock: 44, webhook_senders_find: 41, 'DELETE FROM scans': 2 }),
  ).not.toThrow()
  expect(rest({ set_aside_read: 1 })).not.toThrow()
  expect(rest({ set_aside_read: 11 })).toThrow('set_aside_read ran 11 times')
  expect(rest({ webhook_events_plan: 1 })).toThrow('webhook_events_plan ran 1 times while nothing was due')
  expect(rest({ webhook_senders_find: 500 })).toThrow('webhook_senders_find ran 500 times in two minutes')
})

const OPENED = { id: 'stl_1', status: 'open', updated: '2026-06-01T09:00:00.000Z' }
const SETTLEMENT = {
  ...{
    id: 'stl_1',
    status: 'pending',
    period_start: 0,
    period_end: Date.parse('2026-06-02'),
    payout_id: null,
  },
  ...{ interchange_amount: 0, fees_amount: 0, net_amount: 0, created: Date.parse(OPENED.updated) },
  ...{ due: Date.parse('2026-06-02T01:00:00.000Z'), updated: Date.parse('2026-06-02') },
}

test.each([
  [
    'a stage that is late',
    { updated: '2026-06-02T00:00:00.001Z' },
    {},
    'when settlement stl_1 of m1 became pending',
  ],
  ['a stage that is skipped', { type: 'settlement.settled' }, {}, 'is settled after open'],
  ['another next move', {}, { due: 5 }, 'the row of settlement stl_1'],
])('the checks find %s of a settlement', async (_, told, row, fault) => {
  const check = (change: object, stored: object) => {
    const { type, ...shown } = { type: 'settlement.pending', ...OPENED, status: 'pending', ...change }
    const event = (type: string, settlement: object, sequence: number) => ({
      ...{ type, sequence, created: 0, body: JSON.stringify({ data: { settlement } }) },
    })
    const events = [event('settlement.created', OPENED, 1), event(type, { ...shown }, 2)]
    const db = databaseOf({ settlements: [{ ...SETTLEMENT, ...stored }], events })
    return settlementsMoveInTime({ db } as Evidence, { ...MERCHANT, isExact: false } as Merchant)
  }
  await expect(check({ updated: '2026-06-02T00:00:00.000Z' }, {})).resolves.toBeUndefined()
  await expect(check({ updated: '2026-06-02T00:00:00.000Z', ...told }, row)).rejects.toThrow(fault)
})

test('the checks find an old payment that was kept, and one that was deleted', async () => {
  const gone = (payments: readonly number[]) => {
    const chain_payments = payments.map((nonce) => ({ nonce }))
    const chain_transactions = [1, 1, 3].map((nonce) => ({ nonce }))
    return oldPaymentsAreGone({ db: databaseOf({ chain_payments, chain_transactions }) } as Evidence)
  }
  await expect(gone([1, 3])).resolves.toBeUndefined()
  await expect(gone([0, 1, 3])).rejects.toThrow('the old payments that are kept is [0,1,3]')
  await expect(gone([1])).rejects.toThrow('the old payments that are kept is [1]')
})
