/** Alerts of low balances: each time that the balance crosses the threshold is noted, and told if it is low. */
import type { Merchant } from '../merchant.ts'
import { type Evidence, read, rowsOf, sandboxEventsOf } from './evidence.ts'
import { fail, mustEqual } from './must.ts'

interface AlertRow {
  readonly threshold: number | null
  readonly is_low: boolean
  readonly updated: number
}

/** A crossing is noted within this time, and one late poll. */
const SOON_MS = 3_600_000

export async function alertsAreRight(evidence: Evidence, merchant: Merchant): Promise<void> {
  const [alert] = await rowsOf<AlertRow>(evidence, 'sandbox', merchant, 'balance_alerts', 'tenant_id')
  const entries = await rowsOf<{ account_id: string; created: number }>(
    evidence,
    'sandbox',
    merchant,
    'ledger_entries',
  )
  const [account] = await read<{ available: number }>(
    evidence.db,
    `SELECT balance - held AS available FROM sandbox.ledger_accounts WHERE tenant_id = $1 AND id = 'program_funds'`,
    merchant.tenantId,
  )
  const entriesOf = async (action: string) =>
    (
      await read<{ created: number }>(
        evidence.db,
        `SELECT created FROM sandbox.audit_log WHERE tenant_id = $1 AND action = $2 AND target_id = 'balance_alert' ORDER BY created`,
        ...[merchant.tenantId, action],
      )
    ).map(({ created }) => created)
  const events = await sandboxEventsOf(evidence, merchant)
  const told = events.filter(({ type }) => type === 'balance.low')
  // An older version does not have the event.
  if (merchant.isCurrent)
    mustEqual(
      told.map(({ created }) => created),
      await entriesOf('balance_alert.low'),
      `when events told ${merchant.name} of a low balance`,
    )
  for (const { body } of told) {
    const shown = JSON.parse(body).data.balance_alert
    if (shown.status !== 'low' || shown.available >= shown.threshold)
      fail(`balance.low tells of ${JSON.stringify(shown)}`)
  }
  if (!alert) return
  const last = Math.max(
    0,
    ...entries.filter(({ account_id }) => account_id === 'program_funds').map(({ created }) => created),
  )
  const isSettled = Math.max(last, alert.updated) < evidence.now - evidence.lateMs - SOON_MS
  const isLow = alert.threshold !== null && account!.available < alert.threshold
  if (isSettled) mustEqual(alert.is_low, isLow, `whether the balance of ${merchant.name} is low`)
  if (merchant.isCurrent && alert.is_low && told.length === 0)
    fail(`no event told ${merchant.name} of its low balance`)
}
