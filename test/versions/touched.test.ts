/** Which changes translations tell of: those that made a difference to the value, and no other. */

import {
  allBut,
  ignored,
  meanings,
  renames,
  touched,
  translateNoting,
  turned,
} from 'dateline/runtime/touched'
import { expect, test } from 'vitest'
import * as first from '../../generated/translations/2025-06-01.ts'
import * as second from '../../generated/translations/2025-11-01.ts'
import * as third from '../../generated/translations/2026-02-01.ts'
import type { Translate } from './emitted.ts'

/** What a translation gives, and what it tells of. */
function noted(translate: Translate, value: unknown): [unknown, string[]] {
  const changes: string[] = []
  return [translateNoting(translate, value, (change) => changes.push(change)), changes]
}

const C = '2030-01-01/change'

test('each function notes its change where it made a difference', () => {
  const names = renames(C, [['a', 'b']])
  const all = meanings(C, [['a', ['b', 'c']]])
  const shown = allBut(C, ['new'])
  const table: [Translate, unknown, unknown, boolean][] = [
    [names, 'a', 'b', true],
    [names, 'b', 'b', false],
    [names, null, null, false],
    [all, 'a', ['b', 'c'], true],
    [all, 'x', ['x'], false],
    [(list) => list.filter(shown), ['old', 'new'], ['old'], true],
    [(list) => list.filter(shown), ['old'], ['old'], false],
    [(value) => touched(C, value), 0, 0, true],
    [(value) => touched(C, value), undefined, undefined, false],
    [(value) => ignored(C, value), true, undefined, true],
    [(value) => ignored(C, value, false), false, undefined, false],
    [(value) => ignored(C, value), undefined, undefined, false],
    [(value) => turned(C, value, value * 2), 1, 2, true],
    [(value) => turned(C, value, value * 2), 0, 0, false],
    [(value) => turned(C, value, { a: [...value.a] }), { a: [1, null] }, { a: [1, null] }, false],
    [(value) => turned(C, value, { a: [...value.a, 2] }), { a: [1] }, { a: [1, 2] }, true],
    [(value) => turned(C, value, { ...value, b: undefined }), { a: 1 }, { a: 1, b: undefined }, true],
  ]
  for (const [translate, value, want, isNoted] of table)
    expect([value, ...noted(translate, value)]).toEqual([value, want, isNoted ? [C] : []])
})

test('changes that one translation has noted are not told of the next, also after one that failed', () => {
  const names = renames(C, [['a', 'b']])
  expect(noted(names, 'a')[1]).toEqual([C])
  expect(noted(names, 'x')[1]).toEqual([])
  const fails = (value: unknown) => {
    names(value)
    throw new Error('no value of this version')
  }
  expect(() => noted(fails, 'a')).toThrow()
  expect(noted(names, 'x')[1]).toEqual([])
  names('a') // outside of any
  expect(noted(names, 'x')[1]).toEqual([])
})

const endpoint = (...enabled_events: string[]) => ({ id: 'whe_1', enabled_events })
const dispute = (reason: string) => ({ data: { dispute: { id: 'dsp_1', reason } } })
const LIST = { has_more: false, next_cursor: null }

test('generated translations tell of the changes on their way, each once', () => {
  const table: [Translate, unknown, string[]][] = [
    [third.WebhookEndpoint_down as Translate, endpoint('pass.created'), []],
    [
      third.WebhookEndpoint_down as Translate,
      endpoint('cardholder.sanctions.alert'),
      ['2026-05-19/add-sanctions-events'],
    ],
    [
      first.WebhookEndpoint_fromCanonical as Translate,
      endpoint(
        'cardholder.sanctions.alert',
        'card.created',
        'authorization_decision.errored',
        'pass.created',
      ),
      ['2026-05-19/add-sanctions-events', '2026-02-01/add-decision-events', '2025-11-01/add-card-events'],
    ],
    [third.DisputeCreatedEvent_down as Translate, dispute('fraudulent'), []],
    [
      third.DisputeCreatedEvent_down as Translate,
      dispute('customer_complaint'),
      ['2026-05-19/rename-customer-dispute'],
    ],
    [
      third.SettlementLineList_down as Translate,
      { ...LIST, data: [{ type: 'card_refund' }, { type: 'card_transaction' }, { type: 'interchange' }] },
      ['2026-05-19/spell-line-types'],
    ],
    [third.SettlementLineList_down as Translate, { ...LIST, data: [{ type: 'interchange' }] }, []],
    [third.CardCreate_up as Translate, { cardholder_id: 'chd_1' }, []],
    [third.CardCreate_up as Translate, { spending_controls: { max_authorization_count: 3 } }, []],
    [
      third.CardCreate_up as Translate,
      { spending_controls: { allowed_categories: null } },
      ['2026-05-19/block-categories'],
    ],
    [third.PassTemplate_down as Translate, { id: 'tpl_1', fields: [], relevant_locations: [{}] }, []],
    [second.DeclineReason_down as Translate, { code: 'insufficient_funds' }, []],
    [
      second.DeclineReason_down as Translate,
      { code: 'decision_declined' },
      ['2026-02-01/explain-declined-decisions'],
    ],
  ]
  for (const [translate, value, want] of table)
    expect([value, noted(translate, structuredClone(value))[1]]).toEqual([value, want])
})
