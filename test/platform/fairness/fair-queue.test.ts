import { describe, expect, test } from 'vitest'
import { createFairQueue } from '../../../runtime/platform/fairness/fair-queue.ts'

interface Case {
  readonly name: string
  readonly places: number
  readonly share: number
  /** `a` asks for a place, `-a` gives one back, `!a` gives up the one it asked for last; `*` is the service itself. */
  readonly steps: string
  /** Who got places, in order. */
  readonly want: string
}

const cases: readonly Case[] = [
  { name: 'a tenant alone gets its share', places: 4, share: 2, steps: 'a a a a', want: 'a a' },
  {
    name: 'a place that is given back is taken again',
    places: 4,
    share: 2,
    steps: 'a a a -a',
    want: 'a a a',
  },
  { name: 'a share is not a right to the last place', places: 2, share: 2, steps: 'a a', want: 'a' },
  { name: 'the last place is for who holds none', places: 3, share: 2, steps: 'a a a b b', want: 'a a b' },
  {
    name: 'two that hold all they can leave one',
    places: 4,
    share: 2,
    steps: 'a a a b b b c',
    want: 'a a b c',
  },
  { name: 'one place is everybody’s', places: 1, share: 1, steps: 'a b -a', want: 'a b' },
  {
    name: 'free places go round',
    places: 1,
    share: 1,
    steps: 'a a a b b c -a -a -b -c -a',
    want: 'a a b c a b',
  },
  { name: 'who waits longest goes first', places: 1, share: 1, steps: 'x c a b -x -c -a', want: 'x c a b' },
  {
    name: 'who comes once does not wait for many of another',
    places: 2,
    share: 1,
    steps: 'a a a a a b c -b -a',
    want: 'a b c a',
  },
  {
    name: 'a free place goes to who holds fewer',
    places: 5,
    share: 3,
    steps: 'a a a a a b b b -a -a',
    want: 'a a a b b a',
  },
  { name: 'the service itself leaves the last place', places: 3, share: 1, steps: '* * * a', want: '* * a' },
  { name: 'who gave up is passed over', places: 1, share: 1, steps: 'a b c !b -a', want: 'a c' },
  { name: 'nothing is left of who gave up', places: 1, share: 1, steps: 'a b !b -a b', want: 'a b' },
]

const tenantOf = (letter: string | undefined) => (letter === '*' ? undefined : letter)

test.each(cases)('the fair queue lets tasks in: $name', ({ places, share, steps, want }) => {
  const queue = createFairQueue({ places, share })
  const started: string[] = []
  const last = new Map<string, () => void>()
  for (const step of steps.split(' ')) {
    const letter = step.at(-1)!
    if (step.startsWith('-')) queue.release(tenantOf(letter))
    else if (step.startsWith('!')) expect(queue.cancel(tenantOf(letter), last.get(letter)!)).toBe(true)
    else {
      const start = () => void started.push(letter)
      last.set(letter, start)
      queue.acquire(tenantOf(letter), start)
    }
    expect(queue.load.busy).toBeLessThanOrEqual(places)
  }
  expect(started.join(' ')).toBe(want)
})

describe('a fair queue', () => {
  test('a fair queue counts who holds and who waits, and whose waiting is the most', () => {
    const queue = createFairQueue({ places: 1, share: 1 })
    for (const tenant of ['a', 'a', 'a', 'a', 'b']) queue.acquire(tenant, () => {})
    expect(queue.load).toEqual({ busy: 1, waiting: 4 })
    expect(['a', 'b', 'c'].map(queue.waiting)).toEqual([3, 1, 0])
    expect(['a', 'b', 'c'].map(queue.isCrowdedBy)).toEqual([true, false, false])
  })

  test('a fair queue keeps no place for a task that did not get it', () => {
    const queue = createFairQueue({ places: 1, share: 1 })
    expect(() => queue.release('a')).toThrow(/holds no place/)
    const start = () => {}
    queue.acquire('a', start)
    expect(queue.cancel('a', start)).toBe(false)
  })
})
