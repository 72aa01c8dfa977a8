/** The guard finds what is wrong: a service that answers as told, and what is said of it. */
import { createServer, type Server } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { createContractGuard, type Disagreement } from '../../support/contract-guard.ts'

const TEMPLATE = `tpl_${'0'.repeat(26)}`
const KEY = '0197905f-2f6c-7d3e-8a41-5b6c7d8e9fa0'

const found: Disagreement[] = []
const failures: unknown[] = []
const guard = createContractGuard(
  (disagreement) => found.push(disagreement),
  (error) => failures.push(error),
)

let server: Server | undefined
afterEach(() => {
  server?.close()
})

interface Exchange {
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly version?: string
  readonly status: number
  readonly answer: unknown
}

/** Asks a listener that answers as it is told to, and gives what the guard has against either. */
async function watched(given: Exchange): Promise<Pick<Disagreement, 'what' | 'violation'>[]> {
  const { status, answer, version = '2026-05-19', method = 'GET' } = given
  const listener = guard.watch((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(status, ['Service-Version', version, 'Content-Type', 'application/json'])
      response.end(JSON.stringify(answer))
    })
  })
  server = createServer(listener)
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const headers = {
    ...(given.body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...given.headers,
  }
  const body = given.body === undefined ? {} : { body: JSON.stringify(given.body) }
  const response = await fetch(`http://127.0.0.1:${port}${given.path}`, { method, headers, ...body })
  await response.text()
  await guard.settled()
  expect(failures).toEqual([])
  return found.splice(0).map(({ what, violation }) => ({ what, violation }))
}

const refusal = (type: string, code: string) => ({
  error: {
    type,
    code,
    message: 'No.',
    request_id: `req_${'0'.repeat(26)}`,
    doc_url: 'http://127.0.0.1:4000/docs/errors#x',
  },
})

const LIST = { data: [], has_more: false, next_cursor: null }

const POST = { method: 'POST', path: '/v1/passes/count', headers: { 'Idempotency-Key': KEY } }

test.each<readonly [string, Exchange]>([
  ['a good list', { path: '/v1/passes?limit=5&created[gte]=2026-01-01', status: 200, answer: LIST }],
  [
    'brackets in another spelling',
    { path: '/v1/passes?created%5Bgte%5D=2026-01-01T00%3A00%3A00Z', status: 200, answer: LIST },
  ],
  [
    'a bad parameter, refused',
    { path: '/v1/passes?limit=0', status: 400, answer: refusal('invalid_parameter', 'out_of_range') },
  ],
  ['a path that is nowhere', { path: '/v1/nothing', status: 404, answer: refusal('not_found', 'not_found') }],
  [
    'a method that is not there',
    { ...POST, status: 405, answer: refusal('method_not_allowed', 'method_not_allowed') },
  ],
  [
    'an operation that is not built',
    { path: '/v1/cards', status: 501, answer: refusal('api_error', 'not_implemented') },
  ],
  [
    'a failure in the words of the document',
    { path: '/v1/passes', status: 500, answer: refusal('api_error', 'internal_error') },
  ],
  [
    'a batch whose items are answered one by one',
    {
      method: 'POST',
      path: '/v1/passes/batch_revoke',
      headers: { 'Idempotency-Key': KEY },
      body: { ids: ['nonsense'] },
      status: 409,
      answer: refusal('conflict', 'invalid_state'),
    },
  ],
])('the guard reports nothing for %s', async (_, given) => {
  expect(await watched(given)).toEqual([])
})

test.each<readonly [string, Exchange, Disagreement['what'], RegExp]>([
  [
    'a bad parameter, taken',
    { path: '/v1/passes?limit=0', status: 200, answer: LIST },
    'accepted against the document',
    /limit/,
  ],
  [
    'an unknown parameter, taken',
    { path: '/v1/passes?page=2', status: 200, answer: LIST },
    'accepted against the document',
    /page/,
  ],
  [
    'a body that does not fit, taken as far as its work',
    {
      method: 'POST',
      path: '/v1/passes',
      headers: { 'Idempotency-Key': KEY },
      body: { template_id: 1 },
      status: 409,
      answer: refusal('conflict', 'invalid_state'),
    },
    'accepted against the document',
    /template_id/,
  ],
  [
    'a missing Idempotency-Key, taken',
    {
      method: 'POST',
      path: '/v1/passes',
      body: { template_id: TEMPLATE },
      status: 409,
      answer: refusal('conflict', 'invalid_state'),
    },
    'accepted against the document',
    /idempotency-key/,
  ],
  [
    'a known parameter, refused as unknown',
    { path: '/v1/passes?limit=5', status: 400, answer: refusal('invalid_parameter', 'unknown_parameter') },
    'refused against the document',
    /^$/,
  ],
  [
    'a failure that lacks something',
    { path: '/v1/passes', status: 500, answer: { error: { type: 'api_error', code: 'internal_error' } } },
    'answer',
    /message/,
  ],
  [
    'an answer that lacks something',
    { path: '/v1/passes', status: 200, answer: { data: [] } },
    'answer',
    /has_more/,
  ],
  [
    'an answer of another type',
    { path: '/v1/passes/count', status: 200, answer: { object: 'count', count: '1' } },
    'answer',
    /count/,
  ],
  [
    'an error of another form',
    { path: '/v1/passes?limit=0', status: 400, answer: { message: 'No.' } },
    'answer',
    /error/,
  ],
  [
    'a status that the document does not have',
    { path: '/v1/passes', status: 202, answer: LIST },
    'answer',
    /202/,
  ],
  [
    'a refusal with a status that the document does not have',
    { path: '/v1/passes', status: 418, answer: refusal('invalid_request', 'invalid_state') },
    'answer',
    /418/,
  ],
  [
    'what another version has, in this one',
    { path: '/v1/cards', version: '2025-06-01', status: 200, answer: LIST },
    'accepted against the document',
    /not found/,
  ],
])('the guard reports %s', async (_, given, what, violation) => {
  expect(await watched(given)).toEqual([{ what, violation: expect.stringMatching(violation) }])
})
