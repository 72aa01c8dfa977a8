/** Verification of deliveries: what is accepted, and for which reason everything else is refused. */
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import * as v1 from '../../generated/client/src/2025-06-01/index.ts'
import * as v2 from '../../generated/client/src/2025-11-01/index.ts'
import * as v3 from '../../generated/client/src/2026-02-01/index.ts'
import * as v4 from '../../generated/client/src/2026-05-19/index.ts'
import * as all from '../../generated/client/src/index.ts'
import {
  signDelivery,
  type UnwrapOptions,
  verifyDelivery,
  type WebhookBody,
  WebhookError,
  type WebhookHeaders,
  type WebhookSecret,
} from '../../generators/client-runtime/webhooks.ts'
import { signBody } from '../../runtime/events/outbound/signing.ts'

const HEADER = 'Service-Signature'
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64url')}`
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64url')}`
/** With a character of each length in UTF-8, and spaces that writing it again would lose. */
const BODY = '{"id": "evt_1",  "type":"pass.created", "data":{"note":"ß€𝄞"}}'
const SECOND = 1_780_306_200
const at = (second: number) => ({ now: () => second * 1000 })

const unwrap = verifyDelivery.bind(undefined, HEADER)
const testHeaders = signDelivery.bind(undefined, HEADER)

function hmac(secret: string, message: string | Uint8Array): string {
  return createHmac('sha256', secret).update(message).digest('hex')
}

const V1 = hmac(SECRET, `${SECOND}.${BODY}`)
const GOOD = `t=${SECOND},v1=${V1}`

interface Delivery extends UnwrapOptions {
  readonly body?: unknown
  readonly secret?: unknown
}

/** Loose on purpose: callers without types give anything. @returns the code it is refused with, or `accepted`. */
async function check(signature: WebhookHeaders | string, delivery: Delivery = {}): Promise<string> {
  const headers = typeof signature === 'string' ? { [HEADER]: signature } : signature
  const { body, secret, ...options } = { body: BODY, secret: SECRET, ...at(SECOND), ...delivery }
  try {
    await unwrap(body as WebhookBody, headers, secret as WebhookSecret, options)
    return 'accepted'
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error
    return error.code
  }
}

test('the signature is the one that openssl makes', async () => {
  for (const body of [BODY, '{"type":"x"}', `{"type":"${'long'.repeat(20_000)}"}`]) {
    const printed = execFileSync('openssl', ['dgst', '-sha256', '-hmac', SECRET], {
      input: `${SECOND}.${body}`,
      encoding: 'utf8',
    })
    const signature = `t=${SECOND},v1=${/([0-9a-f]{64})\s*$/.exec(printed)?.[1]}`
    expect(await testHeaders(body, SECRET, at(SECOND))).toEqual({ [HEADER]: signature })
    expect(await unwrap(body, { [HEADER]: signature }, SECRET, at(SECOND))).toEqual(JSON.parse(body))
  }
})

test('a delivery that the service’s own sender signs is accepted, under each of its secrets', async () => {
  const signed = { [HEADER]: signBody([SECRET, OTHER], BODY, SECOND) }
  expect(await testHeaders(BODY, [SECRET, OTHER], at(SECOND))).toEqual(signed)
  for (const secret of [SECRET, OTHER]) expect(await check(signed, { secret })).toBe('accepted')
})

test('a delivery that is signed with the clock of now is accepted with the clock of now', async () => {
  expect(await unwrap(BODY, await testHeaders(BODY, SECRET), SECRET)).toMatchObject({ type: 'pass.created' })
})

test.each([
  { given: 'text', body: BODY, want: 'accepted' },
  { given: 'bytes', body: new TextEncoder().encode(BODY), want: 'accepted' },
  { given: 'a buffer', body: Buffer.from(BODY), want: 'accepted' },
  { given: 'a part of a buffer', body: Buffer.from(`..${BODY}..`).subarray(2, -2), want: 'accepted' },
  { given: 'an ArrayBuffer', body: new TextEncoder().encode(BODY).buffer, want: 'accepted' },
  { given: 'JSON written again', body: JSON.stringify(JSON.parse(BODY)), want: 'no_match' },
  { given: 'a changed byte', body: BODY.replace('evt_1', 'evt_2'), want: 'no_match' },
  { given: 'a byte more', body: `${BODY}\n`, want: 'no_match' },
  { given: 'nothing', body: '', want: 'no_match' },
  { given: 'what a parser made of it', body: JSON.parse(BODY), want: 'body_not_raw' },
  { given: 'no body at all', body: undefined, want: 'body_not_raw' },
  { given: 'null', body: null, want: 'body_not_raw' },
])('a delivery whose body is given as $given is judged $want', async ({ body, want }) => {
  expect(await check(GOOD, { body })).toBe(want)
})

test.each<{ given: string; signature: string; want: string }>([
  { given: 'one signature', signature: GOOD, want: 'accepted' },
  { given: 'a stale one first', signature: `t=${SECOND},v1=${'0'.repeat(64)},v1=${V1}`, want: 'accepted' },
  { given: 'a stale one last', signature: `${GOOD},v1=${'0'.repeat(64)}`, want: 'accepted' },
  { given: 'the same twice', signature: `${GOOD},v1=${V1}`, want: 'accepted' },
  { given: 'a scheme of later', signature: `${GOOD},v2=bm90+aGV4/w==`, want: 'accepted' },
  { given: 'only a scheme of later', signature: `t=${SECOND},v2=${V1}`, want: 'malformed_header' },
  { given: 'another time', signature: `t=${SECOND + 1},v1=${V1}`, want: 'no_match' },
  { given: 'a zero before the time', signature: `t=0${SECOND},v1=${V1}`, want: 'no_match' },
  {
    given: 'a digit changed',
    signature: `t=${SECOND},v1=${V1.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))}`,
    want: 'no_match',
  },
  { given: 'nothing', signature: '', want: 'malformed_header' },
  { given: 'no time', signature: `v1=${V1}`, want: 'malformed_header' },
  { given: 'no signature', signature: `t=${SECOND}`, want: 'malformed_header' },
  { given: 'another order', signature: `v1=${V1},t=${SECOND}`, want: 'malformed_header' },
  { given: 'two times', signature: `t=${SECOND},${GOOD}`, want: 'malformed_header' },
  { given: 'the header twice, joined', signature: `${GOOD}, ${GOOD}`, want: 'malformed_header' },
  { given: 'a fraction', signature: `t=${SECOND}.0,v1=${V1}`, want: 'malformed_header' },
  { given: 'a sign', signature: `t=-1,v1=${V1}`, want: 'malformed_header' },
  { given: 'a word for the time', signature: `t=NaN,v1=${V1}`, want: 'malformed_header' },
  { given: 'a time of 13 digits', signature: `t=${SECOND}000,v1=${V1}`, want: 'malformed_header' },
  { given: 'capitals', signature: `t=${SECOND},v1=${V1.toUpperCase()}`, want: 'malformed_header' },
  { given: 'too few digits', signature: `t=${SECOND},v1=${V1.slice(1)}`, want: 'malformed_header' },
  { given: 'an empty one beside', signature: `${GOOD},v1=`, want: 'malformed_header' },
  { given: 'a comma at the end', signature: `${GOOD},`, want: 'malformed_header' },
  { given: 'base64', signature: `t=${SECOND},v1=${btoa(V1)}`, want: 'malformed_header' },
  { given: 'the digest alone', signature: V1, want: 'malformed_header' },
])('a delivery with a header that is $given is judged $want', async ({ signature, want }) => {
  expect(await check(signature)).toBe(want)
})

test.each<{ given: string; headers: WebhookHeaders; want: string }>([
  { given: 'of fetch', headers: new Headers({ [HEADER]: GOOD }), want: 'accepted' },
  { given: 'by a small name', headers: { 'service-signature': GOOD }, want: 'accepted' },
  { given: 'by a loud name', headers: { 'SERVICE-SIGNATURE': GOOD }, want: 'accepted' },
  { given: 'in a list', headers: { [HEADER]: [GOOD] }, want: 'accepted' },
  { given: 'twice in a list', headers: { [HEADER]: [GOOD, GOOD] }, want: 'malformed_header' },
  {
    given: 'by two names',
    headers: { [HEADER]: GOOD, 'service-signature': GOOD },
    want: 'malformed_header',
  },
  {
    given: 'twice, of fetch',
    headers: new Headers([
      [HEADER, GOOD],
      [HEADER, GOOD],
    ]),
    want: 'malformed_header',
  },
  { given: 'not', headers: {}, want: 'missing_header' },
  { given: 'not, of fetch', headers: new Headers(), want: 'missing_header' },
  { given: 'as undefined', headers: { [HEADER]: undefined }, want: 'missing_header' },
  { given: 'under the older name', headers: { 'X-Service-Signature': GOOD }, want: 'missing_header' },
  { given: 'beside a header named get', headers: { get: 'x', [HEADER]: GOOD }, want: 'accepted' },
])('a delivery whose header is given $given is judged $want', async ({ headers, want }) => {
  expect(await check(headers)).toBe(want)
})

test('the client of another version is told which header came instead', async () => {
  const call = unwrap(BODY, { 'x-service-signature': GOOD, host: 'h' }, SECRET, at(SECOND))
  await expect(call).rejects.toThrow(
    'The header Service-Signature is missing; x-service-signature may be the header of a different version',
  )
  await expect(unwrap(BODY, {}, SECRET)).rejects.toThrow(/^The header Service-Signature is missing$/)
})

test.each([
  [0, 'accepted'],
  [300, 'accepted'],
  [300.999, 'accepted'],
  [301, 'timestamp_out_of_tolerance'],
  [-300, 'accepted'],
  [-301, 'timestamp_out_of_tolerance'],
  [86_400, 'timestamp_out_of_tolerance'],
  [Number.NaN, 'timestamp_out_of_tolerance'],
])('opened %s s after it was signed: %s', async (seconds, want) => {
  expect(await check(GOOD, at(SECOND + seconds))).toBe(want)
})

test.each([
  [10, 10, 'accepted'],
  [10, 11, 'timestamp_out_of_tolerance'],
  [0, 1, 'timestamp_out_of_tolerance'],
  [3600, 301, 'accepted'],
  [Number.NaN, 0, 'timestamp_out_of_tolerance'],
])(
  'a delivery is judged by its age: a tolerance of %s s, after %s s: %s',
  async (toleranceSeconds, seconds, want) => {
    expect(await check(GOOD, { toleranceSeconds, ...at(SECOND + seconds) })).toBe(want)
  },
)

test('verification without a clock takes that of the system', async () => {
  vi.useFakeTimers({ now: SECOND * 1000, toFake: ['Date'] })
  try {
    const signed = await testHeaders(BODY, SECRET)
    expect(signed).toEqual({ [HEADER]: GOOD })
    vi.setSystemTime((SECOND + 301) * 1000)
    await expect(unwrap(BODY, signed, SECRET)).rejects.toThrow('signed 301 s ago, but the tolerance is 300 s')
    vi.setSystemTime((SECOND - 301) * 1000)
    await expect(unwrap(BODY, signed, SECRET)).rejects.toThrow(
      'signed 301 s ahead, but the tolerance is 300 s',
    )
  } finally {
    vi.useRealTimers()
  }
})

test('nothing is said of the time of a delivery that nobody known has signed', async () => {
  expect(await check(GOOD, { secret: OTHER, ...at(SECOND + 301) })).toBe('no_match')
})

test.each([
  { given: 'another secret', secret: OTHER, want: 'no_match' },
  { given: 'two, the second of which fits', secret: [OTHER, SECRET], want: 'accepted' },
  { given: 'the same twice', secret: [SECRET, SECRET], want: 'accepted' },
  { given: 'the secret without its prefix', secret: SECRET.slice('whsec_'.length), want: 'no_match' },
  { given: 'the secret with a line end', secret: `${SECRET}\n`, want: 'no_match' },
  { given: 'none', secret: [], want: 'missing_secret' },
  { given: 'an empty one', secret: '', want: 'missing_secret' },
  { given: 'an empty one beside', secret: [SECRET, ''], want: 'missing_secret' },
  {
    given: 'an unset variable',
    secret: process.env.NEVER_SET,
    want: 'missing_secret',
  },
  { given: 'an unset one beside', secret: [SECRET, undefined], want: 'missing_secret' },
])('a delivery checked with $given is judged $want', async ({ secret, want }) => {
  expect(await check(GOOD, { secret })).toBe(want)
})

test('every delivery is accepted over a rotation, whichever side has changed its secret first', async () => {
  const [before, after] = [SECRET, OTHER]
  const whileRotating = await testHeaders(BODY, [after, before], at(SECOND))
  expect(whileRotating[HEADER]?.match(/v1=/g)).toHaveLength(2)
  for (const secret of [before, after, [after, before]])
    expect(await check(whileRotating, { secret })).toBe('accepted')
  const afterwards = await testHeaders(BODY, after, at(SECOND))
  expect(await check(afterwards, { secret: [after, before] })).toBe('accepted')
  expect(await check(afterwards, { secret: before })).toBe('no_match')
})

test.each<{ body: string | Uint8Array; want: string }>([
  { body: '{"type":"anything.else"}', want: 'accepted' },
  { body: 'type=pass.created', want: 'body_not_json' },
  { body: '', want: 'body_not_json' },
  { body: Uint8Array.of(0x22, 0xff, 0x22), want: 'body_not_json' },
  { body: 'null', want: 'body_not_an_event' },
  { body: '"type"', want: 'body_not_an_event' },
  { body: '[]', want: 'body_not_an_event' },
  { body: '{}', want: 'body_not_an_event' },
  { body: '{"type":1}', want: 'body_not_an_event' },
])('a body $body that was signed: $want', async ({ body, want }) => {
  expect(await check(await testHeaders(body, SECRET, at(SECOND)), { body })).toBe(want)
})

test('a delivery that was not signed is never parsed', async () => {
  expect(await check(GOOD, { body: '{' })).toBe('no_match')
})

test('neither secret nor signature stands in what is thrown', async () => {
  for (const [headers, secret] of [
    [{ [HEADER]: GOOD }, OTHER],
    [{ [HEADER]: `${GOOD},x` }, SECRET],
  ] as const) {
    const error = await unwrap(BODY, headers, secret, at(SECOND)).catch((error: Error) => error)
    expect(`${error}`).not.toMatch(/whsec_|[0-9a-f]{64}/)
    expect(error).toMatchObject({ name: 'WebhookError' })
  }
})

const versions = {
  '2025-06-01': [v1, 'X-Service-Signature'],
  '2025-11-01': [v2, 'X-Service-Signature'],
  '2026-02-01': [v3, 'Service-Signature'],
  '2026-05-19': [v4, 'Service-Signature'],
} as const

test.each(Object.entries(versions))(
  'the client of %s reads the header of its document',
  async (_, [version, header]) => {
    const signed = await version.testHeaders(BODY, SECRET, at(SECOND))
    expect(signed).toEqual({ [header]: GOOD })
    expect(await version.unwrap(BODY, signed, SECRET, at(SECOND))).toEqual(JSON.parse(BODY))
    const older = { [header === 'Service-Signature' ? 'X-Service-Signature' : 'Service-Signature']: GOOD }
    const refused = version.unwrap(BODY, older, SECRET, at(SECOND))
    await expect(refused).rejects.toThrow(version.WebhookError)
    await expect(refused).rejects.toThrow(version.ClientError)
  },
)

describe('of the package itself, unwrap', () => {
  const body = (version: string) => JSON.stringify({ type: 'pass.created', version })

  test.each(Object.entries(versions))(
    'the package unwraps deliveries of version %s',
    async (name, [version]) => {
      const signed = await version.testHeaders(body(name), SECRET, at(SECOND))
      expect(await all.unwrap(body(name), signed, SECRET, at(SECOND))).toEqual(JSON.parse(body(name)))
      expect(await all.unwrap(body(name), new Headers(signed), SECRET, at(SECOND))).toMatchObject({
        version: name,
      })
    },
  )

  test.each([
    ['in a version that it does not list', body('2099-01-01'), HEADER, 'unknown_version'],
    ['in none', '{"type":"pass.created"}', HEADER, 'unknown_version'],
    ['in one that objects have by nature', body('constructor'), HEADER, 'unknown_version'],
    ['under no header of theirs', body('2026-05-19'), 'Other-Signature', 'missing_header'],
  ])('unwrap refuses what is written %s', async (_, text, header, code) => {
    const signed = await signDelivery(header, text, SECRET, at(SECOND))
    await expect(all.unwrap(text, signed, SECRET, at(SECOND))).rejects.toMatchObject({ code })
  })

  test('unwrap refuses a stranger before it reads the version', async () => {
    const signed = await signDelivery(HEADER, body('2099-01-01'), OTHER, at(SECOND))
    const refused = all.unwrap(body('2099-01-01'), signed, SECRET, at(SECOND))
    await expect(refused).rejects.toMatchObject({ code: 'no_match' })
  })
})

test('a server of Node’s takes a delivery from the wire', async () => {
  const seen: unknown[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    seen.push(await v4.unwrap(body, request.headers, SECRET).catch((error: Error) => error))
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as { port: number }
    const headers = await v4.testHeaders(BODY, SECRET)
    await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: BODY })
    await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: `${BODY} ` })
  } finally {
    server.close()
  }
  expect(seen).toEqual([JSON.parse(BODY), expect.objectContaining({ code: 'no_match' })])
})
