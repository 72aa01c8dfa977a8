/** Rows that cannot be read, signed or sent wait apart, with a reason; every other payout is paid. */
import pg from 'pg'
import { Registry } from 'prom-client'
import { type Address, encodeFunctionData, getContractAddress, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { current } from '../../../generated/versions.ts'
import { PROXY_ADMIN } from '../../../runtime/money/chain/contract/deployment.ts'
import compiled from '../../../runtime/money/chain/contract/test-usdc.json' with { type: 'json' }
import { checked, createKeySigner } from '../../../runtime/money/chain/signer.ts'
import { mintCall, UNITS_PER_CENT } from '../../../runtime/money/chain/token.ts'
import { holdUpTransfer } from '../../../runtime/money/chain/transfer-queries.ts'
import { withdrawTransfer } from '../../../runtime/money/chain/transfers.ts'
import { checkPayouts } from '../../../runtime/operator/doctor/payouts.ts'
import {
  decidePayout,
  listHeldUp,
  retryPayout,
  showHeldUp,
} from '../../../runtime/operator/held-up-payouts.ts'
import { addPayouts } from '../../../runtime/operator/metrics/payout-metrics.ts'
import { createTenant } from '../../../runtime/tenants/admin/tenants.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import {
  enqueueOne,
  IS_USED,
  KEY,
  makeWorker,
  type Network,
  PAYER,
  someAddress,
  startNetwork,
} from './network.ts'

let database: TestDatabase
let network: Network
beforeAll(async () => {
  ;[database, network] = await Promise.all([openTestDatabase(), startNetwork()])
  await network.send({ to: network.token, data: mintCall(PAYER, 10n ** 21n) })
  const constraints = `ALTER TABLE sandbox.chain_transfers DROP CONSTRAINT chain_transfers_state_check`
  await database.control.query({ text: constraints })
})
afterAll(async () => {
  await network.stop()
  await database.close()
})

let people = 5000
function somebody() {
  people += 1
  return someAddress(people)
}

async function rowsOf<Row>(text: string, ...values: unknown[]): Promise<readonly Row[]> {
  return (await database.control.query<Row>({ text }, values)).rows
}

const transferOf = async (id: string) =>
  (
    await rowsOf<{ state: string; problem: string | null; held_up_since: number | null }>(
      'SELECT state, problem, held_up_since FROM sandbox.chain_transfers WHERE id = $1',
      id,
    )
  )[0]!
const paymentOf = async (id: string) =>
  (
    await rowsOf<{
      state: string
      problem: string | null
      hash: string | null
      held_up_since: number | null
    }>('SELECT state, problem, hash, held_up_since FROM control.chain_payments WHERE transfer_id = $1', id)
  )[0]!

describe('a payout of', () => {
  test.each([
    ['the first base unit that a double cannot hold', 900_719_925_475],
    ['all that a bigint of PostgreSQL can hold', 922_337_203_685_477],
    ['as much as the documents allow', 1_000_000_000_000_000],
  ])('%s is paid, and so is the next one', async (_, cents) => {
    const [to, other] = [somebody(), somebody()]
    const worker = makeWorker(database, network)
    const ids = [await enqueueOne(database, to, cents), await enqueueOne(database, other, 1)]
    await worker.pay(ids)
    await worker.close()
    expect(await network.balanceOf(to)).toBe(BigInt(cents) * UNITS_PER_CENT)
    expect(await network.balanceOf(other)).toBe(UNITS_PER_CENT)
  })
})

const UNSIGNED: readonly (readonly [string, string, RegExp])[] = [
  ['a number beyond the type', 'amount = 9223372036854775807', /beyond the range of exact numbers/],
  ['an unknown state', `state = 'lost'`, /unknown state lost/],
]

test.each(UNSIGNED)('an unsigned row with %s is held up alone', async (_, change, problem) => {
  const to = somebody()
  const worker = makeWorker(database, network)
  const poison = await enqueueOne(database, somebody(), 100)
  await rowsOf(`UPDATE sandbox.chain_transfers SET ${change}, due = '-infinity' WHERE id = $1`, poison)
  const good = await enqueueOne(database, to, 100)
  await worker.pay([good])
  await worker.close()
  expect(await network.balanceOf(to)).toBe(1_000_000n)
  expect(await transferOf(poison)).toMatchObject({
    problem: expect.stringMatching(problem),
    held_up_since: expect.any(Number),
  })
  expect(worker.heard.filter(({ id }) => id === poison)).toEqual([])
  await rowsOf('DELETE FROM sandbox.chain_transfers WHERE id = $1', poison)
})

test('a row that the signer fails at is held up alone, and is paid once the signer can', async () => {
  const [to, other] = [somebody(), somebody()]
  const poison = await enqueueOne(database, other, 100)
  const good = await enqueueOne(database, to, 100)
  const signer = createKeySigner(KEY)
  const failing = {
    ...signer,
    authorize: (...asked: Parameters<typeof signer.authorize>) => {
      if (asked[2] === poison) throw new TypeError('cannot be encoded')
      return signer.authorize(...asked)
    },
  }
  const worker = makeWorker(database, network, { openSigner: async () => checked(failing) })
  await worker.pay([good])
  await worker.close()
  expect([await network.balanceOf(to), await network.balanceOf(other)]).toEqual([1_000_000n, 0n])
  expect(await transferOf(poison)).toMatchObject({ state: 'queued', problem: 'cannot be encoded' })
  const able = makeWorker(database, network)
  await able.pay([poison])
  await able.close()
  expect(await network.balanceOf(other)).toBe(1_000_000n)
  expect(await transferOf(poison)).toMatchObject({ state: 'paid', problem: null, held_up_since: null })
})

test('a transfer that is withdrawn while it is held up is no longer listed', async () => {
  const id = await enqueueOne(database, somebody(), 100)
  const held = { problem: 'the chain is away', now: Date.now(), due: Date.now(), isUnsigned: true }
  await holdUpTransfer(database.sandbox, { tenant_id: 'ten_test', id }, held)
  const listed = async () => (await listHeldUp(database.control)).filter((row) => row.id === id).length
  expect(await listed()).toBe(1)
  await database.sandbox.transaction((db) => withdrawTransfer(db, 'ten_test', id, Date.now()))
  expect(await listed()).toBe(0)
  expect(await transferOf(id)).toEqual({ state: 'withdrawn', problem: null, held_up_since: null })
})

const SIGNED: readonly (readonly [string, string])[] = [
  ['no amount', 'UPDATE control.chain_payments SET value = NULL, units = NULL WHERE transfer_id = $1'],
  [
    'a time beyond the type',
    'UPDATE control.chain_payments SET valid_before = 9223372036854775807 WHERE transfer_id = $1',
  ],
  [
    'bytes that are no transaction',
    `UPDATE control.chain_transactions t SET raw = '\\x0102' FROM control.chain_payments p
      WHERE p.transfer_id = $1 AND (p.chain_id, p.signer, p.nonce) = (t.chain_id, t.signer, t.nonce)`,
  ],
  [
    'no transaction at all',
    `DELETE FROM control.chain_transactions t USING control.chain_payments p
      WHERE p.transfer_id = $1 AND (p.chain_id, p.signer, p.nonce) = (t.chain_id, t.signer, t.nonce)`,
  ],
]

test.each(SIGNED)('a signed row with %s is held up alone, sent or not', async (_, change) => {
  const to = somebody()
  await network.rpc.ask('evm_setAutomine', false)
  const worker = makeWorker(database, network, { limits: { replaceMs: 0 } })
  const poison = await enqueueOne(database, somebody(), 100)
  await worker.look()
  const [sent] = await rowsOf<{ hash: string }>(
    `SELECT t.hash FROM control.chain_transactions t JOIN control.chain_payments p USING (chain_id, signer, nonce)
      WHERE p.transfer_id = $1`,
    poison,
  )
  // As after a crash before it was sent.
  await network.rpc.ask('anvil_dropTransaction', sent!.hash)
  await rowsOf(change, poison)
  await network.rpc.ask('evm_setAutomine', true)
  const good = await enqueueOne(database, to, 100)
  await worker.pay([good])
  await worker.close()
  expect(await network.balanceOf(to)).toBe(1_000_000n)
  expect(await paymentOf(poison)).toMatchObject({
    state: 'open',
    problem: expect.any(String),
    held_up_since: expect.any(Number),
  })
  await rowsOf('DELETE FROM control.chain_payments WHERE transfer_id = $1', poison)
})

describe('an operator', () => {
  const failing = /is not held up/

  async function makeOne(change?: string): Promise<{ tenantId: string; id: string; to: `0x${string}` }> {
    const to = somebody()
    const { id: tenantId } = await createTenant(database.operator, { name: 'Acme', plan: 'trial' }, current)
    const id = await enqueueOne(database, to, 100, tenantId)
    if (change) await rowsOf(`UPDATE sandbox.chain_transfers SET ${change} WHERE id = $1`, id)
    return { tenantId, id, to }
  }

  test('an operator is shown what is held up, by command, doctor and metrics, and has it tried again', async () => {
    const { tenantId, id, to } = await makeOne('amount = 9223372036854775807')
    const worker = makeWorker(database, network, { limits: { retryMs: 3_600_000 } })
    await worker.look()
    const held = { environment: 'sandbox', stage: 'signing', id, tenant_id: tenantId }
    expect(await showHeldUp(database.operator)).toEqual({
      held_up: [
        { ...held, held_up_since: expect.any(String), problem: expect.stringMatching(/beyond the range/) },
      ],
    })
    const client = new pg.Client(database.url)
    await client.connect()
    const applied = new Map([['0081_payouts_held_up', '']])
    const [finding] = await checkPayouts(client, { applied })
    await client.end()
    expect(finding).toMatchObject({
      verdict: 'warn',
      words: expect.stringContaining(`1 held up: ${id} (sandbox, signing`),
    })
    const registry = new Registry()
    addPayouts(registry, () => listHeldUp(database.control))
    expect(await registry.metrics()).toContain('svc_payouts_held_up{environment="sandbox",stage="signing"} 1')
    await rowsOf('UPDATE sandbox.chain_transfers SET amount = 100 WHERE id = $1', id)
    await worker.look()
    expect(await paymentOf(id)).toBeUndefined()
    expect(await retryPayout(database.operator, tenantId, id)).toEqual({
      id,
      environment: 'sandbox',
      retried: true,
    })
    await worker.pay([id])
    await worker.close()
    expect(await network.balanceOf(to)).toBe(1_000_000n)
    await expect(retryPayout(database.operator, tenantId, id)).rejects.toThrow(failing)
    expect(await showHeldUp(database.operator)).toEqual({ held_up: [] })
  })

  test.each(['paid', 'failed'] as const)('an operator decides that a payout %s', async (outcome) => {
    const { tenantId, id } = await makeOne()
    await network.rpc.ask('evm_setAutomine', false)
    const worker = makeWorker(database, network)
    await worker.look()
    await expect(decidePayout(database.operator, tenantId, id, outcome)).rejects.toThrow(failing)
    const [sent] = await rowsOf<{ hash: string }>(
      `UPDATE control.chain_payments p SET held_up_since = now(), problem = 'contradiction'
         FROM control.chain_transactions t WHERE p.transfer_id = $1 AND p.nonce = t.nonce RETURNING t.hash`,
      id,
    )
    await network.rpc.ask('anvil_dropTransaction', sent!.hash)
    await network.rpc.ask('evm_setAutomine', true)
    expect(await decidePayout(database.operator, tenantId, id, outcome)).toEqual({
      ...{ id, environment: 'sandbox' },
      decided: outcome,
    })
    await worker.look()
    if (outcome === 'failed') {
      expect(await paymentOf(id)).toMatchObject({ problem: expect.stringMatching(/it fails after/) })
      await network.rpc.ask('evm_increaseTime', 3700)
      await network.rpc.ask('anvil_mine', '0x5')
    }
    await worker.pay([id], outcome)
    await worker.close()
    expect(await paymentOf(id)).toMatchObject({
      state: outcome === 'paid' ? 'settled' : 'failed',
      held_up_since: null,
    })
  })

  test('a payout that an operator decides as paid has the transaction that the chain shows, not the newest', async () => {
    const { tenantId, id } = await makeOne()
    const ask = async (method: string, ...params: unknown[]) =>
      JSON.stringify(params).includes(IS_USED) ? `0x${'0'.repeat(64)}` : network.rpc.ask(method, ...params)
    const rpc = { ...network.rpc, ask } as Network['rpc']
    const worker = makeWorker(database, { ...network, rpc }, { limits: { replaceMs: 0 } })
    await network.rpc.ask('evm_setAutomine', false)
    for (let looks = 0; looks < 3; looks += 1) await worker.look()
    const signed = await rowsOf<{ hash: string; raw: Buffer }>(
      `SELECT t.hash, t.raw FROM control.chain_transactions t JOIN control.chain_payments p USING (chain_id, signer, nonce)
        WHERE p.transfer_id = $1 ORDER BY t.attempt`,
      id,
    )
    const [first, newest] = [signed[0]!, signed.at(-1)!]
    expect(first.hash).not.toBe(newest.hash)
    await network.rpc.ask('anvil_dropTransaction', newest.hash)
    await network.rpc.ask('eth_sendRawTransaction', `0x${first.raw.toString('hex')}`)
    await network.rpc.ask('anvil_mine', '0x5')
    await network.rpc.ask('evm_setAutomine', true)
    await worker.look()
    expect(await paymentOf(id)).toMatchObject({
      problem: expect.stringMatching(/as unused/),
      hash: first.hash,
    })
    await decidePayout(database.operator, tenantId, id, 'paid')
    await worker.pay([id])
    await worker.close()
    expect(worker.heard.at(-1)!.change).toMatchObject({ state: 'paid', hash: first.hash })
  })

  test('a payout that an operator decides as paid has the transaction that the operator names', async () => {
    const { tenantId, id } = await makeOne()
    const ask = async (method: string, ...params: unknown[]) => {
      if (JSON.stringify(params).includes(IS_USED)) return `0x${'1'.padStart(64, '0')}`
      if (method === 'eth_getTransactionReceipt') return null
      return method === 'eth_getLogs' ? [] : network.rpc.ask(method, ...params)
    }
    const worker = makeWorker(database, { ...network, rpc: { ...network.rpc, ask } as Network['rpc'] })
    for (let looks = 0; looks < 2; looks += 1) await worker.look()
    expect(await paymentOf(id)).toMatchObject({
      problem: 'the authorization is used, but no log shows by which transaction',
      hash: null,
    })
    const foreign = `0x${'ab'.repeat(32)}`
    await decidePayout(database.operator, tenantId, id, 'paid', foreign)
    await worker.pay([id])
    await worker.close()
    expect(worker.heard.at(-1)!.change).toMatchObject({ state: 'paid', hash: foreign })
  })

  test.each([
    ['', undefined],
    [' in an earlier block than the latest one at its signing, after a reorganization', 3],
  ])('a used authorization names its transaction without a receipt%s', async (_, depth) => {
    const { tenantId, id } = await makeOne()
    await network.rpc.ask('anvil_mine', '0x5')
    const ask = async (method: string, ...params: unknown[]) =>
      method === 'eth_getTransactionReceipt' ? null : network.rpc.ask(method, ...params)
    const worker = makeWorker(database, { ...network, rpc: { ...network.rpc, ask } as Network['rpc'] })
    await worker.look()
    if (depth !== undefined) {
      const [newest] = await rowsOf<{ raw: Buffer }>(
        'SELECT raw FROM control.chain_transactions ORDER BY signed_at DESC LIMIT 1',
      )
      await network.rpc.ask('anvil_reorg', depth, [[`0x${newest!.raw.toString('hex')}`, 0]])
    }
    await worker.look()
    const { problem, hash } = (await paymentOf(id)) as { problem: string; hash: string }
    expect(problem).toBe(`the authorization is used by ${hash}, but the node shows no receipt of it`)
    await decidePayout(database.operator, tenantId, id, 'paid')
    await worker.pay([id])
    await worker.close()
    expect(worker.heard.at(-1)!.change).toMatchObject({ state: 'paid', hash })
  })
})

const RULES = parseAbi([
  'function pause()',
  'function unpause()',
  'function blacklist(address)',
  'function unBlacklist(address)',
  'function configureMinter(address, uint256) returns (bool)',
  'function burn(uint256)',
  'function upgradeTo(address)',
  'function transfer(address, uint256) returns (bool)',
])

/** Sends a transaction to the token: by its deployer, who has every role, or by another account. */
const order = (data: Hex, from: object = {}) => network.send({ to: network.token, data, ...from })
const PAUSE = encodeFunctionData({ abi: RULES, functionName: 'pause' })
const UNPAUSE = encodeFunctionData({ abi: RULES, functionName: 'unpause' })
const blockCall = (functionName: 'blacklist' | 'unBlacklist', account: Address) =>
  encodeFunctionData({ abi: RULES, functionName, args: [account] })

test('a payout to an address that the token has blocked fails, and the next one is paid', async () => {
  const [to, other] = [somebody(), somebody()]
  await order(blockCall('blacklist', to))
  const worker = makeWorker(database, network)
  const [blocked, good] = [await enqueueOne(database, to, 100), await enqueueOne(database, other, 100)]
  await worker.pay([good])
  await worker.pay([blocked], 'failed')
  await worker.close()
  expect(worker.heard.filter(({ id }) => id === blocked).map(({ change }) => change)).toEqual([
    { state: 'failed', code: 'rejected' },
  ])
  expect([await network.balanceOf(to), await network.balanceOf(other)]).toEqual([0n, 1_000_000n])
})

const OBSTACLES: readonly (readonly [string, Hex, Hex, RegExp])[] = [
  ['the token is paused', PAUSE, UNPAUSE, /^transaction_failed: the token is paused$/],
  [
    'the token has blocked the payer',
    blockCall('blacklist', PAYER),
    blockCall('unBlacklist', PAYER),
    /^transaction_failed: the token has blocked the signer 0x/,
  ],
]

test.each(OBSTACLES)('a payout waits while %s, and is paid afterwards', async (_, begin, end, problem) => {
  const to = somebody()
  await order(begin)
  const worker = makeWorker(database, network)
  const id = await enqueueOne(database, to, 100)
  await worker.look()
  await worker.look()
  expect(await transferOf(id)).toMatchObject({ state: 'queued', problem: expect.stringMatching(problem) })
  expect(worker.heard).toEqual([])
  await order(end)
  await worker.pay([id])
  await worker.close()
  expect(await network.balanceOf(to)).toBe(1_000_000n)
})

test('a payout fails if the token is paused for too long, and is not paid later', async () => {
  const to = somebody()
  await order(PAUSE)
  const worker = makeWorker(database, network, { limits: { giveUpMs: 0 } })
  const id = await enqueueOne(database, to, 100)
  await worker.pay([id], 'failed')
  await order(UNPAUSE)
  await worker.pay([await enqueueOne(database, somebody(), 1)])
  await worker.close()
  expect(worker.heard[0]?.change).toEqual({ state: 'failed', code: 'transaction_failed' })
  expect(await network.balanceOf(to)).toBe(0n)
})

test('a payout that is signed when the token is paused stays in transit until its authorization has expired', async () => {
  const to = somebody()
  const worker = makeWorker(database, network)
  const id = await enqueueOne(database, to, 100)
  await network.rpc.ask('evm_setAutomine', false)
  await worker.look()
  const [sent] = await rowsOf<{ hash: Hex }>(
    `SELECT t.hash FROM control.chain_transactions t JOIN control.chain_payments p USING (chain_id, signer, nonce)
      WHERE p.transfer_id = $1`,
    id,
  )
  await network.rpc.ask('anvil_dropTransaction', sent!.hash)
  await network.rpc.ask('evm_setAutomine', true)
  await order(PAUSE)
  for (let looks = 0; looks < 3; looks += 1) {
    await worker.look()
    await network.rpc.ask('anvil_mine', '0x2')
  }
  expect(await paymentOf(id)).toMatchObject({
    state: 'open',
    problem: expect.stringMatching(/contract rejected/),
  })
  expect(worker.heard.map(({ change }) => change.state)).not.toContain('failed')
  await network.rpc.ask('evm_increaseTime', 3700)
  await worker.pay([id], 'failed')
  expect(worker.heard.at(-1)?.change).toEqual({ state: 'failed', code: 'transaction_failed' })
  await order(UNPAUSE)
  await worker.pay([await enqueueOne(database, somebody(), 1)])
  await worker.close()
  expect(await network.balanceOf(to)).toBe(0n)
})

test('a payout waits while the payer has burnt its tokens, and is paid when new ones are minted', async () => {
  const to = somebody()
  const held = await network.balanceOf(PAYER)
  await order(encodeFunctionData({ abi: RULES, functionName: 'configureMinter', args: [PAYER, 0n] }))
  await order(encodeFunctionData({ abi: RULES, functionName: 'burn', args: [held] }), { from: PAYER })
  const worker = makeWorker(database, network)
  const id = await enqueueOne(database, to, 100)
  await worker.look()
  await network.rpc.ask('anvil_mine', '0x4')
  await worker.look()
  expect((await transferOf(id)).problem).toMatch(/^rejected: the signer has only 0 base units of USDC/)
  await order(mintCall(PAYER, held))
  await worker.pay([id])
  await worker.close()
  expect([await network.balanceOf(to), await network.balanceOf(PAYER)]).toEqual([
    1_000_000n,
    held - 1_000_000n,
  ])
})

test('payouts go on when the token is upgraded to verify signatures for another domain', async () => {
  const to = somebody()
  const worker = makeWorker(database, network)
  await worker.pay([await enqueueOne(database, to, 100)])
  const nonce = BigInt(await network.rpc.ask<Hex>('eth_getTransactionCount', PROXY_ADMIN, 'latest'))
  await network.send({ from: PROXY_ADMIN, data: compiled.next })
  const next = getContractAddress({ from: PROXY_ADMIN, nonce })
  const upgrade = encodeFunctionData({ abi: RULES, functionName: 'upgradeTo', args: [next] })
  await expect(order(upgrade)).rejects.toThrow() // only the admin can
  await order(upgrade, { from: PROXY_ADMIN })
  await worker.pay([await enqueueOne(database, to, 100)])
  await worker.close()
  expect(worker.heard.map(({ change }) => change.state)).not.toContain('failed')
  expect(await network.balanceOf(to)).toBe(2_000_000n)
})
