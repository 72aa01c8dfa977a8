import { describe, expect, test } from 'vitest'
import { createPassTokens } from '../../../runtime/passes/wallets/render/pass-tokens.ts'
import { codeAt, isCurrent, secondsLeft } from '../../../runtime/passes/wallets/render/rotation.ts'
import { newId } from '../../../runtime/platform/ids.ts'

const tokens = createPassTokens('pepper', 'sandbox')
const tenant = newId('ten')
const passId = newId('pass')
const PLACES = [0, 1, 4_000_000_000].map((wipes) => ({
  space: wipes === 0 ? tenant : `${tenant}.${wipes}`,
  passId,
}))

describe('tokens of a pass', () => {
  test.each(PLACES)('name the pass and its space: $space', (place) => {
    for (const use of ['page', 'apple'] as const) {
      const token = tokens.write(use, place)
      expect(tokens.read(use, token)).toEqual(place)
      expect(tokens.write(use, place)).toBe(token)
      expect(token).toMatch(/^[\w-]{60,66}$/)
    }
  })

  const [place] = PLACES as [(typeof PLACES)[0]]
  const token = tokens.write('page', place)

  test.each([...token].map((_, index) => index))(
    'a token of a pass is refused with another character %i',
    (index) => {
      const other = token[index] === 'A' ? 'B' : 'A'
      expect(tokens.read('page', token.slice(0, index) + other + token.slice(index + 1))).toBeUndefined()
    },
  )

  test.each([
    ['nothing', ''],
    ['the token for another use', tokens.write('apple', place)],
    ['one of the other environment', createPassTokens('pepper', 'live').write('page', place)],
    ['one of another deployment', createPassTokens('other', 'sandbox').write('page', place)],
    ['the start of one', token.slice(0, -4)],
    ['one with more behind it', `${token}AAAA`],
    ['another spelling of one', `${token}=`],
    ['the token of before', 'k3Jd81nQ0vXzk3Jd81nQ0vXz'],
  ])('a text that is not a token of a pass is refused: %s', (_name, other) => {
    expect(tokens.read('page', other)).toBeUndefined()
  })
})

describe('codes for scanners', () => {
  const [place] = PLACES as [(typeof PLACES)[0]]
  const code = tokens.scanCode(place)

  test('name the pass within its space, in either case', () => {
    expect(code).toMatch(/^[0-9A-Z]{39}$/)
    expect(tokens.readScanCode(place.space, code)).toBe(passId)
    expect(tokens.readScanCode(place.space, code.toLowerCase())).toBe(passId)
  })

  test.each([
    ['of another space', () => tokens.readScanCode(newId('ten'), code)],
    ['of the space after a wipe', () => tokens.readScanCode(`${tenant}.1`, code)],
    ['of another pass', () => tokens.readScanCode(place.space, newId('pass').slice(5) + code.slice(26))],
    [
      'that is changed',
      () => tokens.readScanCode(place.space, code.slice(0, -1) + (code.endsWith('0') ? '1' : '0')),
    ],
    ['that is cut', () => tokens.readScanCode(place.space, code.slice(0, -1))],
    ['in other letters', () => tokens.readScanCode(place.space, 'ſ'.repeat(39))],
  ])('a code for scanners is not taken for one %s', (_name, read) => {
    expect(read()).toBeUndefined()
  })
})

describe('codes that change with time', () => {
  const [place] = PLACES as [(typeof PLACES)[0]]
  const settings = { period: 30, digits: 8, fallback: 'no_code' } as const

  test.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [20_000_000_000, '65353130'],
  ])('are those of RFC 6238 at %i s', (seconds, digits) => {
    const rotation = { ...settings, prefix: 'A', secret: Buffer.from('12345678901234567890') }
    expect(codeAt(rotation, seconds * 1000)).toBe(`A-${digits}`)
    const accepted = [-2, -1, 0, 1, 2].map((n) => isCurrent(rotation, digits, (seconds + 30 * n) * 1000))
    expect(accepted).toEqual([false, true, true, true, false])
    expect(isCurrent(rotation, digits.slice(1), seconds * 1000)).toBe(false)
    expect(secondsLeft(rotation, 60_000) + secondsLeft(rotation, 89_999)).toBe(31)
  })

  test('name the pass within its space, and do not contain its fixed code', () => {
    const parts = tokens.rotatingParts(place)
    const code = codeAt({ ...settings, ...parts }, 59_000)
    expect(tokens.readRotatingCode(place.space, code.toLowerCase())).toEqual({
      passId,
      digits: code.slice(-8),
    })
    expect([parts.secret.length, tokens.readScanCode(place.space, parts.prefix)]).toEqual([20, undefined])
    const [wiped, other] = [`${tenant}.1`, newId('ten')]
    for (const space of [wiped, other]) expect(tokens.readRotatingCode(space, code)).toBeUndefined()
    for (const text of [parts.prefix, `${code}-1`, `${tokens.scanCode(place)}-12345678`])
      expect(tokens.readRotatingCode(place.space, text)).toBeUndefined()
    const sandboxes = [`${tenant}.s1`, `${tenant}.s2.7`].map((space) =>
      tokens.rotatingParts({ space, passId }),
    )
    expect(sandboxes[0]).toEqual(sandboxes[1])
    expect(sandboxes[0]).not.toEqual(parts)
  })
})
