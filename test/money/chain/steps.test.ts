/** What each step of a USDC transfer writes, and what it tells the payout. */
import { expect, test } from 'vitest'
import { confirmed, failed, inTransit, paid, reorged } from '../../../runtime/money/chain/report.ts'
import type { TransferRow } from '../../../runtime/money/chain/transfer-queries.ts'

const CHAIN = 'eip155:1'

const ROW: TransferRow = {
  ...{
    tenant_id: 'ten_1',
    id: 'po_1',
    recipient: 'eip155:1:0x1',
    amount: 1,
    state: 'in_transit',
    hash: '0xold',
  },
  ...{ confirmations: 2, failure_code: null, due: null, held_up_since: null, problem: null },
  ...{ updated: 0, trace: null },
}

// After a death of the process, the payment can have a later transaction than the transfer.
test.each([
  ['signed again', inTransit(CHAIN, '0xnew')],
  ['confirmed', confirmed(CHAIN, '0xnew', 1)],
  ['paid', paid(CHAIN, '0xnew', 3)],
  ['removed with its block', reorged(CHAIN, '0xnew')],
])('a transfer that is %s has the transaction that its payout is told of', (_, decide) => {
  const { row, told } = decide(ROW)!
  expect(told).toMatchObject({ chain: CHAIN, hash: '0xnew' })
  expect(row.hash).toBe('0xnew')
})

// If a process ends after it has stored a signed payment, the chain can be the first to tell of it.
test.each([
  ['paid', paid(CHAIN, '0xnew', 3)],
  ['failed', failed('transaction_failed', { chain: CHAIN, hash: '0xnew' })],
])('a signed transfer is told as in transit before it is %s', (state, decide) => {
  const first = decide({ ...ROW, state: 'signing', hash: null, due: 0 })!
  expect(first).toMatchObject({ row: { state: 'in_transit', hash: '0xnew', due: null } })
  expect(first.told).toEqual({ state: 'in_transit', chain: CHAIN, hash: '0xnew' })
  expect(decide(first.row)).toMatchObject({ row: { state }, told: { state } })
})
