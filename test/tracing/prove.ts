/**
 * `npm run prove:trace`: follows the traces of requests to one process through the work of a second process: webhook, Google
 * Wallet, push to Apple, payouts in dollars and USDC. An OTLP receiver checks the protobuf. Prints the traces, and fails if a
 * span is missing or has the wrong parent.
 */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import type { Environment } from '../../runtime/platform/environment.ts'
import { readSettings } from '../../runtime/platform/settings.ts'
import { BENCH_PEPPER, startDatabase } from '../bench/bench-database.ts'
import { withScratch } from '../bench/scratch.ts'
import { openReceiver } from '../events/delivery/receiver.ts'
import { openOtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts'
import { makePayable } from '../support/payable.ts'
import { startService, until } from '../support/programs.ts'

/** Traces of this program: each request has its own, and this is the parent of its span. */
const CALLER = 'b7ad6b7169203331'

/** Exports happen every five seconds. */
const PATIENCE_MS = 120_000

const ACCOUNT = {
  holder_name: 'Harbour Coffee LLC',
  account_number: '000123456789',
  routing_number: '110000000',
  country: 'US',
}

await withScratch(async ({ directory, atEnd, own }) => {
  const collector = await openOtlpReceiver()
  atEnd(collector.close)
  const endpoint = await openReceiver()
  atEnd(endpoint.close)
  const env = {
    DATABASE_URL: await startDatabase({ directory, atEnd, own }),
    SVC_PEPPER: BENCH_PEPPER,
    DATA_DIR: directory,
    SVC_WEBHOOK_ALLOW: '127.0.0.0/8',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '0',
  }
  const start = (name: string, ...words: readonly string[]) => {
    const program = startService({ ...env, OTEL_SERVICE_NAME: name }, ['--json', ...words])
    own(program.child)
    return program.ready()
  }
  const ready = await start('api', '--role', 'api', '--role', 'console', '--demo')
  await start('worker', '--role', 'worker')
  const database = await openDatabase(readSettings(env))
  atEnd(() => database.close())
  const { tenant_id: space } = ready as Record<string, string>
  const keys = ready.keys as Record<string, string>

  /** Sends a request in a new trace. Returns the body and the trace ID. */
  const send = async (method: string, path: string, body: object, environment: Environment = 'sandbox') => {
    const traceId = randomBytes(16).toString('hex')
    const response = await fetch(`${ready[`${environment}_base_url`]}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${keys[`${environment}_secret`]}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
        traceparent: `00-${traceId}-${CALLER}-01`,
      },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    assert.ok(response.ok, `${path}: ${response.status} ${text}`)
    assert.equal(response.headers.get('Trace-Id'), traceId)
    return { traceId, body: JSON.parse(text) as Record<string, unknown> & { readonly id: string } }
  }

  /** Waits for the spans, checks them, and prints the trace. Returns the spans in the order of their starts. */
  const follow = async (traceId: string, ...names: readonly string[]) => {
    const found = await until(
      `the spans ${names.join(', ')}`,
      () => {
        const spans = collector.spans.filter((span) => span.traceId === traceId)
        return names.every((name) => spans.some((span) => span.name === name)) && spans
      },
      PATIENCE_MS,
    )
    const spans = found.toSorted((a, b) => a.start - b.start)
    const ids = new Set(spans.map(({ spanId }) => spanId))
    const [root, ...others] = spans.filter(({ parentSpanId }) => !ids.has(parentSpanId))
    assert.deepEqual([root!.parentSpanId, root!.resource['service.name'], others], [CALLER, 'api', []])
    for (const name of names.slice(1))
      for (const span of spans.filter((each) => each.name === name)) {
        assert.equal(span.resource['service.name'], 'worker', name)
        assert.ok(span.start >= root!.start && span.end >= span.start, name)
      }
    print(root!, spans, root!.start)
    return spans
  }

  await send('POST', '/v1/webhook-endpoints', { url: `${endpoint.url}/hook`, enabled_events: ['*'] })
  const template = await send('POST', '/v1/pass_templates', {
    name: 'Coffee club',
    kind: 'loyalty',
    brand: { background_color: '#112233', foreground_color: '#ffffff' },
    fields: [{ key: 'points', label: 'Points', value: '0' }],
  })
  const issued = await send('POST', '/v1/passes', { template_id: template.body.id })
  const spans = await follow(
    issued.traceId,
    'POST /v1/passes',
    'deliver pass.created',
    'update Google Wallet',
  )
  const delivery = spans.find(({ name }) => name === 'deliver pass.created')!
  const post = spans.find(({ parentSpanId, name }) => parentSpanId === delivery.spanId && name === 'POST')!
  const headers = endpoint.got.map((each) => each.headers.traceparent)
  assert.ok(headers.includes(`00-${issued.traceId}-${post.spanId}-01`), 'the webhook carries traceparent')

  // A device has the pass, as after a registration.
  const passId = issued.body.id
  const { sandbox } = database
  const ask = (text: string, values: readonly unknown[]) => sandbox.query({ text }, values)
  await ask('INSERT INTO wallet_heads (tenant_id, changed) VALUES ($1, 1)', [space])
  await ask(
    `INSERT INTO apple_registrations (tenant_id, device_id, pass_id, template_id, push_token, changed, registered_at)
     VALUES ($1, 'device', $2, $3, $4, 1, now())`,
    [space, passId, template.body.id, randomBytes(32).toString('hex')],
  )
  await ask(`UPDATE passes SET platforms = '{apple}' WHERE tenant_id = $1 AND id = $2`, [space, passId])
  const changed = await send('PATCH', `/v1/passes/${passId}`, { fields: { points: '5' } })
  await follow(changed.traceId, 'PATCH /v1/passes/{pass_id}', 'push to Apple', 'deliver pass.updated')

  const pay = async (environment: Environment, currency: string, destination: object) => {
    const { body } = await send('POST', '/v1/payout_destinations', destination, environment)
    await makePayable(database, environment, space!, body.id, 500)
    const order = { amount: 500, currency, destination_id: body.id }
    return (await send('POST', '/v1/payouts', order, environment)).traceId
  }
  const { holder_name } = ACCOUNT
  const address = 'eip155:31337:0x52908400098527886E0F7030069857D2E4169EE7'
  const inUsdc = await pay('sandbox', 'usdc', { type: 'usdc_address', address, holder_name })
  await follow(inUsdc, 'POST /v1/payouts', 'pay out USDC: sign', 'pay out USDC: paid', 'deliver payout.paid')
  const token = await send('POST', '/v1/tokens', { type: 'bank_account', bank_account: ACCOUNT }, 'live')
  const inDollars = await pay('live', 'usd', { type: 'bank_account', token_id: token.body.id, holder_name })
  await follow(inDollars, 'POST /v1/payouts', 'pay out dollars', 'bank_transfers_update')
  console.log(`${collector.spans.length} spans received`)
})

/** Prints a span and its descendants, with milliseconds since the start of the trace. */
function print(span: ReceivedSpan, spans: readonly ReceivedSpan[], origin: number, depth = 0): void {
  const [start, length] = [span.start - origin, span.end - span.start].map((ms) => ms.toFixed(1).padStart(8))
  const name = `${'  '.repeat(depth)}${span.name}`
  console.log(`${start} +${length} ms  ${String(span.resource['service.name']).padEnd(7)} ${name}`)
  for (const child of spans) if (child.parentSpanId === span.spanId) print(child, spans, origin, depth + 1)
}
