/** Reads the earlier uses of a card that its spending controls depend on. */
import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { periodsOf } from './periods.ts'
import { type EarlierUses, type MerchantOfUse, merchantKey, NO_USES, needUses } from './use-rules.ts'

type Schemas = components['schemas']
type Interval = Schemas['RuleInterval']

/** The intervals with the parameter that has their first day. */
const FIRST_DAYS = { daily: '$5', weekly: '$6', monthly: '$7', yearly: '$8' } as const

const FIGURES = [...Object.entries(FIRST_DAYS), ['all_time', undefined] as const].map(([interval, first]) => {
  const inInterval = first === undefined ? 'true' : `u.created >= ${first}::date`
  return `least(coalesce(sum(u.spent) FILTER (WHERE u.key = $3 AND ${inInterval}), 0), 9007199254740991)::bigint AS ${interval}_spent,
          count(DISTINCT u.key) FILTER (WHERE u.is_use AND ${inInterval}) AS ${interval}_merchants,
          coalesce(bool_or(u.is_use AND u.key = $3) FILTER (WHERE ${inInterval}), false) AS ${interval}_known`
})

/** The conditions on status and type let the index on both and on `created` find the rows. Declined uses are no uses. */
const READ_USES: Statement = {
  name: 'card_uses_read',
  text: `SELECT ${FIGURES.join(',\n          ')},
                coalesce(bool_or(u.is_use AND u.country = $4), false) AS is_country_known
           FROM (SELECT t.created, t.held + t.cleared AS spent, t.authorized > 0 OR t.cleared > 0 AS is_use,
                        coalesce('id:' || (t.merchant->>'network_id'), 'name:' || (t.merchant->>'name')) AS key,
                        t.merchant->>'country' AS country
                   FROM card_transactions t
                  WHERE t.tenant_id = $1 AND t.card_id = $2
                    AND t.status IN ('authorized', 'reversed', 'expired', 'cleared')
                    AND t.type IN ('purchase', 'cash_withdrawal') AND t.created >= $9) AS u`,
}

type Figures = Readonly<
  Record<`${Interval}_spent` | `${Interval}_merchants`, number> & Record<`${Interval}_known`, boolean>
> & { readonly is_country_known: boolean }

/**
 * Returns the earlier uses of a card, as far as its controls depend on them. The caller has locked the card.
 * @param now service time.
 */
export async function readUses(
  db: Database,
  tenantId: string,
  cardId: string,
  controls: Schemas['SpendingControls'],
  merchant: MerchantOfUse,
  now: number,
): Promise<EarlierUses> {
  if (!needUses(controls)) return NO_USES
  const { day, week, month, year } = periodsOf(now)
  const { merchant_limits = [], merchant_count_limits = [], first_use_abroad } = controls
  const days: Readonly<Partial<Record<Interval, string>>> = {
    daily: day,
    weekly: week,
    monthly: month,
    yearly: year,
  }
  const firsts = [...merchant_limits, ...merchant_count_limits].map(
    ({ interval }) => days[interval] ?? '1970-01-01',
  )
  const from = first_use_abroad ? '1970-01-01' : firsts.toSorted()[0]!
  const { rows } = await db.query<Figures>(READ_USES, [
    tenantId,
    cardId,
    merchantKey(merchant),
    merchant.country,
    day,
    week,
    month,
    year,
    from,
  ])
  const figures = rows[0]!
  return {
    spent: merchant_limits.map(({ interval }) => figures[`${interval}_spent`]),
    merchants: merchant_count_limits.map(({ interval }) => ({
      count: figures[`${interval}_merchants`],
      isKnown: figures[`${interval}_known`],
    })),
    isCountryKnown: figures.is_country_known,
  }
}
