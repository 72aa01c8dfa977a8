/** What a card has spent against its limits, as the next authorization will count it. */
import type { components } from '../../../../generated/canonical/types.ts'
import { labelOf } from '../../../cards/merchant-categories/catalogue.ts'
import { nextPeriod } from '../../../cards/transactions/periods.ts'
import { readSpending } from '../../../cards/transactions/spending.ts'
import { type Html, html } from '../../../platform/html.ts'
import { words, writeMoney } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { meter } from '../../html/records.ts'
import { writeDay, writePart } from './money-texts.ts'

type Schemas = components['schemas']
type Limit = Schemas['SpendingLimit']

const CURRENCY = 'usd'

export async function writeSpending(
  { id, spending_controls }: Pick<Schemas['Card'], 'id' | 'spending_controls'>,
  visit: DashboardVisit,
): Promise<Html> {
  const { spending_limits: limits, max_authorization_count: count } = spending_controls
  if (limits.length === 0 && count === null)
    return html`<p class="empty">No spending limits. The card can spend the full available balance.</p>`
  const { db, space } = await visit.place()
  const now = visit.operator.clock.service(visit.environment)
  const spending = await readSpending(db, space, id, now)
  if (!spending) throw new Error(`card ${id} has no cardholder`)
  return html`${limits.map((limit, index) => writeLimit(limit, spending.spent[index]!, now))}${
    count !== null &&
    meter({
      text: `${spending.authorizations} of ${count}`,
      name: 'Authorizations',
      part: count === 0 ? 1 : spending.authorizations / count,
      more: `${Math.max(0, count - spending.authorizations)} left. Does not reset.`,
    })
  }`
}

function writeLimit({ amount, interval, categories }: Limit, spent: number, now: number): Html {
  const name = words(interval)
  const only =
    categories &&
    `Only for ${categories.map((code) => `${labelOf(code).replaceAll('_', ' ')} (${code})`).join(', ')}.`
  if (interval === 'per_authorization')
    return meter({ name, text: `At most ${writeMoney(amount, CURRENCY)}`, more: only ?? '' })
  const next = nextPeriod(interval, now)
  const left = `${writeMoney(Math.max(0, amount - spent), CURRENCY)} left.`
  const reset = next === undefined ? 'Does not reset.' : `Resets on ${writeDay(next)}, 00:00 UTC.`
  return meter({
    name,
    text: writePart(spent, amount, CURRENCY),
    part: amount === 0 ? 1 : spent / amount,
    more: [left, reset, only].filter(Boolean).join(' '),
  })
}
