/**
 * The cases that a generated client must pass against a running service. An adapter for each generator calls `checkCases`
 * with the functions of its client. The file is compiled with the client, so it imports nothing but Node.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { verify } from './verify.js'

/** A response, from any client. */
export interface Answer<T> {
  readonly status: number
  readonly headers: Headers
  /** Undefined unless the status is 2xx. */
  readonly data: T | undefined
  /** Undefined if the status is 2xx. */
  readonly error: { readonly code: string; readonly message: string; readonly request_id: string } | undefined
}

export interface Pass {
  readonly id: string
  readonly object: 'pass'
  readonly status: 'issued' | 'installed' | 'active' | 'redeemed' | 'revoked' | 'expired'
  readonly holder: { readonly name: string | null }
}

interface PassPage {
  readonly data: readonly Pass[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

interface PassQuery {
  readonly template_id: string
  readonly limit: number
  readonly starting_after?: string
}

export interface GeneratedClient {
  createPassTemplate(name: string, idempotencyKey: string): Promise<Answer<{ readonly id: string }>>
  createPass(templateId: string, holderName: string, idempotencyKey: string): Promise<Answer<Pass>>
  getPass(passId: string): Promise<Answer<Pass>>
  listPasses(query: PassQuery): Promise<Answer<PassPage>>
  createWebhookEndpoint(url: string, idempotencyKey: string): Promise<Answer<{ readonly secret?: string }>>
  /** Parses a delivery. @returns the pass of a `pass.created` event, and undefined for other events. */
  createdPass(body: string): Pass | undefined
}

/** Names of the signature header, which depend on the version. */
const SIGNATURES = ['service-signature', 'x-service-signature']

/** Registers the cases with the test runner of Node. */
export function checkCases(client: GeneratedClient): void {
  const makeTemplate = async () => dataOf(await client.createPassTemplate('Loyalty', randomUUID())).id
  const issue = async (template: string, holder = 'Ada Moreau') =>
    dataOf(await client.createPass(template, holder, randomUUID()))

  test('issues a pass', async () => {
    const pass = await issue(await makeTemplate())
    assert.deepEqual([pass.object, pass.status, pass.holder.name], ['pass', 'issued', 'Ada Moreau'])
    assert.deepEqual(dataOf(await client.getPass(pass.id)), pass)
  })

  test('lists passes, page by page', async () => {
    const template_id = await makeTemplate()
    const issued = [await issue(template_id), await issue(template_id), await issue(template_id)]
    const first = dataOf(await client.listPasses({ template_id, limit: 2 }))
    assert.deepEqual([first.data.length, first.has_more], [2, true])
    const starting_after = first.next_cursor ?? assert.fail('next_cursor is null')
    const second = dataOf(await client.listPasses({ template_id, limit: 2, starting_after }))
    const ids = [...first.data, ...second.data].map(({ id }) => id)
    assert.deepEqual([ids, second.has_more], [issued.map(({ id }) => id).reverse(), false])
  })

  test('reads the code and the request ID of an error', async () => {
    const { status, headers, data, error } = await client.getPass(`pass_${'0'.repeat(26)}`)
    assert.deepEqual([status, error?.code, data], [404, 'not_found', undefined])
    assert.match(error?.request_id ?? '', /^req_/)
    assert.equal(error?.request_id, headers.get('Request-Id'))
  })

  test('repeats a request with the same idempotency key', async () => {
    const template = await makeTemplate()
    const key = randomUUID()
    const [first, again] = [
      await client.createPass(template, 'Ada Moreau', key),
      await client.createPass(template, 'Ada Moreau', key),
    ]
    assert.deepEqual(dataOf(again), dataOf(first))
    assert.equal(again.headers.get('Idempotency-Replayed'), 'true')
    const reused = await client.createPass(template, 'Grace Hopper', key)
    assert.deepEqual([reused.status, reused.error?.code], [422, 'idempotency_key_reused'])
    assert.equal(dataOf(await client.listPasses({ template_id: template, limit: 10 })).data.length, 1)
  })

  test('verifies and reads a webhook', async () => {
    const receiver = await startReceiver()
    try {
      const endpoint = dataOf(await client.createWebhookEndpoint(receiver.url, randomUUID()))
      const pass = await issue(await makeTemplate())
      const { headers, body } = await receiver.delivery
      const signature = SIGNATURES.map((name) => headers[name]).find((each) => typeof each === 'string') ?? ''
      assert.equal(verify(body, String(signature), endpoint.secret ?? ''), true)
      assert.equal(verify(`${body} `, String(signature), endpoint.secret ?? ''), false)
      assert.deepEqual(client.createdPass(body), pass)
    } finally {
      receiver.stop()
    }
  })
}

function dataOf<T>({ status, data, error }: Answer<T>): T {
  return data ?? assert.fail(`${status} ${error?.code}: ${error?.message}`)
}

async function startReceiver() {
  const delivered = Promise.withResolvers<{ headers: IncomingHttpHeaders; body: string }>()
  const server = createServer((request, response) => {
    text(request).then((body) => {
      response.writeHead(204).end()
      delivered.resolve({ headers: request.headers, body })
    }, delivered.reject)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    delivery: delivered.promise,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
