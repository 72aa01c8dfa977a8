/** Issues one pass for an order, even if the program stops before it has stored the answer and starts again. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })
const { TEMPLATE_ID = '' } = process.env

const order = { number: '1042', idempotencyKey: crypto.randomUUID() } // stored before the call

const issue = () =>
  client.passes.create(
    { template_id: TEMPLATE_ID, metadata: { order: order.number } },
    { idempotencyKey: order.idempotencyKey },
  )
const first = await issue()
const again = await issue().withResponse() // after the restart
const replayed = again.response.headers.get('Idempotency-Replayed')
console.log(JSON.stringify({ same: again.data.id === first.id, replayed }))
