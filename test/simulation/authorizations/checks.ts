/** What must be true of authorizations that a merchant's endpoint was asked about. */
import type { Database } from '../../../runtime/database/database.ts'
import type { Merchant } from '../merchant.ts'
import { type AuthorizationAnswer, type Authorizers, STAND_IN } from './authorizers.ts'

interface DecisionRow {
  readonly id: string
  readonly status: 'pending' | 'responded' | 'timed_out' | 'errored'
  readonly approved: boolean | null
  readonly amount: number | null
  readonly decline_reason: string | null
  readonly default_action_used: boolean
  readonly requested: number
  readonly authorized: number
  readonly decline_code: string | null
  readonly decision_id: string | null
}

const TEXT = `SELECT d.id, d.status, d.approved, d.amount, d.decline_reason, d.default_action_used,
                     t.requested, t.authorized, t.decline_code, t.decision_id
                FROM sandbox.authorization_decisions d
                LEFT JOIN sandbox.card_transactions t ON t.tenant_id = d.tenant_id AND t.id = d.card_transaction_id
               WHERE d.tenant_id = $1 ORDER BY d.id`

/** Returns the reason to decline and the most cents that the endpoint or the stand-in rule allows. */
function ruleOf(row: DecisionRow): { readonly declined?: string; readonly most: number } {
  const { status, requested, approved, amount, decline_reason } = row
  if (status === 'responded')
    return approved
      ? { most: amount ?? requested }
      : { declined: decline_reason ?? 'decision_declined', most: 0 }
  return requested <= STAND_IN.default_max_amount
    ? { most: requested }
    : { declined: `decision_${status}`, most: 0 }
}

/** Returns what is wrong with the stored answer; undefined if it is the one that the endpoint gave. */
function findUntrueAnswer(row: DecisionRow, answer: AuthorizationAnswer | undefined): string | undefined {
  const given = answer?.given
  if (row.default_action_used !== (row.status !== 'responded'))
    return `is ${row.status}, with default_action_used ${row.default_action_used}`
  // The service stores a late answer too.
  if (row.approved === null) return row.status === 'responded' ? 'is responded, without an answer' : undefined
  const stored = JSON.stringify([row.approved, row.amount, row.decline_reason])
  const wanted = given && JSON.stringify([given.approved, given.amount ?? null, given.decline_reason ?? null])
  return stored === wanted ? undefined : `has the answer ${stored}; the endpoint gave ${wanted ?? 'none'}`
}

/**
 * Returns what is wrong with the transaction. The rules of the card can decline what the merchant approves, and never
 * approve what the merchant declines.
 */
function findUntrueAmount(row: DecisionRow): string | undefined {
  const { requested, authorized, decline_code, decision_id, id } = row
  if (decision_id !== id) return `has a transaction of the decision ${decision_id}`
  const { declined, most } = ruleOf(row)
  if (decline_code !== null && authorized !== 0) return `was declined, with ${authorized} authorized`
  if (declined === undefined) {
    if (decline_code?.startsWith('decision_') || decline_code === 'suspected_fraud')
      return `was approved, and its transaction was declined: ${decline_code}`
    if (decline_code === null && authorized !== most)
      return `allows ${most} of ${requested}, and its transaction authorized ${authorized}`
    return undefined
  }
  return decline_code === null ? `was declined: ${declined}, and its transaction was authorized` : undefined
}

/** Each question has ended, and its transaction follows the endpoint's answer, or the stand-in rule without an answer. */
export async function authorizationsFollowTheMerchant(
  { db, authorizers }: { readonly db: Database; readonly authorizers: Authorizers },
  { tenantId, name }: Merchant,
): Promise<void> {
  const { rows } = await db.query<DecisionRow>({ text: TEXT }, [tenantId])
  for (const row of rows) {
    const wrong =
      row.status === 'pending'
        ? 'is still pending'
        : (findUntrueAnswer(row, authorizers.answers.get(row.id)) ?? findUntrueAmount(row))
    if (wrong !== undefined) throw new Error(`decision ${row.id} of ${name} ${wrong}`)
  }
}
