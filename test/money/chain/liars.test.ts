/** Nodes that lie, hang, forget or are in a hurry: nothing is told as paid that is not, nothing is paid twice, nothing is lost. */

import { pino } from 'pino'
import { getAddress } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChains } from '../../../runtime/money/chain/open-chains.ts'
import type { ChainSettings } from '../../../runtime/platform/chain-settings.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { enqueueOne, IS_USED, KEY, makeWorker, type Network, someAddress, startNetwork } from './network.ts'
import { type Instead, type Lie, type NodeProxy, startProxy } from './proxy.ts'

let database: TestDatabase
let network: Network
let proxy: NodeProxy
beforeAll(async () => {
  ;[database, network] = await Promise.all([openTestDatabase(), startNetwork()])
  proxy = await startProxy(network.anvil.url)
})
afterAll(async () => {
  proxy.close()
  await network.stop()
  await database.close()
})

interface Receipt {
  readonly status: string
  readonly logs: readonly { readonly topics: readonly string[]; readonly data: string }[]
}

/** Lies about receipts of payments. */
const receipts =
  (change: (receipt: Receipt) => unknown): NonNullable<Lie['after']> =>
  ({ method }, result) =>
    method === 'eth_getTransactionReceipt' && result ? change(result as Receipt) : result
const only =
  (method: string, instead: Instead): NonNullable<Lie['before']> =>
  (question) =>
    question.method === method ? instead : undefined

let other: unknown
const LIES: readonly (readonly [string, Lie])[] = [
  ['is another chain’s', { after: ({ method }, result) => (method === 'eth_chainId' ? '0x1' : result) }],
  ['gives the receipt of another transaction', { after: receipts(() => other) }],
  [
    'gives it under the right hash',
    {
      after: (q, result) =>
        receipts((own) => ({
          ...(other as Receipt),
          transactionHash: (own as unknown as { transactionHash: string }).transactionHash,
        }))(q, result),
    },
  ],
  [
    'shows more than was transferred',
    {
      after: receipts((own) => ({
        ...own,
        logs: own.logs.map((log) => ({ ...log, data: `0x${'f'.repeat(64)}` })),
      })),
    },
  ],
  ['shows nothing that was transferred', { after: receipts((own) => ({ ...own, logs: [] })) }],
  ['shows another block', { after: receipts((own) => ({ ...own, blockHash: `0x${'ab'.repeat(32)}` })) }],
  ['says that it was refused', { after: receipts((own) => ({ ...own, status: '0x0' })) }],
  [
    'shows a payment that the contract does not know',
    {
      after: ({ method, params }, result) =>
        method === 'eth_call' && JSON.stringify(params).includes(IS_USED) ? `0x${'0'.repeat(64)}` : result,
    },
  ],
  ['forgets every receipt', { after: receipts(() => null) }],
  [
    'forgets every transaction',
    {
      after: ({ method }, result) =>
        /Receipt|TransactionCount/.test(method)
          ? method === 'eth_getTransactionCount'
            ? '0x0'
            : null
          : result,
    },
  ],
  ['hangs', { before: () => 'hang' }],
  ['hangs when it is sent something', { before: only('eth_sendRawTransaction', 'hang') }],
  ['is asked too often', { before: () => 429 }],
  ['is asked too often for receipts', { before: only('eth_getTransactionReceipt', 429) }],
  ['fails', { before: () => 500 }],
]

test.each(LIES)('a payment is told truly when the node %s', async (_, lie) => {
  const to = someAddress(1000 + LIES.findIndex(([, each]) => each === lie))
  const honest = makeWorker(database, network)
  if (other === undefined) {
    await honest.pay([await enqueueOne(database, someAddress(999), 100)])
    const [{ hash } = { hash: '' }] = (
      await database.control.query<{ hash: string }>({ text: 'SELECT hash FROM control.chain_transactions' })
    ).rows
    other = await network.rpc.ask('eth_getTransactionReceipt', hash)
  }
  const before = honest.heard.length
  const id = await enqueueOne(database, to, 100)
  const worker = makeWorker(database, network, { url: proxy.url })
  proxy.lie(lie)
  for (let looks = 0; looks < 2; looks += 1) {
    await worker.look()
    await network.rpc.ask('anvil_mine', '0x4')
  }
  const told = worker.heard.map(({ change }) => change.state)
  expect(told.filter((state) => state === 'paid' || state === 'failed')).toEqual([])
  proxy.lie({})
  await worker.pay([id])
  await worker.close()
  await honest.close()
  expect(honest.heard.length).toBe(before)
  expect(await network.balanceOf(to)).toBe(1_000_000n)
})

const USED = 'says that it was refused'
const STATE = 'says that it was refused, and that its authorization is not used'
const CONTRADICTIONS: readonly (readonly [string, Lie])[] = [
  [USED, { after: receipts((own) => ({ ...own, status: '0x0' })) }],
  [
    STATE,
    {
      after: (question, result) =>
        question.method === 'eth_call' && JSON.stringify(question.params).includes(IS_USED)
          ? `0x${'0'.repeat(64)}`
          : receipts((own) => ({ ...own, status: '0x0' }))(question, result),
    },
  ],
  [
    'counts fewer transactions than it shows',
    {
      after: (question, result) =>
        question.method === 'eth_getTransactionCount'
          ? `0x${(Number(result) - 1).toString(16)}`
          : question.method === 'eth_getLogs'
            ? []
            : result,
    },
  ],
]

test.each(CONTRADICTIONS)('a paid payout does not fail at a node that %s for an hour', async (what, lie) => {
  proxy.lie({})
  const to = someAddress(2000 + what.length)
  const id = await enqueueOne(database, to, 100)
  const lied = makeWorker(database, network, { url: proxy.url })
  await lied.look()
  await network.rpc.ask('anvil_mine', '0x4')
  proxy.lie(lie)
  await lied.look()
  await network.rpc.ask('evm_increaseTime', 3700)
  for (let looks = 0; looks < 3; looks += 1) {
    await network.rpc.ask('anvil_mine', '0x4')
    await lied.look()
  }
  await lied.close()
  expect(await network.balanceOf(to)).toBe(1_000_000n)
  expect(lied.heard.filter(({ change }) => change.state === 'failed' || change.state === 'paid')).toEqual([])
  const text = 'SELECT state, problem, held_up_since FROM control.chain_payments WHERE transfer_id = $1'
  const { rows } = await database.control.query({ text }, [id])
  expect(rows).toEqual([{ state: 'open', problem: expect.any(String), held_up_since: expect.any(Number) }])
  const honest = makeWorker(database, network)
  await honest.pay([id])
  await honest.close()
  expect(await network.balanceOf(to)).toBe(1_000_000n)
})

const log = pino({ level: 'silent' })
const settings = (change: Partial<ChainSettings>): ChainSettings => ({
  ...{ rpcUrl: proxy.url, usdc: network.token, confirmations: 3, maxFee: 10n ** 12n },
  ...{ signer: { kind: 'key', key: KEY } },
  ...change,
})

test('a node that does not have a block yet holds up no payment', async () => {
  const worker = makeWorker(database, network, { url: proxy.url })
  proxy.lie({})
  const id = await enqueueOne(database, someAddress(1900), 100)
  await worker.look()
  await network.rpc.ask('anvil_mine', '0x4')
  proxy.lie({
    before: only('eth_getTransactionReceipt', { error: { code: -32000, message: 'header not found' } }),
  })
  await worker.look()
  const held = await database.control.query({
    text: 'SELECT transfer_id, problem FROM control.chain_payments WHERE held_up_since IS NOT NULL',
  })
  expect(held.rows).toEqual([])
  proxy.lie({})
  await worker.pay([id])
  await worker.close()
})

test('the chain that the settings name is looked at before anything is sent', async () => {
  proxy.lie({})
  const { of } = await openChains(settings({}), database.control, log)
  expect(of.sandbox).toEqual({
    id: 31337,
    name: 'eip155:31337',
    token: getAddress(network.token),
    isOwn: false,
  })
  const open = (change: Partial<ChainSettings>) => openChains(settings(change), database.control, log)
  await expect(open({ chainId: 1 })).rejects.toThrow(
    /^SVC_CHAIN_RPC_URL: .* is chain 31337, but SVC_CHAIN_ID is 1/,
  )
  const swapped = getAddress(network.token).replace(/[a-f]/, (letter) => letter.toUpperCase())
  if (swapped !== network.token)
    await expect(open({ usdc: swapped })).rejects.toThrow(/SVC_USDC_ADDRESS: the EIP-55 checksum/)
  await expect(open({ usdc: someAddress(5) })).rejects.toThrow(/is not a token contract/)
  proxy.lie({
    after: ({ method }, result) =>
      method === 'eth_getBlockByNumber' ? { ...(result as object), hash: '0xff' } : result,
  })
  await expect(open({})).rejects.toThrow(/is not the chain that this database has paid on/)
  proxy.lie({ before: () => 503 })
  expect((await open({})).of.live?.id).toBe(31337) // it was seen before
  await expect(open({ usdc: someAddress(5) })).rejects.toThrow(/To start without the node, set SVC_CHAIN_ID/)
  proxy.lie({ after: ({ method }, result) => (method === 'eth_chainId' ? '0x2105' : result) })
  await expect(open({})).rejects.toThrow(
    /SVC_USDC_ADDRESS: .* on chain 8453 verifies signatures for a different EIP-712 domain/,
  )
})

test('no provider’s key in a URL is shown', async () => {
  const rpcUrl = 'http://127.0.0.1:1/v3/0123456789abcdef'
  const failing = openChains(settings({ rpcUrl, usdc: someAddress(6) }), database.control, log)
  await expect(failing).rejects.toThrow(/^SVC_CHAIN_RPC_URL: 127.0.0.1:1 cannot be reached\. /)
})
