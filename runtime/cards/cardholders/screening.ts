/** Holds a cardholder against the list in use: what that makes of it and of the alerts on it. */

import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { type EventSink, emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import type { ListInUse } from '../sanctions/list-in-use.ts'
import type { Match } from '../sanctions/matcher.ts'
import { type AlertRow, insertAlert, readAlertsOf, showAlert, updateAlert } from './alerts.ts'
import type { CardholderRow } from './queries.ts'

/** What `simulateSanctionsMatch` calls its list: no list has its entries, so screening leaves its alerts alone. */
export const SIMULATED_LIST = 'Simulated list'

export interface Screener {
  readonly db: Database
  /** Where the tenant's data is. */
  readonly space: string
  readonly list: ListInUse
  /** Service time. */
  readonly now: number
}

/** A cardholder after its screening, to be written, and the alerts that are to be written with it. */
export interface Screened {
  readonly row: CardholderRow
  readonly raised: readonly AlertRow[]
  readonly changed: readonly AlertRow[]
}

/** @param row locked, or not written yet. */
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

/** A new alert, unless one is open on the entry or it was dismissed as it is. */
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

/** An open alert says what has become of its entry; somebody still has to resolve it. */
function follow(alert: AlertRow, matches: readonly Match[], listName: string, now: number): AlertRow[] {
  if (alert.status !== 'open' || alert.list_name === SIMULATED_LIST) return []
  const match = matches.find((each) => isOn(alert, each, listName))
  if (!match) return alert.kind === 'cleared' ? [] : [{ ...alert, kind: 'cleared', updated: now }]
  if (match.entry.hash === alert.entry_hash && alert.kind !== 'cleared') return []
  return [{ ...alert, kind: 'updated_match', ...evidenceOf(match), updated: now }]
}

/** Writes the alerts of a screening; the cardholder is written by whoever has screened it. */
export function writeAlerts({ db, space }: Pick<Screener, 'db' | 'space'>, screened: Screened): void {
  for (const alert of screened.raised) pipelined(insertAlert(db, space, alert))
  for (const alert of screened.changed) pipelined(updateAlert(db, space, alert))
}

/** Tells of new alerts on a cardholder that was clear before. */
export function tellOfAlerts(
  events: EventSink,
  before: Pick<CardholderRow, 'sanctions_status'>,
  raised: readonly AlertRow[],
): void {
  if (before.sanctions_status !== 'clear') return
  for (const alert of raised) {
    emit(events, { type: 'cardholder.sanctions.alert', data: { sanctions_alert: showAlert(alert) } })
  }
}
