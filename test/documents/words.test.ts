import { describe, expect, test } from 'vitest'
import { dates, documentOf, textOf } from './documents.ts'

/** Words of a later day that a document must not know: `before` is the first version that has them. */
const later: readonly (readonly [before: string, words: RegExp])[] = [
  // gift_card is a kind of pass
  [
    '2025-11-01',
    /(?<!gift_|gift )card|settle|payout|dispute|treasury|sanction|usdc|ledger|balance|plan_required|verified|live_only/i,
  ],
  ['2026-02-01', /batch|decision|required_plan|plan_required|x-plan/i],
  [
    '2026-05-19',
    /relevant_locations|previous_attributes|blocked_categories|customer_complaint|sanctions\.alert/,
  ],
]
const gone: readonly (readonly [from: string, words: RegExp])[] = [
  ['2026-02-01', /X-Service-Signature/],
  ['2026-05-19', /allowed_categories|customer_dispute|cardTransaction/],
]

function linesWith(date: string, words: RegExp): string[] {
  return textOf(date)
    .split('\n')
    .flatMap((line, index) => (words.test(line) ? [`${index + 1}: ${line.trim()}`] : []))
}

describe.each(dates)('%s', (date) => {
  test('the document has no trace of later things, nor of what is gone', () => {
    const found = [
      ...later.filter(([before]) => date < before),
      ...gone.filter(([from]) => date >= from),
    ].flatMap(([, words]) => linesWith(date, words))
    expect(found).toEqual([])
  })

  test('the document names its own version', () => {
    expect((documentOf(date).info as { version?: string }).version).toBe(date)
  })
})
