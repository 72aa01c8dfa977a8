import { crc32, deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { splitTarget } from '../../runtime/api/pipeline.ts'
import { type PassStatus, statusAt } from '../../runtime/passes/passes/status.ts'
import { shownValues } from '../../runtime/passes/templates/fields.ts'
import { checkPng } from '../../runtime/passes/templates/images.ts'
import { addressGroup } from '../../runtime/platform/client-address.ts'
import { parseInstant } from '../../runtime/platform/instants.ts'
import { contains, parseNetworks } from '../../runtime/platform/networks.ts'

describe('instants', () => {
  test.each([
    ['2026-06-01', '2026-06-01T00:00:00.000Z'],
    ['2026-06-01T12:30:00Z', '2026-06-01T12:30:00.000Z'],
    ['2026-06-01T12:30:00.5Z', '2026-06-01T12:30:00.500Z'],
    ['2026-06-01T12:30:00.123456789Z', '2026-06-01T12:30:00.123Z'],
    ['2026-06-01T00:30:00+02:00', '2026-05-31T22:30:00.000Z'],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['0050-03-01t00:00:00z', '0050-03-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.9999Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59+00:01', '9999-12-31T23:58:59.000Z'],
    ['2026-06-01 12:00:00+0130', '2026-06-01T10:30:00.000Z'],
  ])('an instant is read: %s is %s', (text, want) => {
    expect(new Date(Math.floor(parseInstant(text)!)).toISOString()).toBe(want)
  })

  test.each([
    ['2026-06-01T12:30:00.1230Z', false],
    ['2026-06-01T12:30:00.1230001Z', true],
  ])('%s lies between two milliseconds: %s', (text, want) => {
    expect(!Number.isInteger(parseInstant(text))).toBe(want)
  })

  test.each([
    '',
    '2026',
    '2026-02-29',
    '2026-13-01',
    '2026-06-01T24:00:00Z',
    '2026-06-01T12:00:60Z',
    '2026-06-01T12:00:00',
    '0000-12-31',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '2026-06-01T12:00:00+24:00',
    '2026-06-01T12:00:00+00:60',
    'now',
  ])('text that is not an instant is refused: "%s"', (text) => {
    expect(parseInstant(text)).toBeUndefined()
  })
})

describe('status', () => {
  test.each([
    ['issued', null, 'issued'],
    ['issued', 101, 'issued'],
    ['issued', 100, 'expired'],
    ['installed', 99, 'expired'],
    ['active', 99, 'expired'],
    ['redeemed', 99, 'redeemed'],
    ['revoked', 99, 'revoked'],
    ['expired', null, 'expired'],
  ] as const)(
    'the status of a pass that is %s, expiring at %s, is at 100: %s',
    (status: PassStatus, expires_at, want) => {
      expect(statusAt({ status, expires_at }, 100)).toBe(want)
    },
  )
})

test('a value of the pass stands over that of the template, whatever its key is named', () => {
  const fields = ['a', 'constructor', 'toString'].map((key) => ({ key, label: key, value: 'template' }))
  expect(shownValues(fields, { a: '' })).toEqual({ a: '', constructor: 'template', toString: 'template' })
})

describe('images', () => {
  const chunk = (type: string, content: Buffer) => {
    const typed = Buffer.concat([Buffer.from(type, 'latin1'), content])
    const frame = Buffer.alloc(8)
    frame.writeUInt32BE(content.length, 0)
    frame.writeUInt32BE(crc32(typed), 4)
    return Buffer.concat([frame.subarray(0, 4), typed, frame.subarray(4)])
  }
  const png = (width: number, height: number, extra = 0) => {
    const head = Buffer.alloc(13)
    head.writeUInt32BE(width, 0)
    head.writeUInt32BE(height, 4)
    head.set([8, 6, 0, 0, 0], 8)
    const pixels = deflateSync(Buffer.alloc((width * 4 + 1) * height))
    return Buffer.concat([
      Buffer.from('89504e470d0a1a0a', 'hex'),
      chunk('IHDR', head),
      ...(extra > 0 ? [chunk('tEXt', Buffer.alloc(extra, 65))] : []),
      chunk('IDAT', pixels),
      chunk('IEND', Buffer.alloc(0)),
    ])
  }
  const icon = { width: 174, height: 174, bytes: 64 * 1024, squareFrom: 29 }
  const logo = { width: 480, height: 150, bytes: 128 * 1024 }
  const whole = png(87, 87)
  const flipped = Buffer.from(whole)
  flipped[20]! ^= 1

  test.each([
    ['an icon', whole, icon, undefined],
    ['the smallest', png(29, 29), icon, undefined],
    ['the largest', png(174, 174), icon, undefined],
    ['too small', png(28, 28), icon, 'is not a square of 29 to 174 pixels'],
    ['too large', png(175, 175), icon, 'is not a square of 29 to 174 pixels'],
    ['no square', png(87, 88), icon, 'is not a square of 29 to 174 pixels'],
    ['a logo', png(480, 150), logo, undefined],
    ['too wide', png(481, 10), logo, 'is larger than 480 × 150 pixels'],
    ['too high', png(10, 151), logo, 'is larger than 480 × 150 pixels'],
    ['too many bytes', png(87, 87, 70_000), icon, 'is larger than 64 KiB'],
    ['cut', whole.subarray(0, -1), icon, 'is not a PNG image'],
    ['with more behind it', Buffer.concat([whole, Buffer.from('x')]), icon, 'is not a PNG image'],
    ['a changed bit', flipped, icon, 'is not a PNG image'],
    ['the signature alone', whole.subarray(0, 8), icon, 'is not a PNG image'],
    ['a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), icon, 'is not a PNG image'],
    ['nothing', Buffer.alloc(0), icon, 'is not valid base64'],
  ])('an image of a template is judged by its size and form: %s', (_, bytes, rule, want) => {
    expect(checkPng(bytes.toString('base64'), rule)).toBe(want)
  })
})

describe('addresses', () => {
  test.each([
    [['10.0.0.0/8'], '10.255.255.255', true],
    [['10.0.0.0/8'], '11.0.0.0', false],
    [['10.0.0.0/8'], '::ffff:10.0.0.1', true],
    [['::ffff:10.0.0.0/104'], '10.0.0.1', true],
    [['::/0'], '10.0.0.1', false],
    [['0.0.0.0/0'], '::1', false],
    [['2001:db8::1'], '2001:db8:0:0:0:0:0:1', true],
    [['192.0.2.1', '2001:db8::/32'], '2001:db8::9', true],
    [['192.0.2.1'], 'localhost', false],
    [['192.0.2.1'], '', false],
  ])('a list of networks is asked for an address: %o holds %s: %s', (networks, address, want) => {
    expect(contains(parseNetworks(networks), address)).toBe(want)
  })

  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
    ['2001:db8:1:2::9', '2001:db8:1:2::'],
    ['fe80::1%eth0', 'fe80::'],
  ])('the address %s is counted as %s', (address, want) => {
    expect(addressGroup(address)).toBe(want)
  })
})

test.each([
  ['/v1/passes', '/v1/passes', ''],
  ['/v1/passes?', '/v1/passes', ''],
  ['/v1/passes?a=1?b', '/v1/passes', 'a=1?b'],
  ['http://svc.example/v1/me?x', '/v1/me', 'x'],
  ['HTTPS://svc.example:8443/v1/me', '/v1/me', ''],
])('the request target %s is split into path and query', (target, path, search) => {
  expect(splitTarget(target)).toEqual({ path, search })
})
