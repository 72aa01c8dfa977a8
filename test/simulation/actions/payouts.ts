/** What a merchant does with payouts: bank transfers in live, and USDC in the sandbox. */
import { fail, mustEqual } from '../checks/must.ts'
import type { Merchant } from '../merchant.ts'
import { type Actions, type Drawn, must, one } from './action.ts'

/** Creates a bank payout. Some are larger than what is payable. */
async function pay(merchant: Merchant, { amount, pick }: Drawn): Promise<void> {
  const { live, known, payouts, changes } = merchant
  const order = {
    amount: pick % 9 === 0 ? amount * 1000 : amount,
    currency: 'usd',
    destination_id: known.bank,
  }
  const payable = await payableOf(merchant, 'live')
  const { status, body } = await live.post('/v1/payouts', { ...order, metadata: { order: `${pick}` } })
  if (merchant.isExact)
    mustEqual(status === 201, order.amount <= payable, `a payout of ${order.amount} of ${payable}`)
  if (status !== 201) {
    const words = `The payable balance is only ${Math.max(0, payable)} cents. Request at most that amount.`
    mustEqual(body.error.code, 'insufficient_balance', 'the refusal of a payout')
    if (merchant.isExact) mustEqual(body.error.message, words, 'the refusal of a payout')
    return
  }
  if (merchant.isExact) {
    isOrdered(body, { ...order, metadata: { order: `${pick}` } })
    mustEqual(await payableOf(merchant, 'live'), payable - order.amount, 'what is payable after a payout')
  }
  payouts.set(body.id, order.amount)
  changes.push({ environment: 'live', type: 'payout.created', body })
  if (merchant.isExact && pick % 3 === 0) await payEverything(merchant)
}

/** Orders a payout of all that is payable, and cancels it. */
async function payEverything({ live, known, payouts, changes }: Merchant): Promise<void> {
  const { payable: amount } = must(await live.send('GET', '/v1/balance'), 200, 'the balance')
  if (amount === 0) return
  const order = { amount, currency: 'usd', destination_id: known.bank }
  const made = must(await live.post('/v1/payouts', order), 201, 'a payout of everything')
  payouts.set(made.id, amount)
  changes.push({ environment: 'live', type: 'payout.created', body: made })
  const body = must(await live.post(`/v1/payouts/${made.id}/cancel`, {}), 200, 'its cancellation')
  changes.push({ environment: 'live', type: 'payout.canceled', body })
}

async function cancel(merchant: Merchant, { pick }: Drawn): Promise<void> {
  const { live, payouts, changes } = merchant
  const payout = one([...payouts.keys()], pick)
  if (!payout) return
  const before = must(await live.send('GET', `/v1/payouts/${payout}`), 200, 'a payout')
  const { status, body } = await live.post(`/v1/payouts/${payout}/cancel`, {})
  if (merchant.isExact) canceled(status, body, before)
  if (status === 200) changes.push({ environment: 'live', type: 'payout.canceled', body })
  else mustEqual(body.error.code, 'invalid_state', 'the refusal to cancel a payout')
}

async function payUsdc(merchant: Merchant, { amount, pick }: Drawn): Promise<void> {
  const { sandbox, known, transfers } = merchant
  const order = { amount, currency: 'usdc', destination_id: known.usdc }
  const payable = await payableOf(merchant, 'sandbox')
  const { status, body } = await sandbox.post('/v1/payouts', order)
  if (status === 201) transfers.set(body.id, amount)
  if (!merchant.isExact) return
  mustEqual(status === 201, amount <= payable, `a payout of ${amount} of ${payable}`)
  if (status !== 201) return
  isOrdered(body, { ...order, metadata: {} })
  if (pick % 2 === 0) await watchConfirmations(merchant, body.id)
}

/** How often a merchant looks at a payout that is in transit, and how many times at most. */
const LOOK = { ms: 8000, times: 20 }

/** Looks at a payout: its confirmations change before it is paid. */
async function watchConfirmations({ sandbox, wait }: Merchant, id: string): Promise<void> {
  const seen = new Set<number>()
  for (let left = LOOK.times; left > 0; left -= 1) {
    const { status, chain } = must(await sandbox.send('GET', `/v1/payouts/${id}`), 200, 'a payout')
    if (status === 'paid') fail(`a payout had only the confirmations ${[...seen]} before it was paid`)
    if (chain?.confirmations > 0) seen.add(chain.confirmations)
    if (seen.size === 2) return
    await wait(LOOK.ms)
  }
}

/** Orders payouts to wallets that nobody can be paid at any more. They fail. */
async function payStray(merchant: Merchant, { amount }: Drawn): Promise<void> {
  const { sandbox, known, transfers, rejected, isExact } = merchant
  for (const id of [known.moved, known.misspelt]) {
    const { status, body } = await sandbox.post('/v1/payouts', {
      amount,
      currency: 'usdc',
      destination_id: id,
    })
    if (status === 201) {
      transfers.set(body.id, amount)
      if (isExact) rejected.add(body.id)
    } else if (body.error.code !== 'insufficient_balance')
      mustEqual(body.error.code, 'invalid_state', 'the refusal of a payout to a wallet that was disabled')
  }
}

const payableOf = async (merchant: Merchant, environment: 'live' | 'sandbox'): Promise<number> =>
  must(await merchant[environment].send('GET', '/v1/balance'), 200, 'the balance').payable

/** Fails unless a new payout is the one that was ordered. */
function isOrdered(body: Readonly<Record<string, unknown>>, order: object): void {
  const { id: _, arrival_date: __, created, updated, ...shown } = body
  const wanted = { object: 'payout', status: 'pending', settlement_id: null, failure_code: null, chain: null }
  mustEqual(shown, { ...wanted, ...order }, 'a new payout')
  if (created !== updated || Math.abs(Date.parse(`${created}`) - Date.now()) > 60_000)
    mustEqual([created, updated], [new Date().toISOString()], 'when a payout was created')
}

/** Fails unless exactly a pending payout was canceled. A transfer that is being signed cannot be canceled either. */
function canceled(
  status: number,
  body: { readonly status?: string; readonly error?: { readonly message: string } },
  before: { readonly status: string },
): void {
  const isOpen = before.status === 'pending'
  mustEqual(status, isOpen ? 200 : 409, `the cancellation of a payout that is ${before.status}`)
  if (isOpen) mustEqual(body.status, 'canceled', 'a payout that was canceled')
  else {
    const words = `Only pending payouts can be canceled. The status of this payout is ${before.status}.`
    mustEqual(body.error?.message, words, 'why a payout cannot be canceled')
  }
}

async function cancelUsdc(merchant: Merchant, { pick }: Drawn): Promise<void> {
  const { sandbox, transfers } = merchant
  const transfer = one([...transfers.keys()], pick)
  if (!transfer) return
  const before = must(await sandbox.send('GET', `/v1/payouts/${transfer}`), 200, 'a payout')
  const { status, body } = await sandbox.post(`/v1/payouts/${transfer}/cancel`, {})
  if (merchant.isExact) canceled(status, body, before)
}

export const PAYOUT_ACTIONS: Actions = {
  bank_payout: { times: 4, act: pay },
  cancel_payout: { times: 1, act: cancel },
  usdc_payout: { times: 6, act: payUsdc },
  stray_payout: { times: 1, isCalm: true, act: payStray },
  cancel_usdc_payout: { times: 1, act: cancelUsdc },
}
