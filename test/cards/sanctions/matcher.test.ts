/** Whom the screening finds, and whom it lets pass. */
import { expect, test } from 'vitest'
import { createMatcher } from '../../../runtime/cards/sanctions/matcher.ts'
import { readOfac } from '../../../runtime/cards/sanctions/ofac.ts'
import { DIFFERENT, DIFFERENT_COMPANY, type Pair, SAME, SAME_COMPANY } from './pairs.ts'

const record = (id: number, name: string, type: string, remarks = '-0-') =>
  `${id},"${name}",${type},"TEST",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"${remarks}"\r\n`

/** The score where the one is found on a list of the other alone; 0 where not. */
async function score(
  type: 'individual' | 'company',
  [listed, name, listedBorn, born]: Pair,
): Promise<number> {
  const remarks = listedBorn === undefined ? '-0-' : `DOB ${listedBorn}; POB Nowhere.`
  const sdn = record(1, listed, type === 'individual' ? 'individual' : '-0-', remarks)
  const matcher = await createMatcher(await readOfac({ sdn, alt: '', add: '' }))
  const subject = { type, name, date_of_birth: born ?? null, billing_address: null }
  return matcher.match(subject)[0]?.score ?? 0
}

const about = (pairs: readonly Pair[]) => pairs.map((pair) => [pair.join(' / '), pair] as const)

test('the tables have more than sixty pairs', () => {
  expect(SAME.length + DIFFERENT.length).toBeGreaterThan(60)
})

test.each(about(SAME))('the matcher finds the same person: %s', async (_about, pair) => {
  expect(await score('individual', pair)).toBeGreaterThan(0)
})

test.each(about(DIFFERENT))('the matcher does not confuse two persons: %s', async (_about, pair) => {
  expect(await score('individual', pair)).toBe(0)
})

test.each(about(SAME_COMPANY))('the matcher finds the same company: %s', async (_about, pair) => {
  expect(await score('company', pair)).toBeGreaterThan(0)
})

test.each(about(DIFFERENT_COMPANY))(
  'the matcher does not confuse two companies: %s',
  async (_about, pair) => {
    expect(await score('company', pair)).toBe(0)
  },
)

/** The same letters in each run. */
function createRandom(): (below: number) => number {
  let state = 1
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test('the index loses nobody whom comparing each with each would find', async () => {
  const random = createRandom()
  const pick = (from: readonly string[]) => from[random(from.length)]!
  const syllables = 'al ba chi da dmi el far gha ib ka khal lo mu na ov pe qa ri sha tov vi yu zhe'.split(' ')
  const word = () => Array.from({ length: 1 + random(4) }, () => pick(syllables)).join('')
  const misspell = (text: string) => {
    const at = random(text.length)
    return text.slice(0, at) + pick(['', 'a', 'h', text[at]! + text[at]!]) + text.slice(at + random(2))
  }
  const names = Array.from({ length: 600 }, () => [word(), word(), ...(random(2) ? [word()] : [])])
  const sdn = names
    .map(([family, ...given], at) => record(at + 1, `${family}, ${given.join(' ')}`, 'individual'))
    .join('')
  const entries = await readOfac({ sdn, alt: '', add: '' })
  const [indexed, naive] = [await createMatcher(entries), await createMatcher(entries, false)]
  let found = 0
  for (let round = 0; round < 600; round += 1) {
    const words = names[random(names.length)]!.map((each) => (random(3) === 0 ? misspell(each) : each))
    const name = words.toSorted(() => random(3) - 1).join(' ')
    const subject = { type: 'individual', name, date_of_birth: null, billing_address: null } as const
    const matches = naive.match(subject)
    expect([name, indexed.match(subject)]).toEqual([name, matches])
    found += Math.min(matches.length, 1)
  }
  expect(found).toBeGreaterThan(200)
})

test('a long list is prepared in steps, between which others are let in', async () => {
  const sdn = Array.from({ length: 3000 }, (_, at) =>
    record(at + 1, `F${at}AMILY, Given${at % 97}`, 'individual'),
  )
  let letIn = 0
  let isDone = false
  const others = () => {
    letIn += 1
    if (!isDone) setImmediate(others)
  }
  setImmediate(others)
  await createMatcher(await readOfac({ sdn: sdn.join(''), alt: '', add: '' }))
  isDone = true
  expect(letIn).toBeGreaterThan(10)
})
