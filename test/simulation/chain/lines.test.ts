/** The checks of payouts that wait, and of workers without work: each finds what is wrong. */
import { expect, test } from 'vitest'
import type { Evidence } from '../checks/evidence.ts'
import { turnsAreUseful } from '../checks/turns.ts'
import type { Blocks } from './blocks.ts'
import { holdsOf } from './decisions.ts'
import { nothingIsSentWhileHeld, payoutLinesAreRight } from './lines.ts'
import { PAYER } from './node.ts'
import { isGivenUp } from './shortages.ts'

const DAY_MS = 86_400_000
const [[FROM, UNTIL]] = holdsOf(0) as [readonly [number, number]]

const EVIDENCE = {
  ...{ started: 0, now: DAY_MS, faults: 0, payments: [], logs: [], merchants: [] },
  blocks: { sent: [], mined: [], displaced: [], numberAt: () => 10 },
} as unknown as Evidence

test('the checks find a payment while payouts wait', () => {
  const sentAt = (at: number) => () =>
    nothingIsSentWhileHeld({
      ...EVIDENCE,
      blocks: { ...EVIDENCE.blocks, sent: [{ hash: '0x1', nonce: 0, at }] },
    })
  expect(sentAt(UNTIL + 1)).not.toThrow()
  expect(sentAt(FROM + 120_000)).toThrow('while payouts wait')
})

test.each([
  ['A payout is held up: The lease of account 0x1 on chain 1 is lost: another worker holds it.', false],
  ['Payouts could not be sent; they are retried.', false],
  ['USDC payouts wait: node.invalid did not respond within 10000 ms', true],
  ['A payout is held up: the token is paused', true],
])('in a storm, the log says: %s (%s)', async (text, isUsual) => {
  const check = payoutLinesAreRight({ ...EVIDENCE, faults: 1, logs: [{ level: 50, text, at: 0 }] })
  if (isUsual) await expect(check).resolves.toBeUndefined()
  else await expect(check).rejects.toThrow('the log says')
})

test('the checks find a nonce that others used and the log does not tell of', async () => {
  const blocks = { ...EVIDENCE.blocks, displaced: [3] }
  await expect(payoutLinesAreRight({ ...EVIDENCE, blocks })).rejects.toThrow('a nonce that others used')
})

test('the checks find a contradiction that the log tells twice, and one that it does not tell', async () => {
  const text =
    'A payout is held up: the receipt shows the payment, but the contract reports its authorization as unused'
  const told = (...payouts: readonly string[]) =>
    payouts.map((payout) => ({ level: 50, text, payout, at: 0 }))
  const disputed = { hash: '0x1', from: PAYER, nonce: 7, block: 1, isPaid: true }
  const denied = { ...disputed, nonce: 4 }
  const check = (logs: Evidence['logs'], ...mined: readonly object[]) =>
    payoutLinesAreRight({ ...EVIDENCE, logs, blocks: { ...EVIDENCE.blocks, mined } as unknown as Blocks })
  await expect(check(told('po_1', 'po_2'), disputed, disputed)).resolves.toBeUndefined()
  await expect(check(told('po_1', 'po_1'), disputed, disputed)).rejects.toThrow('twice of payout po_1')
  await expect(check([], denied)).rejects.toThrow('a receipt that a log of the contract contradicts')
})

test('the checks find turns without work, and turns that failed', async () => {
  const check = (turns: object) =>
    turnsAreUseful({
      ...EVIDENCE,
      turns: {
        settlements: {
          sandbox: {
            turns: { done: 1, more: 0, idle: 0, failed: 0, ...turns },
            running: 0,
            waiting: 0,
            failing: false,
          },
        },
      },
    })
  await expect(check({})).resolves.toBeUndefined()
  await expect(check({ idle: 1 })).rejects.toThrow('had nothing to do')
  await expect(check({ failed: 1 })).rejects.toThrow('failed')
})

test('a payout fails after ten minutes of a long shortage', () => {
  const at = (time: string) => Date.parse(`2026-06-03T${time}Z`)
  expect(isGivenUp(at('12:00:00'), at('12:41:00'))).toBe(true)
  expect(isGivenUp(at('12:00:00'), at('12:39:00'))).toBe(false)
  expect(isGivenUp(at('12:35:00'), at('12:41:00'))).toBe(false)
  expect(isGivenUp(at('12:00:00'), at('15:01:00'))).toBe(false)
})
