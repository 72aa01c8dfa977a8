import { expect, test } from 'vitest'
import { createEventLoopTicks } from '../../../runtime/platform/fairness/event-loop-ticks.ts'

/** Results come all at once, as `tenant:rows`; gives who is handed what in each turn. */
function turnsOf(results: string): string[] {
  const next: (() => void)[] = []
  const turns = createEventLoopTicks((work) => void next.push(work))
  const handed: string[] = []
  let inTurn: string[] = []
  for (const result of results.split(' ')) {
    const [tenant, rows] = result.split(':')
    turns.hand(tenant, Number(rows), () => void inTurn.push(tenant!))
  }
  for (;;) {
    handed.push(inTurn.join(' '))
    inTurn = []
    const work = next.shift()
    if (!work) return handed.slice(0, -1)
    work()
  }
}

test.each([
  ['small ones go at once', 'a:1 a:1 a:1', ['a a a']],
  ['a page in each turn', 'a:100 a:100 a:100', ['a', 'a', 'a']],
  ['another tenant waits for none of them', 'a:100 a:100 a:100 b:1 b:1', ['a b b', 'a', 'a']],
  ['small pages together make a large one', 'a:25 a:25 a:25 a:25 a:25', ['a a a a', 'a']],
  ['two with much share each turn', 'a:100 a:100 b:100 b:100', ['a b', 'a b']],
  ['a small one stays behind a large one of its tenant', 'a:100 a:100 a:1', ['a', 'a', 'a']],
])('results are given out in fair turns: %s', (_, results, want) => {
  expect(turnsOf(results)).toEqual(want)
})
