/** The account's nonce: whatever nodes say and reorganizations take back, payouts go on. */
import { parseTransaction } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { showChains } from '../../../runtime/operator/chain.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { enqueueOne, makeWorker, type Network, PAYER, someAddress, startNetwork } from './network.ts'
import { type NodeProxy, startProxy } from './proxy.ts'

let database: TestDatabase
let network: Network
let proxy: NodeProxy
beforeAll(async () => {
  ;[database, network] = await Promise.all([openTestDatabase(), startNetwork()])
  proxy = await startProxy(network.anvil.url)
  await database.control.query({
    text: `INSERT INTO control.chains (id, genesis, token) VALUES (31337, '0x', '0x')`,
  })
})
afterAll(async () => {
  proxy.close()
  await network.stop()
  await database.close()
})

let people = 7000
beforeEach(async () => {
  proxy.lie({})
  people += 1
  const worker = makeWorker(database, network)
  await worker.pay([await enqueueOne(database, someAddress(people), 1)])
  await worker.close()
})

const mine = (blocks: number) => network.rpc.ask('anvil_mine', `0x${blocks.toString(16)}`)
const sendAsOther = () =>
  network.rpc.ask<string>('eth_sendTransaction', { from: PAYER, to: PAYER, value: '0x1' })
const countOf = async () => Number(await network.rpc.ask('eth_getTransactionCount', PAYER, 'latest'))

async function nextNonce(): Promise<number> {
  const text = 'SELECT next_nonce FROM control.chain_signers WHERE address = $1'
  return (await database.control.query<{ next_nonce: number }>({ text }, [PAYER])).rows[0]!.next_nonce
}

async function setNextNonce(nonce: number): Promise<void> {
  const text = 'UPDATE control.chain_signers SET next_nonce = $2 WHERE address = $1'
  await database.control.query({ text }, [PAYER, nonce])
}

async function problems(): Promise<readonly string[]> {
  const { chains } = (await showChains(database.operator)) as {
    chains: { problems: { problem: string }[] }[]
  }
  return chains.flatMap((chain) => chain.problems.map(({ problem }) => problem))
}

/** Pays somebody new, and checks that they were paid once. */
async function payAnother(url?: string): Promise<void> {
  people += 1
  const to = someAddress(people)
  const worker = makeWorker(database, network, url === undefined ? {} : { url })
  await worker.pay([await enqueueOne(database, to, 100)])
  await worker.close()
  expect(await network.balanceOf(to)).toBe(1_000_000n)
}

test.each([
  ['at the head', 'latest'],
  ['at every block', ''],
])('a node that counts 65535 transactions once, %s, stops no payout', async (_, at) => {
  const before = await countOf()
  const id = await enqueueOne(database, someAddress(6999), 100)
  let lies = 0
  proxy.lie({
    after: ({ method, params }, result) => {
      if (method !== 'eth_getTransactionCount' || (at !== '' && params[1] !== at)) return result
      lies += 1
      return '0xffff'
    },
  })
  const lied = makeWorker(database, network, { url: proxy.url })
  await lied.look()
  await lied.close()
  expect(lies).toBeGreaterThan(0)
  proxy.lie({})
  const worker = makeWorker(database, network)
  await worker.pay([id])
  await worker.close()
  await payAnother()
  expect([await countOf(), await nextNonce(), await problems()]).toEqual([before + 2, before + 2, []])
})

test('a transaction of somebody else’s that a reorganization takes back stops no payout', async () => {
  await sendAsOther()
  const id = await enqueueOne(database, someAddress(6998), 100)
  const worker = makeWorker(database, network)
  await worker.look()
  expect(await problems()).toEqual([
    expect.stringMatching(/payouts wait until the other transactions are confirmed/),
  ])
  await network.rpc.ask('anvil_reorg', 1, [])
  await worker.pay([id])
  await worker.close()
  expect([await nextNonce(), await problems()]).toEqual([await countOf(), []])
})

test('a transaction of somebody else’s that is certain is skipped, and one that is taken back later too', async () => {
  await sendAsOther()
  await mine(5)
  await payAnother()
  const before = await countOf()
  await sendAsOther()
  await mine(5)
  const worker = makeWorker(database, network)
  const id = await enqueueOne(database, someAddress(6997), 100)
  // It is skipped, but nothing is signed.
  await database.sandbox.query({
    text: `UPDATE chain_transfers SET recipient = 'eip155:1:${PAYER}' WHERE id = '${id}'`,
  })
  await worker.look()
  expect(await nextNonce()).toBe(before + 1)
  await network.rpc.ask('anvil_reorg', 7, [])
  await mine(5)
  await database.sandbox.query({
    text: `UPDATE chain_transfers SET recipient = 'eip155:31337:${someAddress(6997)}' WHERE id = '${id}'`,
  })
  await worker.pay([id])
  await worker.close()
  expect([await nextNonce(), await problems()]).toEqual([await countOf(), []])
})

test('a payment that somebody else made leaves a gap if its own transaction is dropped, and the next payout fills it', async () => {
  people += 1
  const to = someAddress(people)
  const id = await enqueueOne(database, to, 100)
  const worker = makeWorker(database, network)
  await network.rpc.ask('evm_setAutomine', false)
  await worker.look()
  const text = 'SELECT hash, raw FROM control.chain_transactions ORDER BY signed_at DESC LIMIT 1'
  const { rows } = await database.control.query<{ hash: string; raw: Buffer }>({ text })
  const [own] = rows
  await network.rpc.ask('anvil_dropTransaction', own!.hash)
  await network.rpc.ask('evm_setAutomine', true)
  const { data } = parseTransaction(`0x${own!.raw.toString('hex')}`)
  await network.send({ to: network.token, data })
  await worker.pay([id])
  expect(worker.heard.at(-1)?.change).not.toMatchObject({ hash: own!.hash })
  expect(await network.balanceOf(to)).toBe(1_000_000n)
  expect(await countOf()).toBe((await nextNonce()) - 1)
  await payAnother()
  await worker.look()
  await worker.close()
  expect([await nextNonce(), await problems()]).toEqual([await countOf(), []])
  const { rows: open } = await database.control.query({
    text: `SELECT nonce FROM control.chain_payments WHERE state = 'open'`,
  })
  expect(open).toEqual([])
})

test('a gap before payments that are signed is filled, each paid once', async () => {
  const before = await countOf()
  await setNextNonce(before + 3)
  const [to, other] = [someAddress(6901), someAddress(6902)]
  // As a payment of another state would, the last row keeps the nonce from going back.
  const worker = makeWorker(database, network)
  const ids = [await enqueueOne(database, to, 100)]
  await network.rpc.ask('evm_setAutomine', false)
  proxy.lie({
    after: ({ method }, result) =>
      method === 'eth_getTransactionCount' ? `0x${(before + 3).toString(16)}` : result,
  })
  const lied = makeWorker(database, network, { url: proxy.url })
  await lied.look()
  await lied.close()
  await network.rpc.ask('evm_setAutomine', true)
  ids.push(await enqueueOne(database, other, 100))
  await worker.look()
  expect(await problems()).toEqual([
    expect.stringMatching(/has no transaction with nonce \d+, nor with 2 later nonces: later payouts wait/),
  ])
  await worker.pay(ids)
  await payAnother()
  await worker.close()
  expect([await network.balanceOf(to), await network.balanceOf(other)]).toEqual([1_000_000n, 1_000_000n])
  expect([await nextNonce(), await problems()]).toEqual([await countOf(), []])
})

test('a gap that is too large to be filled is left behind, each payment made once', async () => {
  const before = await countOf()
  await setNextNonce(65_535)
  const to = someAddress(6903)
  const id = await enqueueOne(database, to, 100)
  proxy.lie({ after: ({ method }, result) => (method === 'eth_getTransactionCount' ? '0xffff' : result) })
  const lied = makeWorker(database, network, { url: proxy.url })
  await lied.look()
  await lied.close()
  const worker = makeWorker(database, network)
  await worker.pay([id])
  await worker.close()
  expect(await network.balanceOf(to)).toBe(1_000_000n)
  expect([await countOf(), await nextNonce(), await problems()]).toEqual([before + 1, before + 1, []])
  await payAnother()
})
