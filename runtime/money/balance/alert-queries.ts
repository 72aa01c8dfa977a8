import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Due } from '../../events/due-work.ts'
import { shown } from './entries.ts'

/** The balance alert of a tenant, with the balance that it is compared with. Amounts are cents. */
export interface BalanceAlertRow {
  /** Null if the alert is off. */
  readonly threshold: number | null
  /** Whether a low balance was reported and has not recovered since. */
  readonly is_low: boolean
  readonly available: number
}

const AVAILABLE = `least(greatest(coalesce((
  SELECT a.balance - a.held FROM ledger_accounts a WHERE a.tenant_id = $1 AND a.id = 'program_funds'
), 0), -9007199254740991), 9007199254740991) AS available`

const READ: Statement = {
  name: 'balance_alerts_read',
  text: `SELECT b.threshold, coalesce(b.is_low, false) AS is_low, ${AVAILABLE}
           FROM (SELECT 1) AS one LEFT JOIN balance_alerts b ON b.tenant_id = $1`,
}

/** Returns the alert, which is off until a threshold is set. */
export async function readAlert(db: Database, tenantId: string): Promise<BalanceAlertRow> {
  return (await db.query<BalanceAlertRow>(READ, [tenantId])).rows[0]!
}

// The same threshold again does not report the same low balance again.
const SET: Statement = {
  name: 'balance_alerts_set',
  text: `INSERT INTO balance_alerts AS b (tenant_id, threshold, is_low, updated) VALUES ($1, $2, false, $3)
         ON CONFLICT (tenant_id) DO UPDATE
            SET threshold = excluded.threshold, is_low = b.is_low AND b.threshold IS NOT DISTINCT FROM excluded.threshold,
                updated = excluded.updated`,
}

/** Sets the threshold in the transaction. @param now service time. */
export function setAlert(
  tx: Database,
  tenantId: string,
  threshold: number | null,
  now: number,
): Promise<BalanceAlertRow> {
  pipelined(tx.query(SET, [tenantId, threshold, toTimestamp(now)]))
  return readAlert(tx, tenantId)
}

const CROSSED: Statement = {
  name: 'balance_alerts_crossed',
  text: `SELECT b.tenant_id FROM balance_alerts b
           LEFT JOIN ledger_accounts a ON a.tenant_id = b.tenant_id AND a.id = 'program_funds'
          WHERE b.is_low <> (coalesce(a.balance - a.held, 0) < b.threshold)
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = b.tenant_id)
          ORDER BY b.tenant_id LIMIT $1`,
}

/** Returns the tenants whose balance has crossed the threshold, in either direction. */
export async function findCrossed(db: Database, _now: number, limit: number): Promise<readonly Due[]> {
  return (await db.query<Due>(CROSSED, [limit])).rows
}

const CROSS: Statement = {
  name: 'balance_alerts_cross',
  text: `WITH held AS MATERIALIZED (
           SELECT b.threshold, b.is_low, ${AVAILABLE} FROM balance_alerts b WHERE b.tenant_id = $1 FOR UPDATE OF b
         )
         UPDATE balance_alerts b SET is_low = NOT b.is_low, updated = $2 FROM held h
          WHERE b.tenant_id = $1 AND h.is_low <> (h.available < h.threshold)
         RETURNING b.threshold, b.is_low, h.available`,
}

/**
 * Notes that the balance has crossed the threshold. Returns undefined if it has not, or if another worker noted it.
 * @param now service time.
 */
export async function crossAlert(
  db: Database,
  tenantId: string,
  now: number,
): Promise<BalanceAlertRow | undefined> {
  return (await db.query<BalanceAlertRow>(CROSS, [tenantId, toTimestamp(now)])).rows[0]
}

export function showAlert({
  threshold,
  is_low,
  available,
}: BalanceAlertRow): components['schemas']['BalanceAlert'] {
  return {
    object: 'balance_alert',
    threshold,
    status: threshold === null ? 'off' : is_low ? 'low' : 'armed',
    available: shown(available),
    currency: 'usd',
  }
}
