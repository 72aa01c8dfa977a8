/** Who is let in when: by order and counts, without a clock of the machine's. */
import { describe, expect, test } from 'vitest'
import { createPresence } from '../../../runtime/platform/fairness/presence.ts'
import { createTurns } from '../../../runtime/platform/fairness/turns.ts'

interface Case {
  readonly name: string
  /**
   * `a4` wants something of weight 4 for tenant a, `-a4` ends it, `A4` is of another kind; `+` lets ten seconds pass.
   */
  readonly steps: string
  /** Who was let in, in order. */
  readonly want: string
}

const cases: readonly Case[] = [
  { name: 'a tenant that is alone has no bound', steps: 'a4 a4 a4 a4', want: 'a4 a4 a4 a4' },
  { name: 'beside another it has so much at once', steps: 'b1 a2 a2 a2', want: 'b1 a2 a2' },
  { name: 'small things are let in by the number', steps: 'b1 a1 a1 a1 a1 a1', want: 'b1 a1 a1 a1 a1' },
  {
    name: 'what ends lets the next in, in order',
    steps: 'b1 a4 a1 a4 a1 -a4 -a1 -a4',
    want: 'b1 a4 a1 a4 a1',
  },
  { name: 'what is too much goes alone', steps: 'b1 a3 a9 -a3', want: 'b1 a3 a9' },
  { name: 'nobody small slips in before it', steps: 'b1 a3 a9 a1', want: 'b1 a3' },
  { name: 'another tenant waits for none of it', steps: 'a4 b4 a4 c4 b1', want: 'a4 b4 c4' },
  { name: 'another kind waits for none of it', steps: 'b1 a4 a1 A4', want: 'b1 a4 A4' },
  { name: 'who has not come lately is not waited for', steps: 'b1 a4 + a4 a4', want: 'b1 a4 a4 a4' },
  { name: 'who comes again counts again', steps: 'b1 a4 + a4 b1 a4', want: 'b1 a4 a4 b1' },
  { name: 'once alone, all are let in that wait', steps: 'b1 a4 a4 a4 + -a4', want: 'b1 a4 a4 a4' },
]

test.each(cases)('turns are given by order and count: $name', async ({ steps, want }) => {
  let now = 0
  const turns = createTurns(
    createPresence(() => now),
    (work) => work(),
  )
  const entered: string[] = []
  for (const step of steps.split(' ')) {
    if (step === '+') {
      now += 10_001
      continue
    }
    const word = step.replace('-', '')
    const letter = word[0]!
    const words = [letter.toLowerCase(), letter, Number(word.slice(1))] as const
    if (step.startsWith('-')) {
      turns.release(...words, 1)
    } else {
      const turn = turns.acquire(...words)
      turn?.then(() => entered.push(word)).catch(() => {}) // never
      if (!turn) entered.push(word)
    }
    await Promise.resolve()
  }
  expect(entered.join(' ')).toBe(want)
})

describe('turns', () => {
  test('the giver of turns keeps nothing for what has not begun', () => {
    const turns = createTurns(createPresence())
    expect(() => turns.release('a', 'read', 1, 1)).toThrow(/has not started/)
  })

  test('the giver of turns rests after what a tenant did that wants more than fits, and after nothing else', async () => {
    const rests: { readonly work: () => void; readonly ms: number }[] = []
    let now = 0
    const turns = createTurns(
      createPresence(() => now),
      (work, ms) => void rests.push({ work, ms }),
    )
    expect([turns.acquire('b', 'read', 1), turns.acquire('a', 'read', 2)]).toEqual([undefined, undefined])
    turns.release('b', 'read', 1, 40)
    expect(rests).toEqual([])
    expect(turns.acquire('a', 'read', 2)).toBe(undefined)
    let isIn = false
    const third = turns.acquire('a', 'read', 2)?.then(() => (isIn = true))
    turns.release('a', 'read', 2, 40)
    turns.release('a', 'read', 2, 4000)
    expect(rests.map(({ ms }) => ms)).toEqual([100, 1000])
    await Promise.resolve()
    expect(isIn).toBe(false)
    rests[0]!.work()
    await third
    expect(isIn).toBe(true)
    const alone = turns.acquire('a', 'read', 4)
    now += 10_001
    turns.release('a', 'read', 2, 40)
    expect(rests).toHaveLength(2)
    await alone
  })
})
