/** The sandbox's own chain: started with the first payout, ended with its process, its state kept whatever is killed. */
import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChains } from '../../../runtime/money/chain/open-chains.ts'
import { TEST_USDC } from '../../../runtime/money/chain/own-chain.ts'
import { createRpc } from '../../../runtime/money/chain/rpc.ts'
import { openTestChain } from '../../../runtime/money/chain/test-chain.ts'
import { balanceCall } from '../../../runtime/money/chain/token.ts'
import { showChains } from '../../../runtime/operator/chain.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/programs.ts'
import { enqueueOne, PAYER, someAddress } from './network.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

const SETTINGS = { confirmations: 12, maxFee: 10n ** 12n }
const log = pino({ level: 'silent' })

async function startPayouts() {
  const chains = await openChains(SETTINGS, database.control, log)
  const paid: string[] = []
  const job = chains.start({
    control: database.control,
    pools: database,
    clock: database.clock,
    openListener: async () => ({
      signable: async () => true,
      changed: async (_db, id, change) => {
        if (change.state === 'paid') paid.push(id)
      },
    }),
    log,
  })
  const pay = async (to: string) => {
    const id = await enqueueOne(database, to, 100)
    await until('the payment', () => paid.includes(id))
  }
  return { ...chains, pay, stop: job.stop }
}

const chainNow = async () =>
  (await showChains(database.operator)).chains[0] as
    | { rpc_url: string | null; signers: { paid: number }[] }
    | undefined

/** Kills the program as a machine does that runs out of memory. */
function killAnvil(): void {
  const childrenOf = (pid: number | string) =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  const all = childrenOf(process.pid).flatMap(childrenOf)
  const found = all.filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]!.endsWith('/anvil'),
  )
  expect(found).toHaveLength(1)
  process.kill(Number(found[0]), 'SIGKILL')
}

async function balanceOf(url: string, address: `0x${string}`): Promise<bigint> {
  return BigInt(
    await createRpc(url).ask<string>('eth_call', { to: TEST_USDC, data: balanceCall(address) }, 'latest'),
  )
}

test('pays as soon as there is something to pay, and is there again after a stop', async () => {
  const to = someAddress(1)
  const first = await startPayouts()
  expect(first.of.live).toBeUndefined()
  expect(first.of.sandbox).toMatchObject({ name: 'eip155:31337', token: TEST_USDC, isOwn: true })
  expect(await chainNow()).toBeUndefined()
  await first.pay(to)
  const { rpc_url: url } = (await chainNow())!
  expect(await balanceOf(url!, to)).toBe(1_000_000n)
  await first.stop()
  await expect(balanceOf(url!, to)).rejects.toThrow(/cannot be reached/)
  expect((await chainNow())!.rpc_url).toBeNull()
  const second = await startPayouts()
  await second.pay(to)
  expect(await balanceOf((await chainNow())!.rpc_url!, to)).toBe(2_000_000n)
  await second.stop()
})

test('a payment that was told as paid is there after its program was killed, and payments continue', async () => {
  const to = someAddress(2)
  const payouts = await startPayouts()
  await payouts.pay(to)
  const { rpc_url: before } = (await chainNow())!
  // Nobody saves what is sent past the worker: it is lost, as is whatever was not told as paid.
  await createRpc(before!).ask('anvil_setBalance', someAddress(9), '0x1')
  await createRpc(before!).ask('anvil_mine', '0x20')
  killAnvil()
  await payouts.pay(to)
  expect(await balanceOf((await chainNow())!.rpc_url!, to)).toBe(2_000_000n)
  // Listeners are told within the transaction that writes it.
  await until('the payment to be written', async () => (await chainNow())!.signers[0]!.paid === 4)
  await payouts.stop()
})

test('the test chain is one chain, whichever of several workers runs it', async () => {
  const to = someAddress(3)
  const nodes = [await startPayouts(), await startPayouts()]
  const ids = await Promise.all(Array.from({ length: 5 }, () => enqueueOne(database, to, 100)))
  const text = `SELECT count(*)::integer AS count FROM chain_transfers WHERE state = 'paid' AND id = ANY ($1)`
  await until('all to be paid', async () => {
    return (await database.sandbox.query<{ count: number }>({ text }, [ids])).rows[0]!.count === ids.length
  })
  await nodes[0]!.stop()
  const later = await enqueueOne(database, to, 100)
  await until('another', async () => {
    return (await database.sandbox.query<{ count: number }>({ text }, [[later]])).rows[0]!.count === 1
  })
  expect(await balanceOf((await chainNow())!.rpc_url!, to)).toBe(6_000_000n)
  await nodes[1]!.stop()
})

test('old blocks of the test chain are dropped, and its payments continue', async () => {
  const to = someAddress(5)
  const payouts = await startPayouts()
  await payouts.pay(to)
  const { rpc_url: before } = (await chainNow())!
  const rpc = createRpc(before!)
  const genesis = await rpc.ask('eth_getBlockByNumber', '0x0', false)
  await rpc.ask('anvil_mine', '0x200')
  await payouts.pay(to)
  await payouts.pay(to)
  const { rpc_url: after } = (await chainNow())!
  expect(after).not.toBe(before)
  expect(await balanceOf(after!, to)).toBe(3_000_000n)
  const reopened = createRpc(after!)
  expect(await reopened.ask('eth_getBlockByNumber', '0x0', false)).toEqual(genesis)
  const last = Number(await reopened.ask('eth_blockNumber'))
  expect(last).toBeGreaterThan(0x200)
  const numbers = [last - 100, 1].map((number) => `0x${number.toString(16)}`)
  const found = await Promise.all(numbers.map((each) => reopened.ask('eth_getBlockByNumber', each, false)))
  expect(found).toEqual([expect.objectContaining({ number: numbers[0] }), null])
  const read = `SELECT octet_length(state) AS bytes FROM control.chains`
  const [{ bytes }] = (await database.control.query<{ bytes: number }>({ text: read })).rows as [
    { bytes: number },
  ]
  expect(bytes).toBeLessThan(200_000)
  await payouts.stop()
})

test('blocks since the last save are kept when the test chain is opened again', async () => {
  const chain = await openTestChain(database.control, PAYER)
  await chain.mine(600)
  expect(await chain.isCurrent()).toBe(true)
  await chain.save()
  const address = someAddress(6)
  await createRpc(chain.url).ask('anvil_setBalance', address, '0x1')
  expect(await chain.isCurrent()).toBe(false)
  await chain.stop()
  const next = await openTestChain(database.control, PAYER)
  expect(await createRpc(next.url).ask('eth_getBalance', address, 'latest')).toBe('0x1')
  await next.save()
  expect(await next.isCurrent()).toBe(true)
  await next.stop()
})

test('a worker that was overtaken keeps nothing: the other’s chain is the one', async () => {
  const one = await openTestChain(database.control, PAYER)
  const other = await openTestChain(database.control, PAYER)
  expect([await one.isCurrent(), await other.isCurrent()]).toEqual([false, true])
  await expect(one.save()).rejects.toThrow('another worker has saved the test chain')
  await other.save()
  await Promise.all([one.stop(), other.stop()])
})
