import { describe, expect, test } from 'vitest'
import { digestKey, makeKey, parseKey } from '../../../runtime/tenants/keys/keys.ts'

const key = makeKey('secret', 'sandbox')

describe('a key', () => {
  test.each([
    ['secret', 'sandbox', 'svc_sk_sandbox_'],
    ['secret', 'live', 'svc_sk_live_'],
    ['publishable', 'sandbox', 'svc_pk_sandbox_'],
    ['publishable', 'live', 'svc_pk_live_'],
  ] as const)('%s of %s starts with %s and reads back', (kind, environment, prefix) => {
    const text = makeKey(kind, environment)
    expect(text).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`))
    expect(parseKey(text)).toEqual({ kind, environment })
  })

  test.each([
    ['a letter changed', key.replace(/.(?=.{20}$)/, (letter) => (letter === 'x' ? 'y' : 'x'))],
    ['a letter of the checksum changed', key.replace(/.$/, (letter) => (letter === 'x' ? 'y' : 'x'))],
    ['another environment', key.replace('sandbox', 'live')],
    ['another kind', key.replace('_sk_', '_pk_')],
    ['cut short', key.slice(0, -1)],
    ['one letter more', `${key}0`],
    ['a line break at the end', `${key}\n`],
    ['a space before', ` ${key}`],
    ['the spelling of old examples', key.replace('sk_sandbox', 'test')],
    ['upper case', key.toUpperCase()],
    ['nothing', ''],
  ])('a key is malformed with %s', (_, text) => {
    expect(parseKey(text)).toBeUndefined()
  })

  test('a key uses its whole alphabet and never repeats', () => {
    const keys = Array.from({ length: 200 }, () => makeKey('secret', 'live'))
    expect(new Set(keys).size).toBe(200)
    expect(new Set(keys.map((text) => text.slice(12, 55)).join('')).size).toBe(62)
  })

  test('a key has a digest that depends on the pepper', () => {
    expect(digestKey('a', key)).toHaveLength(32)
    expect(digestKey('a', key)).toEqual(digestKey('a', key))
    expect(digestKey('a', key)).not.toEqual(digestKey('b', key))
  })
})
