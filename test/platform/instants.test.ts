import fc from 'fast-check'
import { expect, test } from 'vitest'
import { writeInstant } from '../../runtime/platform/instants.ts'

const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

test('instants are written as toISOString writes them', () => {
  const instants = fc.array(fc.integer({ min: FIRST, max: LAST }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(instants, (each) => {
      expect(each.map(writeInstant)).toEqual(each.map((ms) => new Date(ms).toISOString()))
    }),
    { numRuns: 2000 },
  )
  for (const ms of [FIRST, LAST, 0, -1, 86_399_999, 86_400_000, -86_400_000]) {
    expect(writeInstant(ms)).toBe(new Date(ms).toISOString())
  }
})
