/** A trace leads from a request over its statements and its event to the webhook attempt, and reveals no values. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWorker } from '../../runtime/events/delivery/worker.ts'
import { createLog } from '../../runtime/platform/log.ts'
import { createSeals } from '../../runtime/platform/secrets.ts'
import { createOtlpTracer } from '../../runtime/tracing/otlp.ts'
import type { Tracer } from '../../runtime/tracing/span.ts'
import { makeTemplate } from '../api/fixtures.ts'
import { createTestNetwork } from '../cards/network/open-network.ts'
import { openReceiver, type Receiver } from '../events/delivery/receiver.ts'
import { type OtlpReceiver, openOtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts'
import { until } from '../support/programs.ts'
import {
  makeKey,
  makeTenant,
  type Send,
  speak,
  startTestService,
  type TestService,
} from '../support/service.ts'

const CALLER = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' }
const SECRET_TEXT = 'Wren Halloway'

let collector: OtlpReceiver
let endpoint: Receiver
let tracer: Tracer
let service: TestService
let secret: string
let send: Send
let written = ''

beforeAll(async () => {
  collector = await openOtlpReceiver()
  endpoint = await openReceiver()
  tracer = openTracer(1)
  const keep = (line: string) => {
    written += line
  }
  service = await startTestService({
    watched: true,
    logsRequests: true,
    tracer,
    env: { SVC_WEBHOOK_ALLOW: '127.0.0.0/8', SVC_REQUEST_LOG: 'all' },
    log: createLog({ logLevel: 'info' }, { write: keep }),
  })
  secret = (await makeKey(service, await makeTenant(service), { scope: 'admin' })).secret
  send = speak(service.urls.sandbox, { secret })
})
afterAll(async () => {
  await service.stop()
  endpoint.close()
  collector.close()
})

function openTracer(ratio: number, callersPerSecond = 0): Tracer {
  const settings = {
    endpoint: collector.url,
    headers: 'x-key=a%20b',
    ratio,
    callersPerSecond,
    serviceName: 'test',
  }
  const refuse = (error: unknown) => {
    throw error
  }
  return createOtlpTracer(settings, { failed: refuse, resumed: () => {} })
}

const traceOf = (headers: Headers) => headers.get('Trace-Id')!

test('a trace leads from a request to its webhook', async () => {
  const registered = await send('/v1/webhook-endpoints', {
    body: { url: `${endpoint.url}/hook`, enabled_events: ['pass.created'] },
  })
  expect(registered.status).toBe(201)
  await send(`/v1/${secret}?key=${secret}`)
  await send(`/v1/passes/${secret}`)
  await send(`/v1/passes?${secret}=1`)
  await send('/v1/passes', { headers: { 'Service-Version': secret } })
  const templateId = await makeTemplate(send)
  const began = Date.now()
  const issued = await send('/v1/passes', {
    body: { template_id: templateId, metadata: { customer: SECRET_TEXT } },
    headers: {
      traceparent: `00-${CALLER.trace}-${CALLER.span}-01`,
      tracestate: 'congo=t61rcWkgMzE',
    },
  })
  expect([issued.status, traceOf(issued.headers)]).toEqual([201, CALLER.trace])
  await service.flush()

  const { database, clock, outbound } = service
  const worker = createWorker({
    environment: 'sandbox',
    pool: database.sandbox,
    control: database.control,
    clock,
    tracer,
    outbound: outbound.sandbox,
    seals: createSeals(database.pepper),
    log: createLog({ logLevel: 'warn' }),
    readPin: async () => null,
    pollMs: 10,
  })
  const [delivered] = await until(
    'the webhook',
    () => endpoint.on('/hook').length > 0 && endpoint.on('/hook'),
  )
  await worker.stop()
  await fetch(`${service.urls.sandbox}/p/${secret}`)
  const network = createTestNetwork(service, outbound, tracer)
  const echo = { message_id: 'msg_1', sent_at: new Date().toISOString() }
  await network.exchange('sandbox', 'echo', echo, performance.now() + 60_000)
  await tracer.stop()

  const spans = collector.spans.filter(({ traceId }) => traceId === CALLER.trace)
  const named = (name: string) => spans.filter((span) => span.name === name)
  const [request, ...others] = named('POST /v1/passes')
  expect(others).toEqual([])
  expect(request).toMatchObject({
    parentSpanId: CALLER.span,
    traceState: 'congo=t61rcWkgMzE',
    kind: 'server',
    isError: false,
    resource: { 'service.name': 'test' },
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/v1/passes',
      'http.response.status_code': 201,
      'svc.environment': 'sandbox',
      'svc.operation': 'createPass',
      'svc.request_id': issued.headers.get('Request-Id'),
    },
  })

  const statements = spans.filter(
    ({ parentSpanId, kind }) => parentSpanId === request!.spanId && kind === 'client',
  )
  const statementNames = statements.map(({ name }) => name)
  expect(
    statementNames.filter((name) => ['BEGIN', 'outcome_with_event', 'COMMIT', 'flush'].includes(name)),
  ).toEqual(['BEGIN', 'outcome_with_event', 'COMMIT', 'flush'])
  for (const span of [request!, ...statements]) {
    expect(span.start).toBeGreaterThanOrEqual(Math.max(began, request!.start) - 1)
    expect(span.end).toBeLessThanOrEqual(request!.end + 1)
    expect(span.end).toBeGreaterThanOrEqual(span.start)
  }

  const [delivery] = named('deliver pass.created')
  expect(delivery).toMatchObject({
    parentSpanId: request!.spanId,
    kind: 'consumer',
    attributes: { 'svc.event_id': delivered!.headers['service-event-id'], 'svc.delivery_attempt': 1 },
  })
  expect(delivery!.start).toBeGreaterThanOrEqual(request!.start)
  const [post] = spans.filter(({ parentSpanId }) => parentSpanId === delivery!.spanId)
  expect(post).toMatchObject({
    name: 'POST',
    kind: 'client',
    attributes: { 'server.address': '127.0.0.1', 'http.response.status_code': 204 },
  })
  expect(delivered!.headers).toMatchObject({
    traceparent: `00-${CALLER.trace}-${post!.spanId}-01`,
    tracestate: 'congo=t61rcWkgMzE',
  })
  expect(collector.headers[0]).toMatchObject({ 'x-key': 'a b' })
  expect(withoutParent(collector.spans)).toEqual([])
  for (const name of ['GET /p/', 'card message echo']) {
    const [entry] = collector.spans.filter((span) => span.name === name)
    expect(entry).toMatchObject({ kind: 'server', isError: false, parentSpanId: '' })
    expect(collector.spans.some(({ parentSpanId }) => parentSpanId === entry!.spanId)).toBe(
      name !== 'GET /p/',
    )
  }

  const line = written.split('\n').find((each) => each.includes(issued.headers.get('Request-Id')!))
  expect(JSON.parse(line!)).toMatchObject({
    msg: 'request answered',
    trace_id: CALLER.trace,
    span_id: request!.spanId,
  })
  const { rows } = await database.control.query(
    { text: 'SELECT trace_id FROM sandbox.request_log WHERE id = $1' },
    [issued.headers.get('Request-Id')],
  )
  expect(rows).toEqual([{ trace_id: CALLER.trace }])
})

/** Spans whose parent was not received, except the first spans of traces. */
function withoutParent(spans: readonly ReceivedSpan[]): readonly string[] {
  const ids = new Set(['', CALLER.span, ...spans.map(({ spanId }) => spanId)])
  return spans.filter(({ parentSpanId }) => !ids.has(parentSpanId)).map(({ name }) => name)
}

test('spans contain no keys, queries, bodies or values of statements', () => {
  expect(collector.spans.map(({ name }) => name)).toContain('GET /v1/passes/{pass_id}')
  expect(collector.text()).not.toContain(secret.slice(21))
  expect(collector.text()).not.toContain(SECRET_TEXT)
})

test.each([
  ['no version', `${CALLER.trace}-${CALLER.span}-01`],
  ['a zero trace ID', `00-${'0'.repeat(32)}-${CALLER.span}-01`],
  ['a zero parent ID', `00-${CALLER.trace}-${'0'.repeat(16)}-01`],
  ['version ff', `ff-${CALLER.trace}-${CALLER.span}-01`],
  ['capital letters', `00-${CALLER.trace.toUpperCase()}-${CALLER.span}-01`],
  ['more parts in version 00', `00-${CALLER.trace}-${CALLER.span}-01-x`],
  ['two values', `00-${CALLER.trace}-${CALLER.span}-01, 00-${CALLER.trace}-${CALLER.span}-01`],
])('a traceparent with %s is ignored', (_, traceparent) => {
  expect(openTracer(0).receive({ traceparent }, { name: 'GET' })).toBeUndefined()
  const { traceId } = openTracer(1).receive({ traceparent }, { name: 'GET' })!
  expect(traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(traceId).not.toBe(CALLER.trace)
})

test('callers force only a limited number of traces', () => {
  const limited = openTracer(0, 2)
  const receive = (flags: string) =>
    limited.receive({ traceparent: `00-${CALLER.trace}-${CALLER.span}-${flags}` }, { name: 'GET' })!
  const flagged = Array.from({ length: 100 }, () => receive('01'))
  const sampled = flagged.filter(({ isSampled }) => isSampled).length
  // Twice the limit if a second has just ended.
  expect([2, 4]).toContain(sampled)
  expect(flagged.every(({ traceId }) => traceId === CALLER.trace)).toBe(true)
  expect(flagged.at(-1)!.traceparent).toMatch(/-00$/)
  expect(receive('00').isSampled).toBe(false)
})
