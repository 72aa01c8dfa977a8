/** Payments on a real chain: each is made once, whatever the chain does meanwhile. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../../runtime/database/open/open-database.ts'
import { createKeySigner } from '../../../runtime/money/chain/signer.ts'
import { authorizedCall, nonceOf, UNITS_PER_CENT } from '../../../runtime/money/chain/token.ts'
import { withdrawTransfer } from '../../../runtime/money/chain/transfers.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/programs.ts'
import { LIMITS } from './limits.ts'
import { enqueueOne, KEY, makeWorker, type Network, PAYER, someAddress, startNetwork } from './network.ts'

let database: TestDatabase
let network: Network
beforeAll(async () => {
  ;[database, network] = await Promise.all([openTestDatabase(), startNetwork()])
})
afterAll(async () => {
  await network.stop()
  await database.close()
})

let people = 0
/** Another for each test. */
function somebody() {
  people += 1
  return someAddress(people)
}

const mine = (blocks: number) => network.rpc.ask('anvil_mine', `0x${blocks.toString(16)}`)
const mineByItself = (does: boolean) => network.rpc.ask('evm_setAutomine', does)

async function rowsOf<Row>(text: string, ...values: unknown[]): Promise<readonly Row[]> {
  return (await database.control.query<Row>({ text }, values)).rows
}

const paymentsOf = (id: string) =>
  rowsOf<{
    nonce: number
    state: string
    hash: string
    signature: `0x${string}`
    valid_before: number
  }>('SELECT * FROM control.chain_payments WHERE transfer_id = $1 ORDER BY nonce', id)
const hashesOf = async (id: string) =>
  (
    await rowsOf<{ hash: string }>(
      `SELECT t.hash FROM control.chain_transactions t JOIN control.chain_payments p USING (chain_id, signer, nonce)
        WHERE p.transfer_id = $1 ORDER BY t.nonce, t.attempt`,
      id,
    )
  ).map(({ hash }) => hash)

test('a chain payment is told as in transit, confirmed and paid', async () => {
  const to = somebody()
  const worker = makeWorker(database, network)
  const id = await enqueueOne(database, to, 1234)
  await worker.pay([id])
  await worker.close()
  expect(await network.balanceOf(to)).toBe(12_340_000n)
  const states = worker.heard.map(({ change }) => change.state)
  expect(states).toEqual(['in_transit', 'confirmed', 'paid'])
  expect(worker.heard.at(-1)?.change).toMatchObject({ chain: 'eip155:31337', confirmations: 3 })
})

test('a chain payment is told as in transit before it is paid, even if no worker could tell so after signing', async () => {
  const cut = makeWorker(database, network, {
    openListener: async () => ({
      signable: async () => true,
      changed: () => Promise.reject(new Error('not told')),
    }),
  })
  const to = somebody()
  const id = await enqueueOne(database, to, 100)
  // The first look signs the payment, and the second sends it.
  for (let looks = 0; looks < 2; looks += 1) await cut.look()
  await cut.close()
  await mine(LIMITS.confirmations)
  const worker = makeWorker(database, network)
  await worker.pay([id])
  await worker.close()
  expect(worker.heard.map(({ change }) => change.state)).toEqual(['in_transit', 'paid'])
  expect(await network.balanceOf(to)).toBe(1_000_000n)
})

test('a chain payment is withdrawn with its block, and is sent again as the same bytes', async () => {
  const to = somebody()
  const worker = makeWorker(database, network)
  const id = await enqueueOne(database, to, 100)
  await worker.pay([id], 'confirmed')
  await network.rpc.ask('anvil_reorg', 3, [])
  await worker.pay([id])
  await worker.close()
  expect(worker.heard.map(({ change }) => change.state)).toContain('reorged')
  expect(await network.balanceOf(to)).toBe(1_000_000n)
  expect(await hashesOf(id)).toHaveLength(1)
})

test('a chain payment that was told as paid is made again where the chain goes back further than was asked for', async () => {
  const [to, other] = [somebody(), somebody()]
  const worker = makeWorker(database, network)
  const id = await enqueueOne(database, to, 100)
  await worker.pay([id])
  await network.rpc.ask('anvil_reorg', 6, [])
  expect(await network.balanceOf(to)).toBe(0n)
  await worker.pay([await enqueueOne(database, other, 100)])
  await worker.close()
  expect([await network.balanceOf(to), await network.balanceOf(other)]).toEqual([1_000_000n, 1_000_000n])
  expect(worker.heard.filter((each) => each.id === id && each.change.state === 'paid')).toHaveLength(1)
})

test('a chain worker stops without the database, and another one pays when its lease has ended', async () => {
  let isLost = false
  const query = (async (...given: Parameters<typeof database.control.query>) => {
    if (isLost) throw new Error('the connection was lost')
    return database.control.query(...given)
  }) as typeof database.control.query
  const worker = makeWorker(database, network, { control: { ...database.control, query } })
  const id = await enqueueOne(database, somebody(), 100)
  await worker.look()
  isLost = true
  await expect(worker.close()).resolves.toBeUndefined()
  const other = makeWorker(database, network)
  await other.pay([id])
  await other.close()
})

test('a chain payment that nodes have dropped is sent again', async () => {
  const to = somebody()
  const worker = makeWorker(database, network)
  const id = await enqueueOne(database, to, 100)
  await mineByItself(false)
  await worker.look()
  const [hash] = await hashesOf(id)
  expect(await network.rpc.ask('anvil_dropTransaction', hash)).toBe(hash)
  await mineByItself(true)
  await worker.pay([id])
  await worker.close()
  expect([await hashesOf(id), await network.balanceOf(to)]).toEqual([[hash], 1_000_000n])
})

test('a chain payment that is not mined is replaced under its nonce and authorization, at a higher fee', async () => {
  const to = somebody()
  const worker = makeWorker(database, network, { limits: { replaceMs: 0 } })
  const id = await enqueueOne(database, to, 100)
  await mineByItself(false)
  for (let looks = 0; looks < 3; looks += 1) await worker.look()
  await mineByItself(true)
  await worker.pay([id])
  await worker.close()
  const hashes = await hashesOf(id)
  expect(hashes.length).toBeGreaterThan(1)
  expect(worker.heard.at(-1)?.change).toMatchObject({ state: 'paid', hash: hashes.at(-1) })
  expect([await paymentsOf(id), await network.balanceOf(to)]).toMatchObject([
    [{ state: 'settled' }],
    1_000_000n,
  ])
})

test('only one of two workers sends at a time; no nonce is left out, no payment made twice', async () => {
  const to = somebody()
  const workers = [
    makeWorker(database, network),
    makeWorker(database, network),
    makeWorker(database, network),
  ]
  const before = Number(await network.rpc.ask('eth_getTransactionCount', PAYER, 'latest'))
  const ids = await Promise.all(Array.from({ length: 20 }, (_, index) => enqueueOne(database, to, index + 1)))
  const told = () => workers.flatMap(({ heard }) => heard).filter(({ change }) => change.state === 'paid')
  while (told().length < ids.length) {
    await Promise.all(workers.map((worker) => worker.look()))
    await mine(3)
    // The lease goes round.
    await workers[told().length % 3]!.close()
  }
  for (const worker of workers) await worker.close()
  expect(new Set(told().map(({ id }) => id)).size).toBe(20)
  expect(await network.balanceOf(to)).toBe(210n * UNITS_PER_CENT)
  expect(Number(await network.rpc.ask('eth_getTransactionCount', PAYER, 'latest'))).toBe(before + 20)
})

test('a worker that wakes up after another has replaced its payments reads them again', async () => {
  const recipients = [somebody(), somebody()]
  const limits = { replaceMs: 0 }
  const other = makeWorker(database, network, { limits })
  const isSend = (method: string) => method === 'eth_sendRawTransaction'
  let asleep: (() => Promise<void>) | undefined
  const rpc: Network['rpc'] = {
    ...network.rpc,
    async ask(method, ...params) {
      const wake = isSend(method) ? asleep : undefined
      if (wake) asleep = undefined
      await wake?.()
      return network.rpc.ask(method, ...params)
    },
  }
  const worker = makeWorker(database, { ...network, rpc }, { limits, leaseMs: 1 })
  const ids = [
    await enqueueOne(database, recipients[0]!, 100),
    await enqueueOne(database, recipients[1]!, 200),
  ]
  await mineByItself(false)
  await worker.look()
  const countHashes = async () => (await Promise.all(ids.map(hashesOf))).flat().length
  // It has read both payments, and sends the first again when its lease ends.
  asleep = async () => {
    const before = await countHashes()
    await until('the other to replace both', async () => {
      await other.look()
      return (await countHashes()) >= before + ids.length
    })
    await other.close()
  }
  await worker.look()
  expect(asleep).toBeUndefined()
  expect((await Promise.all(ids.map(paymentsOf))).flat()).toMatchObject([
    { held_up_since: null },
    { held_up_since: null },
  ])
  await mineByItself(true)
  await worker.pay(ids)
  await worker.close()
  expect(await Promise.all(recipients.map(network.balanceOf))).toEqual([1_000_000n, 2_000_000n])
})

test('a chain payment that the contract refuses has failed once its authorization has run out, and not before', async () => {
  const to = somebody()
  const worker = makeWorker(database, network)
  const id = await enqueueOne(database, to, 100)
  await mineByItself(false)
  await worker.look()
  await network.rpc.ask('evm_increaseTime', 3700)
  await mineByItself(true)
  await mine(1)
  await worker.look()
  const refused = await rowsOf<{ problem: string }>(
    'SELECT problem FROM control.chain_payments WHERE transfer_id = $1',
    id,
  )
  expect(refused[0]?.problem).toMatch(/the contract rejected the transfer/)
  await worker.pay([id], 'failed')
  await worker.close()
  expect(worker.heard.at(-1)?.change).toEqual({ state: 'failed', code: 'transaction_failed' })
  expect([await network.balanceOf(to), (await paymentsOf(id))[0]?.state]).toEqual([0n, 'failed'])
})

test('a chain payment whose authorization another account has sent is paid by that', async () => {
  const to = somebody()
  const worker = makeWorker(database, network)
  const id = await enqueueOne(database, to, 100)
  await mineByItself(false)
  await worker.look()
  const [payment] = await paymentsOf(id)
  const validBefore = BigInt(payment!.valid_before)
  const authorization = { from: PAYER, to, value: 1_000_000n, validBefore, nonce: nonceOf(id) }
  const thief = await network.rpc.ask<string>('eth_sendTransaction', {
    from: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
    to: network.token,
    data: authorizedCall(authorization, payment!.signature),
    gas: '0x30000',
    maxFeePerGas: '0x174876e800',
    maxPriorityFeePerGas: '0x174876e800',
  })
  await mineByItself(true)
  await mine(1)
  await worker.pay([id])
  await worker.close()
  expect(worker.heard.at(-1)?.change).toMatchObject({ state: 'paid', hash: thief })
  expect(await network.balanceOf(to)).toBe(1_000_000n)
})

/** Anvil's second account. */
const NEXT_KEY = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'

/** What happens to the worker as it notices that the nonce is gone. */
const NOTICES: readonly (readonly [
  string,
  (look: () => Promise<unknown>, id: string) => Promise<unknown>,
])[] = [
  ['', async () => {}],
  [
    ', although the worker was stopped as it noticed',
    (look, id) =>
      database.sandbox.transaction(async (tx) => {
        await tx.query({ text: 'SELECT FROM chain_transfers WHERE id = $1 FOR UPDATE' }, [id])
        await expect(look()).rejects.toThrow('lock timeout')
      }),
  ],
  [
    ', although a worker with the next key saw it as signed meanwhile',
    async (look, id) => {
      // Statements of the first worker that wait for a lock would hold up those of the other on the same connection.
      const { url, pepper } = database
      const own = await openDatabase({
        ...{ databaseUrl: url, pepper, dataDir: '/nowhere', poolSize: 4, preparedStatements: true },
      })
      const signer = { openSigner: async () => createKeySigner(NEXT_KEY) }
      const other = makeWorker(database, network, { ...signer, control: own.control, pools: own })
      let looking: Promise<unknown> = Promise.resolve()
      await own.control.transaction(async (tx) => {
        const isDue = async () => {
          const text = 'SELECT FROM sandbox.chain_transfers WHERE id = $1 AND due IS NOT NULL'
          return (await tx.query({ text }, [id])).count === 1
        }
        await tx.query({ text: 'SELECT FROM control.chain_payments WHERE transfer_id = $1 FOR UPDATE' }, [id])
        looking = look()
        await until('the transfer to be due', isDue)
        await other.look()
        expect(await isDue()).toBe(false)
      })
      await looking
      await other.close()
      await own.close()
    },
  ],
]

test.each(NOTICES)('a chain payment whose nonce somebody else used is signed again%s', async (_, notice) => {
  const to = somebody()
  const worker = makeWorker(database, network)
  const id = await enqueueOne(database, to, 100)
  await mineByItself(false)
  await worker.look()
  const [hash] = await hashesOf(id)
  await network.rpc.ask('anvil_dropTransaction', hash)
  await network.rpc.ask('eth_sendTransaction', { from: PAYER, to: PAYER, value: '0x1' })
  await mineByItself(true)
  await mine(4)
  await notice(worker.look, id)
  await worker.pay([id])
  await worker.close()
  expect((await paymentsOf(id)).map(({ state }) => state)).toEqual(['displaced', 'settled'])
  expect(await network.balanceOf(to)).toBe(1_000_000n)
})

test('a chain payment of the key before is followed to its end by workers with the next', async () => {
  const [to, other] = [somebody(), somebody()]
  const before = makeWorker(database, network)
  const id = await enqueueOne(database, to, 100)
  await mineByItself(false)
  await before.look()
  await before.close()
  await mineByItself(true)
  const next = createKeySigner(NEXT_KEY)
  const after = makeWorker(database, network, { openSigner: async () => next })
  const second = await enqueueOne(database, other, 100)
  await after.pay([id])
  expect(after.heard.some((each) => each.id === second && each.change.state === 'paid')).toBe(false) // it has no USDC
  await withoutWaiting(second)
  await after.close()
  expect([await network.balanceOf(to), await network.balanceOf(other)]).toEqual([1_000_000n, 0n])
})

async function withoutWaiting(id: string): Promise<void> {
  await database.sandbox.transaction(async (db) => {
    expect(await withdrawTransfer(db, 'ten_test', id, Date.now())).toBe(true)
  })
}

test('a chain payment that was withdrawn in time is not made, and one that is signed cannot be withdrawn', async () => {
  const to = somebody()
  const worker = makeWorker(database, network)
  const [early, late] = [await enqueueOne(database, to, 1), await enqueueOne(database, to, 100)]
  await withoutWaiting(early)
  await worker.pay([late])
  await worker.close()
  await database.sandbox.transaction(async (db) => {
    expect(await withdrawTransfer(db, 'ten_test', late, Date.now())).toBe(false)
  })
  expect([worker.heard.filter(({ id }) => id === early), await network.balanceOf(to)]).toEqual([
    [],
    1_000_000n,
  ])
})

const REFUSALS = [
  { why: 'its owner refuses', code: 'rejected', to: somebody(), options: { signable: () => false } },
  {
    why: 'it is of another chain',
    code: 'rejected',
    to: `eip155:1:${somebody()}`,
    options: { limits: { giveUpMs: 0 } },
  },
  {
    why: 'the contract would refuse it',
    code: 'rejected',
    to: '0x0000000000000000000000000000000000000000',
    options: {},
  },
  {
    why: 'gas is too dear',
    code: 'insufficient_gas',
    to: somebody(),
    options: { limits: { giveUpMs: 0, maxFee: 1n } },
  },
]

test.each(REFUSALS)('a chain payment fails unsigned where $why: $code', async ({ code, to, options }) => {
  const worker = makeWorker(database, network, options)
  const id = await enqueueOne(database, to, 100)
  await worker.pay([id], 'failed')
  await worker.close()
  expect(worker.heard.at(-1)).toEqual({ id, change: { state: 'failed', code } })
  expect(await paymentsOf(id)).toEqual([])
})

test('a chain payment waits unsigned while the node is away, can be withdrawn, and is paid when it is back', async () => {
  const to = somebody()
  const away = makeWorker(database, network, { limits: { giveUpMs: 0 }, url: 'http://127.0.0.1:1' })
  const [id, other] = [await enqueueOne(database, to, 100), await enqueueOne(database, to, 100)]
  for (let looks = 0; looks < 3; looks += 1) await away.look()
  await away.close()
  expect([away.heard, await paymentsOf(id)]).toEqual([[], []])
  const held = await rowsOf('SELECT state, problem FROM sandbox.chain_transfers WHERE id = $1', id)
  expect(held).toEqual([{ state: 'queued', problem: 'network_error: 127.0.0.1:1 cannot be reached' }])
  await withoutWaiting(other)
  // After so long, another cause is waited for anew.
  const worker = makeWorker(database, network, { limits: { maxFee: 1n, giveUpMs: 60_000 } })
  await worker.look()
  await worker.close()
  expect(worker.heard).toEqual([])
  const back = makeWorker(database, network)
  await back.pay([id])
  await back.close()
  expect(await network.balanceOf(to)).toBe(1_000_000n)
})

test('a chain payment fails unsigned where there is no gas for too long, and not earlier', async () => {
  const balance = await network.rpc.ask('eth_getBalance', PAYER, 'latest')
  await network.rpc.ask('anvil_setBalance', PAYER, '0x1')
  const id = await enqueueOne(database, somebody(), 100)
  const patient = makeWorker(database, network)
  await patient.look()
  await patient.close()
  const worker = makeWorker(database, network, { limits: { giveUpMs: 0 } })
  await worker.pay([id], 'failed')
  await worker.close()
  await network.rpc.ask('anvil_setBalance', PAYER, balance)
  expect(worker.heard).toEqual([{ id, change: { state: 'failed', code: 'insufficient_gas' } }])
  expect(patient.heard).toEqual([])
})

test('a chain worker signs with a key that no error shows', () => {
  for (const key of [KEY.slice(0, 40), `${KEY}00`, 'ff'.repeat(32)])
    expect(() => createKeySigner(key)).toThrow(
      /^The payout key is not a private key: expected 64 hexadecimal digits\.$/,
    )
})
