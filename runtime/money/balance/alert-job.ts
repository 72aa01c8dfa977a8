/** Reports available balances that fall below their threshold. */
import { type DueParts, dueWorker } from '../../events/due-work.ts'
import { emit } from '../../events/emit/emit.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import { crossAlert, findCrossed, showAlert } from './alert-queries.ts'

/** In place of an identifier in the audit log: each tenant has at most one alert. */
const BALANCE_ALERT = 'balance_alert'

/**
 * Declares the worker that compares balances with thresholds. The event and the note that the balance is low are written in one
 * transaction, so each fall is reported once, whichever process is killed.
 */
export function balanceAlertWorker(parts: DueParts): DeclaredWorker {
  return dueWorker(parts, {
    name: 'balance_alerts',
    pollMs: 1000,
    finds: [findCrossed],
    async act({ db, space, events, now }) {
      const row = await crossAlert(db, space, now)
      if (!row) return []
      if (row.is_low) emit(events, { type: 'balance.low', data: { balance_alert: showAlert(row) } })
      return [{ id: BALANCE_ALERT, action: row.is_low ? 'balance_alert.low' : 'balance_alert.recovered' }]
    },
  })
}
