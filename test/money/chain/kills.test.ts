/** Processes that are killed at every step of a payment: what recipients have is what was paid, each payment once. */
import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { UNITS_PER_CENT } from '../../../runtime/money/chain/token.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { endPrograms, type Program, startProgram, until } from '../../support/programs.ts'
import { enqueueOne, IS_USED, type Network, someAddress, startNetwork } from './network.ts'
import { type Lie, type NodeProxy, type Question, startProxy } from './proxy.ts'

/** Rounds, each of which kills a process; `npm run prove:payouts` takes more. */
const ROUNDS = Number(process.env.PAYOUT_ROUNDS ?? 6)

let database: TestDatabase
let network: Network
let proxies: readonly NodeProxy[]
beforeAll(async () => {
  ;[database, network] = await Promise.all([openTestDatabase(), startNetwork()])
  proxies = await Promise.all([startProxy(network.anvil.url), startProxy(network.anvil.url)])
})
afterAll(async () => {
  await endPrograms()
  for (const proxy of proxies) proxy.close()
  await network.stop()
  await database.close()
})

const startPayer = (proxy: NodeProxy): Program =>
  startProgram(process.execPath, ['test/money/chain/payer.ts'], {
    TEST_DATABASE: database.url,
    TEST_PEPPER: database.pepper,
    TEST_RPC: proxy.url,
    TEST_TOKEN: network.token,
  })

/** A node before which the one who asks is killed. */
const killedBefore =
  (isStep: (question: Question) => boolean) =>
  (kill: () => void): Lie => ({
    before: (question) => {
      if (!isStep(question)) return undefined
      kill()
      return 'hang'
    },
  })

/** At which question the one who asks is killed, before or after the node has heard it. */
const STEPS: readonly (readonly [string, (kill: () => void) => Lie])[] = [
  ['before signing', killedBefore(({ method }) => method === 'eth_estimateGas')],
  ['after storing, before it is sent', killedBefore(({ method }) => method === 'eth_sendRawTransaction')],
  [
    'after it is sent',
    (kill) => ({
      after: ({ method }, result) => {
        if (method === 'eth_sendRawTransaction') kill()
        return result
      },
    }),
  ],
  ['before it is confirmed', killedBefore(({ method }) => method === 'eth_getTransactionReceipt')],
  ['before it is told as paid', killedBefore(({ params }) => JSON.stringify(params).includes(IS_USED))],
]

const countPaid = async () => {
  const text = `SELECT count(*)::integer AS count, coalesce(sum(amount), 0)::integer AS cents FROM chain_transfers WHERE state = 'paid'`
  return (await database.sandbox.query<{ count: number; cents: number }>({ text })).rows[0]!
}

/** Waits, and mines meanwhile. */
const mineUntil = (what: string, condition: () => boolean | Promise<boolean>, timeoutMs = 60_000) =>
  until(
    what,
    async () => {
      await network.rpc.ask('evm_mine')
      return condition()
    },
    timeoutMs,
  )

test(`each payment arrives once over ${ROUNDS} rounds of kills`, {
  timeout: 30_000 + ROUNDS * 20_000,
}, async () => {
  const to = someAddress(7)
  let [transfers, cents, killed] = [0, 0, 0]
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let some = randomInt(1, 4); some > 0; some -= 1) {
      const amount = randomInt(1, 1000)
      await enqueueOne(database, to, amount)
      transfers += 1
      cents += amount
    }
    const [, step] = STEPS[round % STEPS.length]!
    // In every third round another works next to it.
    const [victim, other] = round % 3 === 2 ? proxies.map(startPayer) : [startPayer(proxies[0]!)]
    proxies[0]!.lie(step(() => void victim!.child.kill('SIGKILL')))
    let ended = false
    victim!.child.once('close', () => {
      ended = true
      killed += 1
    })
    await mineUntil('a kill, or the end', async () => ended || (await countPaid()).count === transfers)
    await Promise.all([victim!.end('SIGKILL'), other?.end('SIGKILL')])
    proxies[0]!.lie({})
    expect(await network.balanceOf(to)).toBeLessThanOrEqual(BigInt(cents) * UNITS_PER_CENT)
  }
  const last = startPayer(proxies[1]!)
  // Most rounds leave more than they have paid.
  const patienceMs = 60_000 + ROUNDS * 2000
  await mineUntil('all to be paid', async () => (await countPaid()).count === transfers, patienceMs)
  await last.end('SIGKILL')
  expect(await countPaid()).toEqual({ count: transfers, cents })
  expect(await network.balanceOf(to)).toBe(BigInt(cents) * UNITS_PER_CENT)
  const text = `SELECT count(*)::integer AS count, count(DISTINCT transfer_id)::integer AS transfers FROM control.chain_payments`
  expect((await database.control.query({ text })).rows).toEqual([{ count: transfers, transfers }])
  console.log(`${ROUNDS} rounds: ${transfers} payments, ${cents} cents, ${killed} processes ended`)
})
