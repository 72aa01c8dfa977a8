/** Whom the screening finds, and whom it lets pass. */
import { expect, test } from 'vitest'
import { createMatcher, THRESHOLD } from '../../runtime/sanctions/matcher.ts'
import { readOfac } from '../../runtime/sanctions/ofac.ts'
import { DIFFERENT, DIFFERENT_COMPANY, SAME, SAME_COMPANY } from './pairs.ts'

const record = (id: number, name: string, type: string, remarks = '-0-') =>
  `${id},"${name}",${type},"TEST",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"${remarks}"\r\n`

/** The score where the one is found on a list of the other alone; 0 where not. */
function score(
  type: 'individual' | 'company',
  [listed, name, listedBorn, born]: (typeof SAME)[number],
): number {
  const remarks = listedBorn === undefined ? '-0-' : `DOB ${listedBorn}; POB Nowhere.`
  const sdn = record(1, listed, type === 'individual' ? 'individual' : '-0-', remarks)
  const matcher = createMatcher(readOfac({ sdn, alt: '', add: '' }))
  const subject = { type, name, date_of_birth: born ?? null, billing_address: null }
  return matcher.match(subject)[0]?.score ?? 0
}

test('the tables have more than sixty pairs', () => {
  expect(SAME.length + DIFFERENT.length).toBeGreaterThan(60)
})

test.each(SAME)('%s is %s (%s, %s)', (...pair) => {
  expect(score('individual', pair)).toBeGreaterThanOrEqual(THRESHOLD)
})

test.each(DIFFERENT)('%s is not %s (%s, %s)', (...pair) => {
  expect(score('individual', pair)).toBe(0)
})

test.each(SAME_COMPANY)('the company %s is %s', (...pair) => {
  expect(score('company', pair)).toBeGreaterThanOrEqual(THRESHOLD)
})

test.each(DIFFERENT_COMPANY)('the company %s is not %s', (...pair) => {
  expect(score('company', pair)).toBe(0)
})
