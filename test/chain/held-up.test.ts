/** Rows that cannot be read, signed or sent wait apart, with a reason; every other payout is paid. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checked, createKeySigner } from '../../runtime/chain/signer.ts'
import { mintCall, UNITS_PER_CENT } from '../../runtime/chain/token.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { enqueueOne, KEY, makeWorker, type Network, PAYER, someAddress, startNetwork } from './network.ts'

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
    await rowsOf<{ state: string; problem: string | null; held_up_since: number | null }>(
      'SELECT state, problem, held_up_since FROM control.chain_payments WHERE transfer_id = $1',
      id,
    )
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
