/** The changes of the interface, by the words of the contract: what is stored, what earlier versions read and write. */

import { describe, expect, test } from 'vitest'
import { events } from '../../generated/events.ts'
import { versions } from '../../generated/versions.ts'
import catalogue from '../../versions/2026-05-19/merchant-category-codes.json' with { type: 'json' }
import { callable, type Translate } from './emitted.ts'

const KNOWN = [...catalogue.map(({ code }) => code), '0000']

function operation(version: string, id: string) {
  const found = versions.find((each) => each.name === version)?.operations.find((each) => each.id === id)
  if (!found) throw new Error(`${version} has no ${id}`)
  return found
}

const same: Translate = (value) => value
/** As the handler gets it, and as the caller does. */
const body = (version: string, id: string, value: unknown) =>
  (callable(operation(version, id).upBody) ?? same)(structuredClone(value))
const query = (version: string, id: string, value: unknown) =>
  (callable(operation(version, id).upQuery) ?? same)(value)
const answer = (version: string, id: string, value: unknown) =>
  JSON.parse(JSON.stringify((callable(operation(version, id).down) ?? same)(value)))
const event = (version: string, type: string, value: unknown) =>
  JSON.parse(JSON.stringify((callable(events[version]?.[type]?.down) ?? same)(value)))

const OLD = ['2025-11-01', '2026-02-01']

const card = (controls: unknown) => ({ id: 'card_1', spending_controls: controls })
const shown = (version: string, blocked: readonly string[]): unknown =>
  answer(version, 'getCard', card({ blocked_categories: blocked })).spending_controls
const written = (version: string, controls: unknown): { blocked_categories?: readonly string[] | null } =>
  body(version, 'updateCard', { spending_controls: controls }).spending_controls

describe.each(OLD)('allowed and blocked categories in %s', (version) => {
  test('a list of allowed ones blocks everything else, and every code outside the catalogue', () => {
    const { blocked_categories: blocked } = written(version, { allowed_categories: ['5812', '5814'] })
    expect(blocked).toHaveLength(KNOWN.length - 2)
    expect(blocked).not.toContain('5812')
    expect(blocked).toContain('0000')
  })
  test('a blocked category shows as all known categories without it', () => {
    expect(shown(version, ['7995', '0000'])).toEqual({
      allowed_categories: KNOWN.filter((code) => code !== '7995' && code !== '0000'),
    })
  })
  test('null is no restriction both ways', () => {
    expect(written(version, { allowed_categories: null })).toEqual({ blocked_categories: null })
    expect(shown(version, [])).toEqual({ allowed_categories: null })
  })
  test('an empty list blocks everything, both ways', () => {
    expect(written(version, { allowed_categories: [] })).toEqual({ blocked_categories: KNOWN })
    expect(shown(version, KNOWN)).toEqual({ allowed_categories: [] })
  })
  test('absent categories stay absent: on create no restriction, in a PATCH no change', () => {
    expect(written(version, { max_authorization_count: 3 })).toEqual({ max_authorization_count: 3 })
    expect(body(version, 'createCard', { type: 'virtual' })).toEqual({ type: 'virtual' })
    expect(body(version, 'updateCard', { spending_controls: null })).toEqual({ spending_controls: null })
  })
  test('categories that are read and written back change nothing', () => {
    for (const blocked of [[], ['7995'], ['0000'], ['5812', '7995', '0000'], KNOWN]) {
      const again = written(version, shown(version, blocked)).blocked_categories ?? []
      expect(new Set(again)).toEqual(new Set(blocked))
    }
  })
  test('a code outside the catalogue is kept, so that it can be refused', () => {
    const { blocked_categories: blocked } = written(version, { allowed_categories: ['5812', '9998'] })
    expect(KNOWN).not.toContain('9998')
    expect(blocked?.at(-1)).toBe('9998')
  })
  test('the categories of spending limits are codes in every version', () => {
    const limits = [{ amount: 100, interval: 'monthly', categories: ['5812'] }]
    expect(written(version, { spending_limits: limits })).toEqual({ spending_limits: limits })
  })
  test('an answer does not change what it was made from', () => {
    const stored = Object.freeze({ blocked_categories: Object.freeze(['7995']) })
    expect(() => answer(version, 'getCard', Object.freeze(card(stored)))).not.toThrow()
  })
  test('a fault is told by the caller’s own name, up to where the structure is the same', () => {
    const { downField } = operation(version, 'createCard')
    expect(downField!('spending_controls.blocked_categories[3]')).toBe('spending_controls.allowed_categories')
    expect(downField!('spending_controls.blocked_countries[0]')).toBe(
      'spending_controls.blocked_countries[0]',
    )
    expect(downField!('cardholder_id')).toBe('cardholder_id')
  })
})

describe('merchant categories before 2026-02-01', () => {
  const transaction = (code: string, reason: string | null = null) => ({
    id: 'ctx_1',
    merchant: { name: 'HARBOR DINER', category_code: code },
    decline_reason: reason && { code: reason, message: 'No.' },
    decision_id: 'azd_1',
  })
  const label = (code: string) =>
    answer('2025-11-01', 'getCardTransaction', transaction(code)).merchant.category_code
  const codes = (name: string): string[] =>
    query('2025-11-01', 'listCardTransactions', { category_code: [name] }).category_code

  test.each([
    ['5812', 'restaurants'],
    ['3000', 'airlines'],
    ['3350', 'airlines'],
    ['4511', 'airlines'],
    ['3351', 'car_rental'],
    ['3500', 'car_rental'],
    ['3501', 'lodging'],
    ['3999', 'lodging'],
    ['0000', 'miscellaneous'],
    ['9998', 'miscellaneous'],
  ])('before 2026-02-01 the merchant category %s shows as %s', (code, name) => expect(label(code)).toBe(name))
  test('a filter matches exactly the codes that show as its label, those outside the catalogue too', () => {
    expect(codes('airlines')).toHaveLength(352)
    expect(codes('miscellaneous')).toContain('9998')
    for (const name of ['airlines', 'car_rental', 'restaurants', 'miscellaneous']) {
      expect(codes(name).every((code) => label(code) === name)).toBe(true)
    }
    const all = versionLabels().flatMap(codes)
    expect(new Set(all).size).toBe(10_000)
    expect(all).toHaveLength(10_000)
  })
  test('a label in a request means its primary code, which shows as that label again', () => {
    for (const name of versionLabels()) {
      const { merchant } = body('2025-11-01', 'simulateAuthorization', {
        merchant: { name: 'M', category_code: name },
      })
      expect(label(merchant.category_code)).toBe(name)
    }
  })
  test('decisions show as transaction_not_allowed, and their ids not at all', () => {
    for (const reason of ['decision_declined', 'decision_timed_out', 'decision_errored']) {
      const read = answer('2025-11-01', 'getCardTransaction', transaction('5812', reason))
      expect(read.decline_reason.code).toBe('transaction_not_allowed')
      expect(read).not.toHaveProperty('decision_id')
      const later = answer('2026-02-01', 'getCardTransaction', transaction('5812', reason))
      expect(later.decline_reason.code).toBe(reason)
      expect(later.decision_id).toBe('azd_1')
    }
    expect(answer('2025-11-01', 'getCardTransaction', transaction('5812')).decline_reason).toBeNull()
  })
  test('reasons of the controls of uses show as reasons that versions before 2026-05-19 have', () => {
    const shown = {
      merchant_blocked: 'transaction_not_allowed',
      merchant_limit_exceeded: 'spending_limit_exceeded',
      check_failed: 'transaction_not_allowed',
    }
    for (const version of ['2025-11-01', '2026-02-01'])
      for (const [reason, old] of Object.entries(shown)) {
        const read = answer(version, 'getCardTransaction', transaction('5812', reason))
        expect(read.decline_reason.code).toBe(old)
      }
  })
  test('events before 2026-02-01 show merchant categories by name', () => {
    const declined = {
      type: 'card.transaction.declined',
      data: { card_transaction: transaction('5812', 'decision_errored') },
    }
    const { data } = event('2025-11-01', 'card.transaction.declined', declined)
    expect(data.card_transaction.merchant.category_code).toBe('restaurants')
    expect(data.card_transaction.decline_reason.code).toBe('transaction_not_allowed')
  })
  test('merchant categories from 2026-02-01 on are codes', () => {
    expect(answer('2026-02-01', 'getCardTransaction', transaction('5812')).merchant.category_code).toBe(
      '5812',
    )
    expect(operation('2026-02-01', 'listCardTransactions').upQuery).toBeUndefined()
  })
})

function versionLabels(): string[] {
  const labels = new Set<string>()
  for (let code = 0; code < 10_000; code += 1) {
    const merchant = { category_code: String(code).padStart(4, '0') }
    labels.add(answer('2025-11-01', 'getCardTransaction', { merchant }).merchant.category_code)
  }
  return [...labels]
}

describe.each(OLD)('disputes and settlement lines in %s', (version) => {
  test('customer_dispute is customer_complaint in bodies, filters, answers and events', () => {
    expect(body(version, 'createDispute', { reason: 'customer_dispute' })).toEqual({
      reason: 'customer_complaint',
    })
    expect(query(version, 'listDisputes', { reason: ['customer_dispute'] })).toEqual({
      reason: ['customer_complaint'],
    })
    expect(answer(version, 'getDispute', { reason: 'customer_complaint' })).toEqual({
      reason: 'customer_dispute',
    })
    const { data } = event(version, 'dispute.created', {
      data: { dispute: { reason: 'customer_complaint' } },
    })
    expect(data.dispute.reason).toBe('customer_dispute')
  })
  test('other dispute reasons are the same in both versions', () => {
    expect(body(version, 'createDispute', { reason: 'fraudulent' })).toEqual({ reason: 'fraudulent' })
    expect(answer(version, 'getDispute', { reason: 'other' })).toEqual({ reason: 'other' })
  })
  test.each([
    ['cardTransaction', 'card_transaction'],
    ['cardRefund', 'card_refund'],
    ['interchange', 'interchange'],
    ['networkFee', 'network_fee'],
    ['dispute', 'dispute'],
    ['disputeReversal', 'dispute_reversal'],
    ['programFunding', 'program_funding'],
    ['adjustment', 'adjustment'],
  ])('a line of type %s is stored as %s', (old, now) => {
    expect(query(version, 'listSettlementLines', { type: [old] })).toEqual({ type: [now] })
    const page = answer(version, 'listSettlementLines', { data: [{ type: now }] })
    expect(page.data[0].type).toBe(old)
    const settlement = answer(version, 'getSettlement', { lines: [{ type: now }] })
    expect(settlement.lines[0].type).toBe(old)
  })
})

describe('events and endpoints', () => {
  const endpoint = {
    enabled_events: [
      'pass.created',
      'card.created',
      'authorization_decision.errored',
      'cardholder.sanctions.alert',
    ],
  }
  test.each([
    ['2025-06-01', 1],
    ['2025-11-01', 2],
    ['2026-02-01', 3],
    ['2026-05-19', 4],
  ])('%s shows the %d types of an endpoint that it has', (version, count) => {
    expect(answer(version, 'getWebhookEndpoint', endpoint).enabled_events).toEqual(
      endpoint.enabled_events.slice(0, count),
    )
  })
  test('lists of events leave out what the version does not have', () => {
    const page = {
      data: endpoint.enabled_events.map((type) => ({ type })),
      has_more: false,
      next_cursor: null,
    }
    expect(answer('2025-11-01', 'listEvents', page).data).toEqual([
      { type: 'pass.created' },
      { type: 'card.created' },
    ])
  })
  test('the signature travels under the header of the version', () => {
    const header = (version: string) => events[version]!['pass.created']!.headers['Service-Signature']
    expect(header('2025-06-01')).toBe('X-Service-Signature')
    expect(header('2025-11-01')).toBe('X-Service-Signature')
    expect(header('2026-02-01')).toBe('Service-Signature')
    expect(header('2026-05-19')).toBe('Service-Signature')
  })
  test('a type is there from the version that brought it on', () => {
    expect(events['2025-06-01']!['card.created']).toBeUndefined()
    expect(events['2026-02-01']!['cardholder.sanctions.alert']).toBeUndefined()
    expect(events['2026-05-19']!['cardholder.sanctions.alert']!.since).toBe('2026-05-19')
    expect(events['2026-02-01']!['card.created']!.since).toBe('2025-11-01')
  })
  test('previous_attributes are for 2026-05-19 alone', () => {
    const updated = { data: { pass: {} }, previous_attributes: { status: 'issued' } }
    expect(event('2026-02-01', 'pass.updated', updated)).toEqual({ data: { pass: {} } })
    expect(event('2026-05-19', 'pass.updated', updated)).toEqual(updated)
  })
})

test('a schema that no change touches has no translation', () => {
  expect(operation('2025-06-01', 'getMe').down).toBeUndefined()
  expect(operation('2025-06-01', 'createPass').upBody).toBeUndefined()
  for (const each of versions.at(-1)!.operations) {
    expect([each.upQuery, each.upBody, each.down, each.downField]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  }
})

test('include_archived is taken from before 2026-05-19 without effect', () => {
  expect(query('2026-02-01', 'listPasses', { include_archived: true, limit: 3 })).toEqual({ limit: 3 })
  expect(operation('2026-05-19', 'listPasses').upQuery).toBeUndefined()
})
