/** What a merchant does with payouts: bank transfers in live, and USDC in the sandbox. */
import { mustEqual } from '../checks/evidence.ts'
import type { Merchant } from '../merchant.ts'
import { type Actions, type Drawn, one } from './action.ts'

/** Creates a bank payout. Some are larger than what is payable. */
async function pay(merchant: Merchant, { amount, pick }: Drawn): Promise<void> {
  const { live, known, payouts, changes } = merchant
  const order = {
    amount: pick % 9 === 0 ? amount * 1000 : amount,
    currency: 'usd',
    destination_id: known.bank,
  }
  const { status, body } = await live.post('/v1/payouts', order)
  if (status !== 201) return mustEqual(body.error.code, 'insufficient_balance', 'the refusal of a payout')
  payouts.set(body.id, order.amount)
  changes.push({ environment: 'live', type: 'payout.created', body })
}

async function cancel({ live, payouts, changes }: Merchant, { pick }: Drawn): Promise<void> {
  const payout = one([...payouts.keys()], pick)
  if (!payout) return
  const { status, body } = await live.post(`/v1/payouts/${payout}/cancel`, {})
  if (status === 200) changes.push({ environment: 'live', type: 'payout.canceled', body })
  else mustEqual(body.error.code, 'invalid_state', 'the refusal to cancel a payout')
}

async function payUsdc({ sandbox, known, transfers }: Merchant, { amount }: Drawn): Promise<void> {
  const order = { amount, currency: 'usdc', destination_id: known.usdc }
  const { status, body } = await sandbox.post('/v1/payouts', order)
  if (status === 201) transfers.set(body.id, amount)
}

async function cancelUsdc({ sandbox, transfers }: Merchant, { pick }: Drawn): Promise<void> {
  const transfer = one([...transfers.keys()], pick)
  if (transfer) await sandbox.post(`/v1/payouts/${transfer}/cancel`, {})
}

export const PAYOUT_ACTIONS: Actions = {
  bank_payout: { times: 4, act: pay },
  cancel_payout: { times: 1, act: cancel },
  usdc_payout: { times: 4, act: payUsdc },
  cancel_usdc_payout: { times: 1, act: cancelUsdc },
}
