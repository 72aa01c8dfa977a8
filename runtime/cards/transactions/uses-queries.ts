/** Reads the earlier uses of a card that its spending controls depend on. */
import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { periodsOf } from './periods.ts'
import { type EarlierUses, type MerchantOfUse, merchantKey, NO_USES, needUses } from './use-rules.ts'

type Schemas = components['schemas']
type Interval = Schemas['RuleInterval']

/** As in the index `card_transactions_by_merchant`; see `merchantKey`. */
const KEY = `(coalesce('id:' || (t.merchant->>'network_id'), 'name:' || (t.merchant->>'name')) COLLATE "C")`

/** The uses of the card. Declined uses are no uses. */
const USES = `FROM card_transactions t WHERE t.tenant_id = $1 AND t.card_id = $2 AND (t.authorized > 0 OR t.cleared > 0)`

/**
 * Each subquery finds its rows by index. \`keys\` steps from one merchant of the card to the next, so its time grows with the
 * number of merchants and not with the number of transactions. It stops with the count, which stops at the limit.
 */
const READ_USES: Statement = {
  name: 'card_uses_read',
  text: `WITH RECURSIVE keys AS (
           (SELECT ${KEY} AS key ${USES} ORDER BY ${KEY} LIMIT 1)
            UNION ALL
           SELECT (SELECT ${KEY} ${USES} AND ${KEY} > k.key ORDER BY ${KEY} LIMIT 1) FROM keys k WHERE k.key IS NOT NULL
         )
         SELECT (SELECT json_agg((
                   SELECT least(coalesce(sum(t.held + t.cleared), 0), 9007199254740991)::bigint
                     ${USES} AND ${KEY} = $3 AND t.created >= f.first
                 ) ORDER BY f.place) FROM unnest($4::date[]) WITH ORDINALITY AS f (first, place)) AS spent,
                (SELECT json_agg(json_build_object(
                   'count', (SELECT count(*) FROM (
                     SELECT FROM keys k WHERE EXISTS (SELECT ${USES} AND ${KEY} = k.key AND t.created >= f.first) LIMIT f.most
                   ) AS counted),
                   'isKnown', EXISTS (SELECT ${USES} AND ${KEY} = $3 AND t.created >= f.first)
                 ) ORDER BY f.place) FROM unnest($5::date[], $6::bigint[]) WITH ORDINALITY AS f (first, most, place)) AS merchants,
                EXISTS (SELECT ${USES} AND t.merchant->>'country' = $7) AS is_country_known`,
}

interface Figures {
  readonly spent: EarlierUses['spent'] | null
  readonly merchants: EarlierUses['merchants'] | null
  readonly is_country_known: boolean
}

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
  const firsts: Readonly<Record<Interval, string>> = {
    daily: day,
    weekly: week,
    monthly: month,
    yearly: year,
    all_time: '1970-01-01',
  }
  const { rows } = await db.query<Figures>(READ_USES, [
    tenantId,
    cardId,
    merchantKey(merchant),
    merchant_limits.map(({ interval }) => firsts[interval]),
    merchant_count_limits.map(({ interval }) => firsts[interval]),
    merchant_count_limits.map(({ count }) => count),
    first_use_abroad ? merchant.country : null,
  ])
  const { spent, merchants, is_country_known } = rows[0]!
  return { spent: spent ?? [], merchants: merchants ?? [], isCountryKnown: is_country_known }
}
