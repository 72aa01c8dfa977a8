/** Checks for payouts that wait for an operator. */
import type pg from 'pg'
import { HELD_UP, type HeldUpRow } from '../held-up-payouts.ts'
import { type Finding, ok, warn } from './finding.ts'

/** The migration that added held-up payouts. */
const MIGRATION = '0081_payouts_held_up'

/** Number of payouts to name. */
const NAMED = 3

/** Reports the payouts that are held up, with reasons. Reports nothing before the migration. */
export async function checkPayouts(
  client: pg.Client,
  { applied }: { readonly applied: ReadonlyMap<string, unknown> },
): Promise<readonly Finding[]> {
  if (!applied.has(MIGRATION)) return []
  const { rows } = await client.query<Omit<HeldUpRow, 'held_up_since'> & { readonly held_up_since: Date }>(
    HELD_UP,
  )
  if (rows.length === 0) return [ok('payouts', 'no payouts are held up')]
  const named = rows.slice(0, NAMED).map(({ id, stage, environment, held_up_since, problem }) => {
    const since = held_up_since instanceof Date ? held_up_since.toISOString() : `${held_up_since}`
    return `${id} (${environment === null ? stage : `${environment}, ${stage}`}, since ${since}): ${problem}`
  })
  const more = rows.length > NAMED ? `; and ${rows.length - NAMED} more` : ''
  const todo = 'list them with `admin payout held-up`, then run `admin payout retry` or `admin payout decide`'
  return [warn('payouts', `${rows.length} held up: ${named.join('; ')}${more}; ${todo}`)]
}
