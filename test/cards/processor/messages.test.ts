/** Messages of a card processor: who may send them, and what is refused. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  addCertificate,
  createSigningKey,
  nameProcessor,
  retireCertificate,
  retireSigningKey,
  showProcessor,
} from '../../../runtime/cards/processor/processors.ts'
import { verifyAudit } from '../../../runtime/tenants/admin/audit.ts'
import { until } from '../../support/programs.ts'
import { makeCertificate } from './certificates.ts'
import {
  approving,
  authorization,
  type NetworkCall,
  type Processor,
  startDoor,
  type TestDoor,
} from './door.ts'

let door: TestDoor
let processor: Processor

beforeAll(async () => {
  door = await startDoor()
  processor = door.processor
})
afterAll(() => door.stop())
afterEach(() => {
  door.aheadMs = 0
  door.network = approving
  door.calls.length = 0
  door.lines.length = 0
})

test('an authorization reaches the network with its environment, and the answer is signed', async () => {
  const message = authorization()
  const { status, body, text, signature } = await processor.send('/v1/authorizations', message)
  expect({ status, body }).toEqual({
    status: 200,
    body: { message_id: message.message_id, decision: 'approved', amount: 1250, approval_code: 'A1B2C3' },
  })
  expect(signature).toBe(processor.sign(text, Number(/^t=(\d+),/.exec(signature ?? '')?.[1])))
  const [call] = door.calls
  expect(call).toMatchObject({ environment: 'live', kind: 'authorize', message })
  expect(call?.leftMs).toBeLessThanOrEqual(1800)
  expect(call?.leftMs).toBeGreaterThan(1500)
})

test('a repeated request reaches the network again as the same message', async () => {
  const message = authorization()
  const signature = processor.sign(JSON.stringify(message))
  for (const _ of [1, 2]) await processor.send('/v1/authorizations', message, { signature })
  expect(door.calls.map((call) => call.message)).toEqual([message, message])
})

interface Refusal {
  readonly name: string
  readonly status: number
  readonly code: string
  readonly call?: () => NetworkCall
  readonly message?: () => object
  readonly path?: string
  readonly details?: readonly object[]
  /** Machine time of the listener, in seconds from now. */
  readonly ahead?: number
}

const refusals: readonly Refusal[] = [
  { name: 'no signature', status: 401, code: 'invalid_signature', call: () => ({ signature: null }) },
  {
    name: 'a signature without digest',
    status: 401,
    code: 'invalid_signature',
    call: () => ({ signature: 't=1' }),
  },
  {
    name: 'a signature of a different body',
    status: 401,
    code: 'invalid_signature',
    call: () => ({ signature: processor.sign('{}') }),
  },
  {
    name: 'a timestamp that is too old',
    status: 401,
    code: 'invalid_signature',
    call: () => ({ lateS: -302 }),
  },
  {
    name: 'a timestamp that is too early',
    status: 401,
    code: 'invalid_signature',
    call: () => ({ lateS: 302 }),
  },
  { name: 'an expired certificate', status: 401, code: 'unknown_certificate', ahead: 31 * 86_400 },
  { name: 'text that is not JSON', status: 400, code: 'invalid_message', call: () => ({ raw: '{"a":' }) },
  {
    name: 'bytes that are not UTF-8',
    status: 400,
    code: 'invalid_message',
    call: () => ({ raw: Buffer.of(0xff) }),
  },
  {
    name: 'a member twice',
    status: 400,
    code: 'invalid_message',
    call: () => ({ raw: JSON.stringify(authorization()).replace('"amount"', '"amount":1,"amount"') }),
  },
  {
    name: 'an amount as a fraction',
    status: 400,
    code: 'invalid_message',
    call: () => ({ raw: JSON.stringify(authorization()).replace('1250', '1250.0') }),
    details: [{ field: 'amount', issue: expect.stringContaining('integer') }],
  },
  {
    name: 'an amount beyond the bound',
    status: 400,
    code: 'invalid_message',
    message: () => authorization({ amount: 1_000_000_000_000_001 }),
    details: [{ field: 'amount', issue: expect.any(String) }],
  },
  {
    name: 'a card number as the name of a member',
    status: 400,
    code: 'invalid_message',
    message: () => authorization({ '4000001234567899': 1 }),
    details: [{ field: '…', issue: expect.any(String) }],
  },
  {
    name: 'a body of a different kind',
    status: 400,
    code: 'invalid_message',
    path: '/v1/reversals',
    details: expect.arrayContaining([{ field: 'currency', issue: expect.any(String) }]),
  },
  {
    name: 'a body of 65 KiB',
    status: 413,
    code: 'message_too_large',
    call: () => ({ raw: 'x'.repeat(65 * 1024) }),
  },
  { name: 'a form', status: 400, code: 'invalid_message', call: () => ({ type: 'text/plain' }) },
  { name: 'an unknown path', status: 404, code: 'not_found', path: '/v1/payments' },
  { name: 'a different method', status: 404, code: 'not_found', call: () => ({ method: 'PUT' }) },
]

test.each(refusals)('$name is refused', async ({ status, code, path, ahead = 0, details, ...given }) => {
  door.aheadMs = ahead * 1000
  const message = given.message?.() ?? authorization()
  const answer = await processor.send(path ?? '/v1/authorizations', message, given.call?.())
  expect([answer.status, answer.body.error.code, answer.body.error.details]).toEqual([status, code, details])
  expect(door.calls).toEqual([])
  expect([...door.lines, answer.text].join()).not.toMatch(/4000001234567899/)
})

test('health checks need no certificate, and messages do', async () => {
  const stranger = processor.with(undefined)
  const statuses = ['/livez', '/readyz'].map((path) => stranger.send(path, {}, { method: 'GET' }))
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 200])
  const { status, body, signature } = await stranger.send('/v1/authorizations', authorization())
  expect([status, body.error.code, signature]).toEqual([401, 'unknown_certificate', undefined])
  stranger.close()
})

describe('certificates and keys', () => {
  test('a certificate identifies its environment: the key of the other environment is refused', async () => {
    const { operator } = door.database
    const ours = makeCertificate(door.directory, 'sandbox')
    await nameProcessor(operator, 'sandbox', 'Test Processor')
    await addCertificate(operator, 'sandbox', ours.cert)
    const { secret } = await createSigningKey(operator, 'sandbox')
    const right = processor.with(ours, [secret])
    await until('the certificate', async () => (await right.send('/v1/echo', echo())).status === 200)
    expect(door.calls.at(-1)?.environment).toBe('sandbox')
    const wrong = processor.with(ours)
    const { status, body, signature } = await wrong.send('/v1/authorizations', authorization())
    expect([status, body.error.code, signature]).toEqual([401, 'invalid_signature', undefined])
    for (const each of [right, wrong]) each.close()
  })

  test('an operator is told why a certificate cannot be added', async () => {
    const { operator } = door.database
    const added = (environment: 'sandbox' | 'live', pem: string) => addCertificate(operator, environment, pem)
    const ours = makeCertificate(door.directory, 'nameless', '/')
    expect(await added('sandbox', ours.cert)).toMatchObject({ environment: 'sandbox', subject: '' })
    await expect(added('live', ours.cert)).rejects.toThrow(/is pinned already: an environment needs its own/)
    await expect(added('live', ours.key)).rejects.toThrow(/not a certificate .*expected a PEM block/)
    const later = { ...operator.clock, machine: () => Date.now() + 31 * 86_400_000 }
    await expect(addCertificate({ ...operator, clock: later }, 'live', ours.cert)).rejects.toThrow(
      /expired on .*: issue a new one/,
    )
    await expect(retireCertificate(operator, 'ncrt_unknown')).rejects.toThrow(
      'there is no active certificate ncrt_unknown',
    )
  })

  test('certificates and keys rotate under load without a failed request', async () => {
    const { operator, control } = door.database
    const damaged = `INSERT INTO control.network_keys (id, environment, sealed, hint, created)
                     VALUES ('nkey_damaged', 'live', '\\x01', '', now())`
    await control.query({ text: damaged }) // must not keep the other changes from taking effect
    let sending = true
    let current = processor
    const statuses: number[] = []
    const load = Array.from({ length: 8 }, async () => {
      while (sending) statuses.push((await current.send('/v1/authorizations', authorization())).status)
    })
    const fresh = makeCertificate(door.directory, 'next')
    const { id: certificateId } = await addCertificate(operator, 'live', fresh.cert)
    const { id: keyId, secret } = await createSigningKey(operator, 'live')
    const both = processor.with(fresh, [secret])
    await until('the certificate', async () => (await both.send('/v1/echo', echo())).status === 200)
    // The answer is signed with both keys, so that the processor can switch when it likes.
    const { text, signature = '' } = await both.send('/v1/echo', echo())
    const seconds = Number(/^t=(\d+),/.exec(signature)?.[1])
    const digests = [processor, both].map((each) => each.sign(text, seconds).split(',v1=')[1])
    expect(signature).toBe(`t=${seconds},v1=${digests.join(',v1=')}`)
    current = both
    const switched = statuses.length
    await until('messages of the new certificate', () => statuses.length > switched + 20)
    await retireCertificate(operator, door.certificateId)
    await retireSigningKey(operator, door.keyId)
    // Also a connection that is open since before the change is refused.
    await until('the end of the old', async () => (await processor.send('/v1/echo', echo())).status === 401)
    sending = false
    await Promise.all(load)
    expect(statuses.length).toBeGreaterThan(50)
    expect(statuses.filter((status) => status !== 200)).toEqual([])
    expect(door.lines.join()).toContain('nkey_damaged')
    // The key is a change of its own, which takes effect a moment later.
    const withOldKey = processor.with(fresh)
    const refusal = async () => {
      const { status, body } = await withOldKey.send('/v1/echo', echo())
      return status === 401 && body.error.code
    }
    expect(await until('the end of the old key', refusal)).toBe('invalid_signature')
    for (const each of [withOldKey, processor]) each.close()
    processor = both

    const shown = await showProcessor(operator, 'live')
    expect(shown.changes.map(({ action, target_id }) => [action, target_id]).slice(0, 4)).toEqual([
      ['network_key.retired', door.keyId],
      ['network_certificate.retired', door.certificateId],
      ['network_key.created', keyId],
      ['network_certificate.added', certificateId],
    ])
    expect((await verifyAudit(operator, 'network', 'live')).entries).toBe(7)
    expect(JSON.stringify(shown)).not.toMatch(/netsec_/)
  })
})

const echo = () => ({ message_id: 'echo', sent_at: new Date().toISOString() })
