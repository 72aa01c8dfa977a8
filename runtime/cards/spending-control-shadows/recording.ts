/** Writes what shadows find, in the transaction of the authorization. */
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { toTimestamp } from '../../database/types.ts'
import { newId } from '../../platform/ids.ts'
import type { CardTransactionRow } from '../transactions/queries.ts'
import type { JudgedShadow } from './judging.ts'

/** Returns the name of the shadow of a draft's version, for example `scd_01jxf19g8h7j6k5m4n3p2q1r0s/2`. */
export const shadowOf = (draftId: string, version: number): string => `${draftId}/${version}`

const ADD: Statement = {
  name: 'spending_control_shadow_totals_add',
  text: `INSERT INTO spending_control_shadow_totals AS t (tenant_id, shadow, card_id, outcome, code, count, amount)
         SELECT d.tenant_id, f.shadow, $2, f.outcome, f.code, 1, $3::bigint
           FROM json_to_recordset($4) AS f (draft_id text, shadow text, outcome text, code text)
          CROSS JOIN LATERAL (SELECT tenant_id FROM spending_control_drafts d WHERE d.tenant_id = $1 AND d.id = f.draft_id OFFSET 0) AS d
         ON CONFLICT (tenant_id, shadow, card_id, outcome, code)
         DO UPDATE SET count = t.count + 1, amount = least(t.amount + excluded.amount, 9007199254740991)`,
}

const INSERT_FLIPS: Statement = {
  name: 'spending_control_shadow_flips_insert',
  text: `INSERT INTO spending_control_flips (tenant_id, backtest_id, id, card_transaction_id, card_id, change, code, rule, amount, recorded_amount,
                                             draft_amount, created)
         SELECT d.tenant_id, f.shadow, f.id, $2, $3, f.change, f.code, f.rule, $4::bigint, f.recorded_amount, f.draft_amount,
                $5::timestamptz
           FROM json_to_recordset($6) AS f (draft_id text, shadow text, id text, change text, code text, rule text,
                                            recorded_amount bigint, draft_amount bigint)
          CROSS JOIN LATERAL (SELECT tenant_id FROM spending_control_drafts d WHERE d.tenant_id = $1 AND d.id = f.draft_id OFFSET 0) AS d`,
}

const CHANGES = {
  would_decline: 'approved_to_declined',
  would_approve: 'declined_to_approved',
  would_change_amount: 'amount_changed',
  same: undefined,
  fixed: undefined,
  failed: undefined,
} as const satisfies Record<JudgedShadow['outcome'], string | undefined>

interface RecordingPlace {
  readonly db: Database
  readonly space: string
  /** Service time. */
  readonly now: number
}

/**
 * Adds what the shadows of a decision found to their totals, and writes the flips. The caller has locked the card.
 * @param amount requested cents.
 */
export function recordShadows(
  { db, space, now }: RecordingPlace,
  { id: transactionId, card_id }: Pick<CardTransactionRow, 'id' | 'card_id'>,
  amount: number,
  judged: readonly JudgedShadow[],
): void {
  if (judged.length === 0) return
  const found = judged.map((each) => {
    const { spending_control_draft_id: draft_id, version, outcome, code, rule, cause, amounts } = each
    const shadow = shadowOf(draft_id, version)
    return {
      id: newId('scf', now),
      draft_id,
      shadow,
      change: CHANGES[outcome],
      code,
      rule,
      cause,
      ...amounts,
    }
  })
  const counted = found.map(({ draft_id, shadow, change, code, cause }) => {
    const outcome = change ?? (cause === null ? 'same' : 'fixed')
    return { draft_id, shadow, outcome, code: code ?? cause ?? '' }
  })
  pipelined(db.query(ADD, [space, card_id, amount, JSON.stringify(counted)]))
  const flips = found.filter(({ change }) => change !== undefined)
  if (flips.length === 0) return
  const values = [space, transactionId, card_id, amount, toTimestamp(now), JSON.stringify(flips)]
  pipelined(db.query(INSERT_FLIPS, values))
}
