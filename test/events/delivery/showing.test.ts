/** Attempts that take long are shown, once, and nothing is said of those that are over. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createShowing, type OpenAttempts } from '../../../runtime/events/delivery/showing.ts'

interface Attempt {
  readonly id: number
}

const [first, second, third]: readonly Attempt[] = [{ id: 1 }, { id: 2 }, { id: 3 }]
let shown: Attempt[][]
let showing: OpenAttempts<Attempt>

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  shown = []
  showing = createShowing({ afterMs: 200, show: (attempts) => shown.push([...attempts]) })
})
afterEach(() => {
  showing.stop()
  vi.useRealTimers()
})

test('each after its time, those that are late together at once, those that are over never', () => {
  showing.began(first!)
  showing.began(second!)
  vi.advanceTimersByTime(100)
  showing.began(third!)
  showing.ended(second!)
  vi.advanceTimersByTime(99)
  expect(shown).toEqual([])
  vi.advanceTimersByTime(1)
  expect(shown).toEqual([[first]])
  vi.advanceTimersByTime(100)
  expect(shown).toEqual([[first], [third]])
  vi.advanceTimersByTime(1000)
  expect(shown).toHaveLength(2)
})

test('attempts are shown again after a while without any, and not after the end', () => {
  showing.began(first!)
  showing.ended(first!)
  vi.advanceTimersByTime(1000)
  showing.began(second!)
  showing.began(third!)
  vi.advanceTimersByTime(200)
  expect(shown).toEqual([[second, third]])
  showing.began(first!)
  showing.stop()
  vi.advanceTimersByTime(1000)
  expect(shown).toHaveLength(1)
})
