/** Whom the screening finds, and whom it lets pass. */
import { expect, test } from 'vitest'
import { createMatcher, THRESHOLD } from '../../runtime/sanctions/matcher.ts'
import { readOfac } from '../../runtime/sanctions/ofac.ts'
import { DIFFERENT, DIFFERENT_COMPANY, type Pair, SAME, SAME_COMPANY } from './pairs.ts'

const record = (id: number, name: string, type: string, remarks = '-0-') =>
  `${id},"${name}",${type},"TEST",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"${remarks}"\r\n`

/** The score where the one is found on a list of the other alone; 0 where not. */
function score(type: 'individual' | 'company', [listed, name, listedBorn, born]: Pair): number {
  const remarks = listedBorn === undefined ? '-0-' : `DOB ${listedBorn}; POB Nowhere.`
  const sdn = record(1, listed, type === 'individual' ? 'individual' : '-0-', remarks)
  const matcher = createMatcher(readOfac({ sdn, alt: '', add: '' }))
  const subject = { type, name, date_of_birth: born ?? null, billing_address: null }
  return matcher.match(subject)[0]?.score ?? 0
}

const about = (pairs: readonly Pair[]) => pairs.map((pair) => [pair.join(' / '), pair] as const)

test('the tables have more than sixty pairs', () => {
  expect(SAME.length + DIFFERENT.length).toBeGreaterThan(60)
})

test.each(about(SAME))('the same: %s', (_about, pair) => {
  expect(score('individual', pair)).toBeGreaterThanOrEqual(THRESHOLD)
})

test.each(about(DIFFERENT))('somebody else: %s', (_about, pair) => {
  expect(score('individual', pair)).toBe(0)
})

test.each(about(SAME_COMPANY))('the same company: %s', (_about, pair) => {
  expect(score('company', pair)).toBeGreaterThanOrEqual(THRESHOLD)
})

test.each(about(DIFFERENT_COMPANY))('another company: %s', (_about, pair) => {
  expect(score('company', pair)).toBe(0)
})
