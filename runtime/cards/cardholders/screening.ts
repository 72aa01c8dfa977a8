/** Screens a cardholder against the current sanctions list, and works out its new status and alerts. */

import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { type EventSink, emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import type { ListInUse } from '../sanctions/list-in-use.ts'
import type { Match } from '../sanctions/matcher.ts'
import { type AlertRow, insertAlert, readAlertsOf, showAlert, updateAlert } from './alerts.ts'
import type { CardholderRow } from './queries.ts'

/**
 * List name of alerts created by `simulateSanctionsMatch`. No real list has this name, so screening never changes these
 * alerts.
 */
export const SIMULATED_LIST = 'Simulated list'

export interface Screener {
  readonly db: Database
  readonly space: string
  readonly list: ListInUse
  /** Service time. */
  readonly now: number
}

/** A screened cardholder and its alerts, not written yet. */
export interface Screened {
  readonly row: CardholderRow
  readonly raised: readonly AlertRow[]
  readonly changed: readonly AlertRow[]
}

/**
 * Screens a cardholder and returns what to write.
 * @param row a locked cardholder, or one that is not written yet.
 */
export async function screen({ db, space, list, now }: Screener, row: CardholderRow): Promise<Screened> {
  const matches = list.match(row)
  const isNews = matches.length > 0 || row.sanctions_status === 'potential_match'
  const alerts = isNews ? await readAlertsOf(db, space, row.id) : []
  const raised = matches.flatMap((match) => raise(row, match, alerts, list.name, now))
  const changed = alerts.flatMap((alert) => follow(alert, matches, list.name, now))
  const isOpen = raised.length > 0 || alerts.some(({ status }) => status === 'open')
  return {
    row: {
      ...row,
      sanctions_status: isOpen ? 'potential_match' : 'clear',
      last_screened_at: now,
      list_version: list.version,
      list_number: list.number,
    },
    raised,
    changed,
  }
}

const isOn = (alert: AlertRow, { entry }: Match, listName: string) =>
  alert.list_name === listName && alert.entry_id === entry.id

/** Returns a new alert, unless an alert on the entry is open, or the entry is unchanged since its alert was dismissed. */
function raise(
  { id }: CardholderRow,
  match: Match,
  alerts: readonly AlertRow[],
  listName: string,
  now: number,
): AlertRow[] {
  const before = alerts.filter((alert) => isOn(alert, match, listName))
  if (before.some(({ status, entry_hash }) => status === 'open' || entry_hash === match.entry.hash)) return []
  return [
    {
      id: newId('sal', now),
      cardholder_id: id,
      kind: before.length > 0 ? 'updated_match' : 'new_match',
      status: 'open',
      list_name: listName,
      entry_id: match.entry.id,
      note: null,
      resolved_at: null,
      created: now,
      updated: now,
      ...evidenceOf(match),
    },
  ]
}

const evidenceOf = ({ entry, score, fields }: Match) => ({
  entry_hash: entry.hash,
  score,
  matched_fields: fields,
})

/** Updates an open alert if its list entry changed or is gone. An operator must still resolve the alert. */
function follow(alert: AlertRow, matches: readonly Match[], listName: string, now: number): AlertRow[] {
  if (alert.status !== 'open' || alert.list_name === SIMULATED_LIST) return []
  const match = matches.find((each) => isOn(alert, each, listName))
  if (!match) return alert.kind === 'cleared' ? [] : [{ ...alert, kind: 'cleared', updated: now }]
  if (match.entry.hash === alert.entry_hash && alert.kind !== 'cleared') return []
  return [{ ...alert, kind: 'updated_match', ...evidenceOf(match), updated: now }]
}

/** Writes the alerts of a screening. The caller writes the cardholder. */
export function writeAlerts({ db, space }: Pick<Screener, 'db' | 'space'>, screened: Screened): void {
  for (const alert of screened.raised) pipelined(insertAlert(db, space, alert))
  for (const alert of screened.changed) pipelined(updateAlert(db, space, alert))
}

/** Emits an event for each new alert, if the cardholder was clear before. */
export function emitAlerts(
  events: EventSink,
  before: Pick<CardholderRow, 'sanctions_status'>,
  raised: readonly AlertRow[],
): void {
  if (before.sanctions_status !== 'clear') return
  for (const alert of raised) {
    emit(events, { type: 'cardholder.sanctions.alert', data: { sanctions_alert: showAlert(alert) } })
  }
}
