/** Tests a webhook receiver with a signed delivery, a forged one and an old one. */
import { createClient, WebhookError } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })
const secret = 'whsec_test'

async function receive(request: Request): Promise<string> {
  try {
    const event = await client.webhooks.unwrap(await request.text(), request.headers, secret)
    return event.type === 'pass.created' ? `welcome ${event.data.pass.holder.name}` : 'ignored'
  } catch (error) {
    if (error instanceof WebhookError) return error.code
    throw error
  }
}

const body = JSON.stringify({ type: 'pass.created', data: { pass: { holder: { name: 'Ada' } } } })
const deliver = (headers: Record<string, string>) =>
  receive(new Request('http://localhost/webhooks', { method: 'POST', body, headers }))

const signed = await deliver(await client.webhooks.sign(body, secret))
const forged = await deliver(await client.webhooks.sign(body, 'whsec_other'))
const hourAgo = () => Date.now() - 3_600_000
const old = await deliver(await client.webhooks.sign(body, secret, { now: hourAgo }))
console.log(JSON.stringify({ signed, forged, old }))
