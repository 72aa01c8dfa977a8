/** Held-up payouts, for operators: list them, retry them and decide their outcome. */
import type { Database, Statement } from '../database/database.ts'
import { readSpace } from '../database/space.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { ControlError, change, isoTime, type Operator } from '../tenants/admin/change.ts'
import { requireTenant } from '../tenants/admin/tenants.ts'
import { findSpaces } from './ledger.ts'

const listIn = (environment: Environment) => `
  (SELECT '${environment}' AS environment, 'signing' AS stage, c.tenant_id AS space, c.id, c.held_up_since, c.problem
     FROM ${environment}.chain_transfers c WHERE c.held_up_since IS NOT NULL ORDER BY c.held_up_since LIMIT 100)
  UNION ALL
  (SELECT '${environment}', 'bank', b.tenant_id, b.id, b.held_up_since, b.problem
     FROM ${environment}.bank_transfers b WHERE b.held_up_since IS NOT NULL ORDER BY b.held_up_since LIMIT 100)`

/** Lists the oldest of each stage. A row of stage `account` represents all payouts that the account would sign. */
export const HELD_UP = `SELECT * FROM (
  ${ENVIRONMENTS.map(listIn).join(' UNION ALL ')}
  UNION ALL
  (SELECT p.environment, 'chain', p.space, p.transfer_id, p.held_up_since, p.problem
     FROM control.chain_payments p WHERE p.state = 'open' AND p.held_up_since IS NOT NULL
    ORDER BY p.held_up_since LIMIT 100)
  UNION ALL
  (SELECT NULL, 'account', NULL, s.address, s.held_up_since, s.problem
     FROM control.chain_signers s WHERE s.problem IS NOT NULL)
) AS h ORDER BY h.held_up_since`

export interface HeldUpRow {
  readonly environment: Environment | null
  /** `signing`: not signed yet; `chain`: signed; `bank`: in a bank transfer; `account`: the signer account. */
  readonly stage: 'signing' | 'chain' | 'bank' | 'account'
  readonly space: string | null
  /** ID of the payout, or address of the account. */
  readonly id: string
  /** Machine time. */
  readonly held_up_since: number | null
  readonly problem: string | null
}

/** Returns what is held up, oldest first, at most 100 rows of each stage. */
export async function listHeldUp(control: Database): Promise<readonly HeldUpRow[]> {
  return (await control.query<HeldUpRow>({ text: HELD_UP })).rows
}

/** Returns the same rows in the form for operators. */
export async function showHeldUp({ control }: Operator): Promise<object> {
  const rows = await listHeldUp(control)
  const held_up = rows.map(({ space, held_up_since, ...row }) => ({
    ...row,
    tenant_id: space === null ? null : readSpace(space).tenantId,
    held_up_since: isoTime(held_up_since),
  }))
  return { held_up }
}

/** Outcomes that an operator can record for a payout that is held up after it was signed or sent. */
export const PAYOUT_OUTCOMES = ['paid', 'failed'] as const
type PayoutOutcome = (typeof PAYOUT_OUTCOMES)[number]

const PAYMENT: Statement = {
  text: `UPDATE control.chain_payments SET decision = $3, hash = coalesce($4, hash)
          WHERE environment = $1 AND transfer_id = $2 AND state = 'open' AND held_up_since IS NOT NULL`,
}

const retryTransferIn = (environment: Environment): Statement => ({
  text: `UPDATE ${environment}.chain_transfers SET due = '-infinity', held_up_since = NULL, problem = NULL
          WHERE tenant_id = $1 AND id = $2 AND due IS NOT NULL AND held_up_since IS NOT NULL`,
})

const bankIn = (environment: Environment): Statement => ({
  text: `UPDATE ${environment}.bank_transfers
            SET due = to_timestamp(0), token = NULL, failures = 0, held_up_since = NULL, problem = NULL, decision = $3
          WHERE tenant_id = $1 AND id = $2 AND due IS NOT NULL AND held_up_since IS NOT NULL`,
})

/**
 * Makes workers retry a held-up payout immediately. Throws `not_found` if the tenant does not exist, and `conflict` if
 * the payout is not held up.
 */
export function retryPayout(operator: Operator, tenantId: string, id: string): Promise<object> {
  return carryOut(operator, tenantId, id, null)
}

/**
 * Records the outcome of a payout that was signed or sent and whose chain or bank returned contradictory answers. A
 * worker posts the decision to the ledger; a chain payment fails only after its authorization has expired. Throws like
 * `retryPayout`.
 *
 * @param transaction hash of the transaction that shows the outcome; for a payment on a chain only. If it is absent, the
 *   payout names the transaction that the node has shown, or else the newest that was signed.
 */
export function decidePayout(
  operator: Operator,
  tenantId: string,
  id: string,
  outcome: PayoutOutcome,
  transaction?: string,
): Promise<object> {
  return carryOut(operator, tenantId, id, outcome, transaction)
}

async function carryOut(
  operator: Operator,
  tenantId: string,
  id: string,
  outcome: PayoutOutcome | null,
  transaction?: string,
): Promise<object> {
  await requireTenant(operator.control, tenantId)
  const spaces = await findSpaces(operator.control, tenantId)
  return change(operator, async (tx, note) => {
    for (const environment of ENVIRONMENTS) {
      const place = [spaces[environment], id]
      const changed = [
        ...(outcome === null ? [await tx.query(retryTransferIn(environment), place)] : []),
        ...(transaction === undefined ? [await tx.query(bankIn(environment), [...place, outcome])] : []),
        await tx.query(PAYMENT, [environment, id, outcome ?? 'retry', transaction]),
      ]
      if (!changed.some(({ count }) => count > 0)) continue
      note({
        ...{ tenantId, environment, targetId: id },
        action: outcome === null ? 'payout.retried' : `payout.decided_${outcome}`,
      })
      return { id, environment, ...(outcome === null ? { retried: true } : { decided: outcome }) }
    }
    const after = transaction === undefined ? 'it was signed or sent' : 'it was signed'
    const what = outcome === null ? 'held up' : `held up after ${after}`
    throw new ControlError(
      'conflict',
      `payout ${id} is not ${what}; list such payouts with admin payout held-up`,
    )
  })
}
