/** What follows from events, walks and answers: how far a visit for Google Wallet has come. */
import { describe, expect, test } from 'vitest'
import { DONE, type SyncOutcome } from '../../../runtime/passes/wallets/sync/google/client.ts'
import {
  concludeVisit,
  delayAfter,
  MAX_FAILURES,
  planVisit,
  walksAfter,
  withWalk,
} from '../../../runtime/passes/wallets/sync/google/plan.ts'
import type { News, ResendWalk, SpaceVisit } from '../../../runtime/passes/wallets/sync/google/queries.ts'

const NOW = 1_000_000
const REFUSED: SyncOutcome = { outcome: 'refused', status: 400, message: 'no' }
const LATER: SyncOutcome = { outcome: 'later', message: '503', retryAfterMs: 0 }

const visit = (changes: Partial<SpaceVisit> = {}): SpaceVisit => ({
  space: 'ten_1',
  token: 'token',
  sequence: 0,
  walks: [],
  failures: 0,
  ...changes,
})

const news = (...rows: [type: string, target: string | null][]): News[] =>
  rows.map(([type, target], index) => ({ sequence: index + 1, type, target }))

const ISSUED = news(
  ['pass.created', 'pass_1'],
  ['pass_template.created', 'tpl_1'],
  ['pass.created', 'pass_2'],
  ['pass.updated', 'pass_1'],
  ['pass.scanned', null],
)

test('a plan has each target once, with its first event, templates first', () => {
  const plan = planVisit(visit(), { head: 5, news: ISSUED }, true)
  expect(plan.fromEvents.map(({ id, isNew, sequence }) => [id, isNew, sequence])).toEqual([
    ['tpl_1', true, 2],
    ['pass_1', true, 1],
    ['pass_2', true, 3],
  ])
  expect(plan).toMatchObject({ reached: 5, begun: [] })
})

test.each([
  ['the page is full: up to its last event', 9, false, 5],
  ['there are no more: up to the end of the sequence', 9, true, 9],
])('a visit for Google Wallet goes as far as it read: %s', (_, head, isWhole, reached) => {
  expect(planVisit(visit(), { head, news: ISSUED }, isWhole).reached).toBe(reached)
})

test('a change of a template begins a walk through its passes, a hole in the events one through all', () => {
  const changed = [{ sequence: 8, type: 'pass_template.updated', target: 'tpl_1' }]
  expect(planVisit(visit({ sequence: 7 }), { head: 8, news: changed }, true).begun).toEqual([
    { template: 'tpl_1', sequence: 8 },
  ])
  expect(planVisit(visit({ sequence: 6 }), { head: 8, news: changed }, true).begun).toEqual([
    { sequence: 7 },
    { template: 'tpl_1', sequence: 8 },
  ])
  expect(planVisit(visit({ sequence: 6 }), { head: 8, news: [] }, true).begun).toEqual([{ sequence: 7 }])
  expect(planVisit(visit({ sequence: 8 }), { head: 8, news: [] }, true).begun).toEqual([])
})

describe('a visit', () => {
  const plan = planVisit(visit(), { head: 5, news: ISSUED }, true)
  const conclude = (results: Record<string, SyncOutcome>, changes: Partial<SpaceVisit> = {}) =>
    concludeVisit(visit(changes), plan, undefined, new Map(Object.entries(results)), NOW)

  test.each<[string, Record<string, SyncOutcome>, number]>([
    ['that sent all is at the end', { tpl_1: DONE, pass_1: DONE, pass_2: DONE }, 5],
    ['in which something is refused goes past it', { tpl_1: REFUSED, pass_1: DONE, pass_2: REFUSED }, 5],
    ['stops before the first that was not tried', { tpl_1: DONE, pass_1: DONE }, 2],
    ['stops before the first that failed', { tpl_1: DONE, pass_1: DONE, pass_2: LATER }, 2],
    ['goes nowhere where that is the first', { tpl_1: DONE, pass_1: LATER, pass_2: DONE }, 0],
  ])('a visit for Google Wallet %s', (_, results, sequence) => {
    expect(conclude(results).sequence).toBe(sequence)
  })

  test('a visit for Google Wallet that failed waits, longer each time as long as nothing moves', () => {
    const stuck = { tpl_1: DONE, pass_1: LATER }
    expect(conclude(stuck)).toMatchObject({ failures: 1, readyAt: NOW + 1000 })
    expect(conclude(stuck, { failures: 3 })).toMatchObject({ failures: 4, readyAt: NOW + 8000 })
    expect(conclude({ tpl_1: DONE, pass_1: DONE, pass_2: LATER }, { failures: 3 }).failures).toBe(1)
    const asked = { ...LATER, retryAfterMs: 60_000 }
    expect(conclude({ tpl_1: DONE, pass_1: asked }).readyAt).toBe(NOW + 60_000)
    expect(conclude({ tpl_1: DONE, pass_1: DONE, pass_2: DONE }, { failures: 3 })).toMatchObject({
      failures: 0,
      readyAt: Number.NEGATIVE_INFINITY,
    })
  })

  test('a visit for Google Wallet gives up what alone keeps failing, and nothing while Google fails at everything', () => {
    const one = { tpl_1: DONE, pass_1: LATER, pass_2: DONE }
    expect(conclude(one, { failures: MAX_FAILURES - 1 })).toMatchObject({ sequence: 0, refused: [] })
    expect(conclude(one, { failures: MAX_FAILURES })).toMatchObject({
      sequence: 5,
      failures: 0,
      refused: [{ id: 'pass_1', status: 0, message: '503' }],
    })
    const all = { tpl_1: LATER, pass_1: LATER, pass_2: LATER }
    expect(conclude(all, { failures: 50 })).toMatchObject({ sequence: 0, failures: 51, refused: [] })
  })

  test('a visit for Google Wallet begins the walks of the events that it has passed, and of no others', () => {
    const rows = news(
      ['pass_template.updated', 'tpl_1'],
      ['pass.created', 'pass_1'],
      ['pass_template.updated', 'tpl_2'],
    )
    const changed = planVisit(visit(), { head: 3, news: rows }, true)
    const walksOf = (results: Record<string, SyncOutcome>) =>
      concludeVisit(visit(), changed, undefined, new Map(Object.entries(results)), NOW).walks
    expect(walksOf({ tpl_1: DONE, tpl_2: DONE, pass_1: LATER })).toEqual([{ template: 'tpl_1' }])
    expect(walksOf({ tpl_1: DONE, tpl_2: DONE, pass_1: DONE })).toEqual([
      { template: 'tpl_1' },
      { template: 'tpl_2' },
    ])
  })
})

test.each([
  [1, 1000],
  [2, 2000],
  [9, 256_000],
  [10, 300_000],
  [1000, 300_000],
])('a visit for Google Wallet waits after %i failures in a row %i ms', (failures, ms) => {
  expect(delayAfter(failures, 0)).toBe(ms)
})

describe('a walk', () => {
  const at = (id: string) => ({ id, status: 'issued', created: 1 })
  const passes = [at('pass_1'), at('pass_2')]

  test('a walk through passes goes on behind the last pass, ends with them, and gives way to others', () => {
    const walk: ResendWalk = { template: 'tpl_1' }
    const other: ResendWalk = { template: 'tpl_2' }
    expect(walksAfter([walk, other], { walk, passes, isEnd: false })).toEqual([
      other,
      { template: 'tpl_1', after: at('pass_2') },
    ])
    expect(walksAfter([walk, other], { walk, passes, isEnd: true })).toEqual([other])
    expect(walksAfter([walk], { walk, passes: [], isEnd: false })).toEqual([walk])
  })

  test('a walk through passes begins once more where the template has changed in the middle', () => {
    const walk: ResendWalk = { template: 'tpl_1', after: at('pass_1') }
    const [again] = withWalk([walk], 'tpl_1')
    expect(again).toEqual({ ...walk, again: true })
    expect(walksAfter([again!], { walk: again!, passes, isEnd: true })).toEqual([{ template: 'tpl_1' }])
    expect(withWalk([{ template: 'tpl_1' }], 'tpl_1')).toEqual([{ template: 'tpl_1' }])
    expect(withWalk([{}], 'tpl_1')).toEqual([{}, { template: 'tpl_1' }])
  })

  test('a walk through passes comes no further than to the first pass that failed', () => {
    const walk: ResendWalk = { template: 'tpl_1' }
    const nothing = planVisit(visit({ sequence: 5 }), { head: 5, news: [] }, true)
    const results = new Map<string, SyncOutcome>([
      ['pass_1', DONE],
      ['pass_2', LATER],
    ])
    const step = { walk, passes, isEnd: true }
    const end = concludeVisit(visit({ sequence: 5, walks: [walk] }), nothing, step, results, NOW)
    expect(end).toMatchObject({ walks: [{ template: 'tpl_1', after: at('pass_1') }], failures: 1 })
  })
})
