/** Callbacks of Google Wallet are believed only whole, in time, for this issuer, and under Google's root keys. */
import { describe, expect, test } from 'vitest'
import {
  type CallbackOrder,
  createCallbackSigner,
} from '../../../runtime/passes/wallets/fakes/google-callbacks.ts'
import { verifyCallback } from '../../../runtime/passes/wallets/render/google/callback.ts'

const ISSUER = '3388000000000000042'
const NOW = Date.now()
const google = createCallbackSigner()

const order: CallbackOrder = {
  classId: `${ISSUER}.tpl_1`,
  objectId: `${ISSUER}.pass_1`,
  eventType: 'save',
  nonce: 'once',
  recipientId: ISSUER,
}

const { keys } = google.published
const check = (posted: unknown, roots = keys, now = NOW) =>
  verifyCallback(posted, { keys: roots, recipientId: ISSUER, now })

test.each(['save', 'del'])('a callback of type %s is believed', (eventType) => {
  const verdict = check(google.write({ ...order, eventType }))
  expect(verdict).toEqual({
    callback: {
      classId: `${ISSUER}.tpl_1`,
      objectId: `${ISSUER}.pass_1`,
      eventType,
      nonce: 'once',
      expiresAt: expect.any(Number),
    },
  })
})

test.each<[string, Partial<CallbackOrder>, string]>([
  ['of another sender', { sender: 'Somebody' }, 'no root key signed'],
  ['of another protocol', { protocol: 'ECv2' }, 'the protocol is not ECv2SigningOnly'],
  ['for another issuer', { recipientId: '3388000000000000043' }, 'the signature does not match'],
  ['under an intermediate key that has expired', { intermediateExpires: NOW - 1 }, 'intermediate key has'],
  ['that has expired', { messageExpires: NOW - 1 }, 'the message has expired'],
  ['of another type', { eventType: 'view' }, 'eventType is neither'],
  ['without a nonce', { nonce: '' }, 'nonce is missing'],
])('a callback %s is refused', (_, changes, fault) => {
  expect(check(google.write({ ...order, ...changes }))).toEqual({ fault: expect.stringContaining(fault) })
})

test('a callback for this issuer is refused by another', () => {
  const verdict = verifyCallback(google.write(order), { keys, recipientId: '3388000000000000043', now: NOW })
  expect(verdict).toEqual({ fault: expect.stringContaining('the signature does not match') })
})

describe('a message of which anything was changed is refused', () => {
  const posted = google.write(order)
  const key = posted.intermediateSigningKey as { signedKey: string; signatures: string[] }
  const other = createCallbackSigner().write(order)
  const otherKey = other.intermediateSigningKey as typeof key
  test.each<[string, unknown]>([
    ['its event', { ...posted, signedMessage: String(posted.signedMessage).replace('save', 'del') }],
    ['its object', { ...posted, signedMessage: String(posted.signedMessage).replace('pass_1', 'pass_2') }],
    ['its signature', { ...posted, signature: other.signature }],
    ['the intermediate key', { ...posted, intermediateSigningKey: otherKey }],
    [
      'the intermediate key under its signatures',
      { ...posted, intermediateSigningKey: { ...key, signedKey: otherKey.signedKey } },
    ],
    [
      'how long the intermediate key is valid',
      {
        ...posted,
        intermediateSigningKey: { ...key, signedKey: key.signedKey.replace(/\d{13}/, '9999999999999') },
      },
    ],
    ['the protocol', { ...posted, protocolVersion: 'ECv1' }],
    ['its signatures', { ...posted, intermediateSigningKey: { ...key, signatures: [] } }],
    ['its signatures, of which there are too many', tooMany(posted, key)],
    ['its signature, which is no base64', { ...posted, signature: '!' }],
  ])('a callback is refused after a change of %s', (_, changed) => {
    expect(check(changed)).toHaveProperty('fault')
  })
})

function tooMany(posted: object, key: { signedKey: string; signatures: string[] }): unknown {
  const signatures = Array.from({ length: 9 }, () => key.signatures[0]!)
  return { ...posted, intermediateSigningKey: { ...key, signatures } }
}

test.each([null, 7, 'text', [], {}, { protocolVersion: 'ECv2SigningOnly' }])(
  'a callback body that is not a signed message is refused: %j',
  (posted) => {
    expect(check(posted)).toEqual({ fault: 'the body is not a signed message' })
  },
)

test('root keys count until they expire, for their protocol, and where they are keys', () => {
  const posted = google.write(order)
  const [root] = keys
  const others = [
    { ...root!, protocolVersion: 'ECv2' },
    { ...root!, keyExpiration: String(NOW) },
    { ...root!, keyExpiration: '' },
    { ...root!, keyValue: 'AAAA' },
    createCallbackSigner().published.keys[0]!,
  ]
  for (const each of others) expect(check(posted, [each])).toHaveProperty('fault')
  expect(check(posted, [...others, root!])).toHaveProperty('callback')
})
