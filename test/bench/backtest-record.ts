/** A year of recorded card authorizations, as rows of `card_transactions`. */
import type { components } from '../../generated/canonical/types.ts'
import { readControls } from '../../runtime/cards/programs/spending-controls.ts'
import { periodsOf } from '../../runtime/cards/transactions/periods.ts'
import { decide } from '../../runtime/cards/transactions/rules.ts'

/** The number of cards with authorizations. With the card of the bench, they are as many as can be promoted at once. */
export const CARDS = 999
const MERCHANTS = 400
const DAY_MS = 86_400_000
export const FROM = Date.UTC(2025, 0, 1)
export const TO = FROM + 365 * DAY_MS

/** The controls that decided the record, as the API takes them. */
export const ACTIVE: components['schemas']['SpendingControlsInput'] = {
  blocked_categories: ['7995'],
  blocked_merchant_names: ['*casino*', 'shop 39*'],
  spending_limits: [
    { amount: 90_000, interval: 'monthly' },
    { amount: 20_000, interval: 'daily' },
  ],
  merchant_limits: [{ amount: 15_000, interval: 'weekly' }],
  allowed_times: [
    {
      days: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
      start: '05:00',
      end: '02:00',
      time_zone: 'America/New_York',
    },
  ],
}

/** The same numbers in each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Returns the identifier of a card. The same ones are used in the record. */
export const cardId = (index: number) => `card_${String(index).padStart(26, '0')}`

/** Columns of a row, in the order of `record`. */
export const COLUMNS = `tenant_id, id, card_id, cardholder_id, type, status, merchant, category, currency, requested, authorized, held, cleared,
  refunded, reversed, disputed, entry_method, decline_code, rules, history, messages, metadata, created, updated`

const CARD = {
  status: 'active',
  frozen: false,
  cancellation_reason: null,
  exp_month: 12,
  exp_year: 2040,
  spending_controls: readControls(ACTIVE),
} as const

/** Yields rows of `COPY card_transactions`: authorizations that the controls decided, most of them cleared a day later. */
export function* record(tenantId: string, authorizations: number): Iterable<string> {
  const pick = seeded(3)
  // By card, period and merchant. They are this function's own, so that the record does not depend on the replay.
  const sums = new Map<string, number>()
  const spentIn = (key: string) => sums.get(key) ?? 0
  for (let index = 0; index < authorizations; index += 1) {
    const created = FROM + Math.floor((index * (TO - FROM)) / authorizations)
    const card = cardId(pick(CARDS))
    const shop = pick(MERCHANTS)
    const categoryCode = ['5812', '5411', '5541', '4121', '7995'][pick(40) === 0 ? 4 : pick(4)]!
    const amount = 100 + pick(9000)
    const merchant = {
      name: `Shop ${shop}`,
      category_code: categoryCode,
      network_id: `m${shop}`,
      city: null,
      country: 'US',
    }
    const { day, week, month } = periodsOf(created)
    const keys = [`month ${card} ${month}`, `day ${card} ${day}`, `week ${card} ${week} ${shop}`]
    const [inMonth, inDay, atShop] = keys.map(spentIn)
    const use = { merchant, entryMethod: 'chip', checks: {}, at: created } as const
    const { declined, rules } = decide(
      { amount, currency: 'usd', categoryCode, country: 'US', authorized: 0, wallet: null, use },
      {
        card: CARD,
        cardholder: { status: 'active', sanctions_status: 'clear' },
        spent: [inMonth!, inDay!],
        authorizations: 0,
        uses: { spent: [atShop!], merchants: [], isCountryKnown: false },
        available: Number.MAX_SAFE_INTEGER,
        wallets: [],
        now: created,
      },
    )
    const id = `ctx_${String(index).padStart(26, '0')}`
    const asked = { id: `${id}/0`, kind: 'authorization', at: created, created, amount }
    if (declined === undefined) for (const key of keys) sums.set(key, spentIn(key) + amount)
    const cleared = created + DAY_MS
    const messages =
      declined === undefined
        ? [
            { ...asked, approved: amount, expires: created + 7 * DAY_MS },
            { id: `${id}/1`, kind: 'clearing', at: cleared, created: cleared, amount },
          ]
        : [{ ...asked, declined }]
    const paid = declined === undefined ? amount : 0
    const time = new Date(created).toISOString()
    yield `${[
      ...[tenantId, id, card, `chd_${'0'.repeat(26)}`, 'purchase', declined ? 'declined' : 'cleared'],
      ...[
        JSON.stringify(merchant),
        categoryCode,
        'usd',
        amount,
        paid,
        0,
        paid,
        0,
        0,
        0,
        'chip',
        declined ?? '\\N',
      ],
      ...[JSON.stringify(rules), '[]', JSON.stringify(messages), '{}', time, time],
    ].join('\t')}\n`
  }
}
