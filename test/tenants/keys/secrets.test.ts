import { describe, expect, test } from 'vitest'
import { seal, UnsealError, unseal } from '../../../runtime/platform/secrets.ts'

const sealed = seal('pepper', 'JBSWY3DPEHPK3PXP', 'row 1')

describe('sealing', () => {
  test('a sealed secret opens under the same pepper and context', () => {
    expect(unseal('pepper', sealed, 'row 1')).toBe('JBSWY3DPEHPK3PXP')
  })

  test('a secret is never sealed the same way twice', () => {
    expect(seal('pepper', 'same', 'row')).not.toEqual(seal('pepper', 'same', 'row'))
  })

  test.each([
    ['another pepper', 'other', sealed, 'row 1'],
    ['another row', 'pepper', sealed, 'row 2'],
    [
      'a changed byte',
      'pepper',
      Buffer.from(sealed.map((byte, at) => (at === 30 ? byte ^ 1 : byte))),
      'row 1',
    ],
    ['another format', 'pepper', Buffer.from(sealed.map((byte, at) => (at === 0 ? 9 : byte))), 'row 1'],
    ['too few bytes', 'pepper', sealed.subarray(0, 20), 'row 1'],
  ])('a sealed secret does not open with %s', (_, pepper, bytes, context) => {
    expect(() => unseal(pepper, bytes, context)).toThrow(UnsealError)
  })
})
