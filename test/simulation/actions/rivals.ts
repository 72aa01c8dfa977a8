/** Requests of a merchant that arrive at once and exclude each other: only one of them can succeed. */
import { accountOf, addressOf } from '../chain/node.ts'
import { fail, mustEqual } from '../checks/must.ts'
import type { Merchant } from '../merchant.ts'
import { type Actions, type Drawn, must } from './action.ts'

/** Orders two payouts of more than half of what is payable, and then cancels one twice. */
async function payTwice(merchant: Merchant): Promise<void> {
  const { live, known, payouts, changes, isExact } = merchant
  const { payable } = must(await live.send('GET', '/v1/balance'), 200, 'the balance')
  const amount = Math.ceil(payable * 0.6)
  if (amount === 0) return
  const order = { amount, currency: 'usd', destination_id: known.bank }
  const answers = await Promise.all([live.post('/v1/payouts', order), live.post('/v1/payouts', order)])
  const made = answers.filter(({ status }) => status === 201)
  for (const { body } of made) {
    payouts.set(body.id, amount)
    changes.push({ environment: 'live', type: 'payout.created', body })
  }
  for (const { status, body } of answers)
    if (status !== 201)
      mustEqual(body.error.code, 'insufficient_balance', 'the refusal of one of two payouts')
  // In a storm, the first may have failed before the second arrives.
  if (isExact && made.length !== 1)
    fail(`${made.length} of two payouts of ${amount} of ${payable} were accepted`)
  for (const { body } of made) {
    const cancel = () => live.post(`/v1/payouts/${body.id}/cancel`, {})
    const ends = await Promise.all([cancel(), cancel()])
    const canceled = ends.filter(({ status }) => status === 200)
    if (canceled.length > 1) fail(`payout ${body.id} was canceled ${canceled.length} times`)
    for (const each of canceled)
      changes.push({ environment: 'live', type: 'payout.canceled', body: each.body })
  }
}

/** Disables a destination while it is changed. Afterwards, it is disabled. */
async function disableChanged(merchant: Merchant, { amount, pick }: Drawn): Promise<void> {
  const { name, sandbox, addresses, destinations } = merchant
  const owner = `${name} rival ${amount} ${pick}`
  addresses.add(addressOf(owner))
  const given = { type: 'usdc_address', address: accountOf(owner), holder_name: 'Harbour Coffee LLC' }
  const body = must(
    await sandbox.post('/v1/payout_destinations', { ...given, default: false }),
    201,
    'a destination',
  )
  destinations.set(body.id, { environment: 'sandbox', body })
  const place = `/v1/payout_destinations/${body.id}`
  const [disabled] = await Promise.all([
    sandbox.post(`${place}/disable`, {}),
    sandbox.send('PATCH', place, { metadata: { desk: 'one' } }),
    sandbox.send('PATCH', place, { metadata: { room: 'two' } }),
  ])
  must(disabled, 200, 'a destination that was disabled')
  const after = must(await sandbox.send('GET', place), 200, 'a destination')
  mustEqual(
    [after.status, after.metadata],
    ['disabled', { desk: 'one', room: 'two' }],
    'a destination that was disabled while it was changed',
  )
}

export const RIVAL_ACTIONS: Actions = {
  pay_twice: { times: 1, act: payTwice },
  disable_changed: { times: 1, isCalm: true, act: disableChanged },
}
