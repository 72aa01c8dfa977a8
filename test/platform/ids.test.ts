import { describe, expect, test } from 'vitest'
import { isId, newId } from '../../runtime/platform/ids.ts'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** The 128 bits of an identifier, as a UUID's text. */
function uuidOf(id: string): string {
  const bits = [...id.slice(id.indexOf('_') + 1)].reduce(
    (sum, letter) => sum * 32n + BigInt(ALPHABET.indexOf(letter)),
    0n,
  )
  return bits.toString(16).padStart(32, '0')
}

describe('an identifier', () => {
  test('an identifier has its prefix and the documents’ pattern', () => {
    expect(newId('pass')).toMatch(/^pass_[0-9a-hjkmnp-tv-z]{26}$/)
  })

  test('an identifier is a UUIDv7 of the given time', () => {
    const at = Date.parse('2026-05-19T12:34:56.789Z')
    for (let round = 0; round < 1000; round += 1) {
      const uuid = uuidOf(newId('evt', at))
      expect(Number(`0x${uuid.slice(0, 12)}`)).toBe(at)
      expect(uuid[12]).toBe('7')
      expect(uuid[16]).toMatch(/[89ab]/)
    }
  })

  test('identifiers sort by the time they were made at', () => {
    const ids = [0, 1, 31, 32, 1_000_000, 1_800_000_000_000].map((at) => newId('pass', at))
    expect(ids.toSorted()).toEqual(ids)
  })

  test('an identifier sorts in the order of making within a millisecond, whatever other clocks are used meanwhile', () => {
    const at = 1_800_000_000_000
    const ids = Array.from({ length: 5000 }, () => {
      newId('pass', at + 86_400_000)
      return newId('pass', at)
    })
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(5000)
  })

  test.each([
    [true, newId('pass')],
    [false, newId('tpl')],
    [false, newId('pass').toUpperCase()],
    [false, newId('pass').slice(0, -1)],
    [false, `${newId('pass')}\n`],
    [false, `pass_8${'0'.repeat(25)}`],
    [false, `pass_${'0'.repeat(25)}u`],
    [false, ''],
  ])('an identifier of a pass is recognized: %s for %j', (want, text) => {
    expect(isId('pass', text)).toBe(want)
  })
})
