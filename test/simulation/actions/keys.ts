/** What a merchant does with idempotency keys. */
import { fail, mustEqual } from '../checks/must.ts'
import type { Merchant } from '../merchant.ts'
import type { Actions, Drawn } from './action.ts'
import { passMade } from './passes.ts'

/** Repeats a request with its key: the same answer. Another body is refused, and another environment is independent. */
async function reuseKey(merchant: Merchant, { amount }: Drawn): Promise<void> {
  const { live, sandbox, known, payouts } = merchant
  const key = crypto.randomUUID()
  const order = { amount, currency: 'usd', destination_id: known.bank, metadata: { order: '7' } }
  const first = await live.post('/v1/payouts', order, key)
  if (first.status === 201) payouts.set(first.body.id, amount)
  const { destination_id, metadata, currency } = order
  const again = await live.post('/v1/payouts', { metadata, destination_id, currency, amount }, key)
  if (first.status === 201) {
    mustEqual([again.status, again.body], [first.status, first.body], 'the answer to a repeated request')
    if (again.headers['idempotency-replayed'] !== 'true') fail('a repeated request is not marked as such')
  }
  if (again.status < 500 && first.status !== 201)
    mustEqual(again.body.error.code, first.body.error.code, 'a repeated refusal')
  const others = [
    await live.post('/v1/payouts', { ...order, amount: amount + 1 }, key),
    await live.post('/v1/passes', { template_id: known.template }, key),
  ]
  for (const { status, body } of others)
    mustEqual(
      [status, body.error?.code, body.error?.param],
      [422, 'idempotency_key_reused', 'Idempotency-Key'],
      'the answer to a key of another request',
    )
  const funds = await sandbox.post('/v1/test/funding', { amount: 1 }, key)
  mustEqual(funds.status, 200, 'the answer to a key of another environment')
  merchant.funded += 1
  merchant.keys.push({ at: Date.now(), key, order, status: first.status, body: first.body })
}

/** Answers are stored for 24 hours. A repetition can take up to an hour until it arrives. */
const STORED_MS = 23 * 3_600_000

/** Repeats old requests whose answers are stored. */
async function repeatOld(merchant: Merchant): Promise<void> {
  for (const { at, key, order, status, body } of merchant.keys.splice(0)) {
    if (status !== 201 || at < Date.now() - STORED_MS) continue
    const again = await merchant.live.post('/v1/payouts', order, key)
    mustEqual([again.status, again.body], [status, body], 'the answer to a request of earlier in the day')
  }
}

/** Sends a request twice at the same time: one effect, and one answer. */
async function double(merchant: Merchant): Promise<void> {
  const { live, known } = merchant
  const key = crypto.randomUUID()
  const send = () => live.post('/v1/passes', { template_id: known.template }, key)
  const [one, other] = await Promise.all([send(), send()])
  mustEqual(one.body, other.body, 'the answer to a request that was sent twice')
  passMade(merchant, one)
}

/** The same key as before the first day is free again: the request takes effect, which the balance shows. */
async function useOldKey(merchant: Merchant): Promise<void> {
  const key = merchant.oldKey
  merchant.oldKey = crypto.randomUUID()
  const { status } = await merchant.sandbox.post('/v1/test/funding', { amount: 3 }, key)
  mustEqual(status, 200, 'the answer to a key that was used two days ago')
  merchant.funded += 3
}

export const KEY_ACTIONS: Actions = {
  reuse_key: { times: 1, act: reuseKey },
  double: { times: 1, act: double },
  old_key: { times: 1, act: useOldKey },
  repeat_old: { times: 1, act: repeatOld },
}
