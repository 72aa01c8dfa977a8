import type { SanctionsAlertsHandlers, TestCardsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState, notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import {
  type AlertRow,
  insertAlert,
  listAlerts,
  readAlert,
  readAlertsOf,
  showAlert,
  updateAlert,
} from '../cardholders/alerts.ts'
import { type CardholderRow, lockCardholder, updateCardholder } from '../cardholders/queries.ts'
import { emitAlerts, SIMULATED_LIST } from '../cardholders/screening.ts'
import { cancelCardsOf } from '../cards/changes.ts'

/** The score if the request contains none. */
const SIMULATED_SCORE = 0.94

export const sanctionsAlertsHandlers = {
  listSanctionsAlerts: (context, { query }) => answerList(context, query, listAlerts, showAlert),

  async getSanctionsAlert({ caller, db }, { path }) {
    const row = await readAlert(db, caller.space, path.sanctions_alert_id)
    if (!row) throw notFound()
    return { status: 200, body: showAlert(row) }
  },

  async resolveSanctionsAlert(context, { path, body }) {
    const { caller, db, events, request } = context
    const [cardholder, alerts] = await lockForAlert(context, path.sanctions_alert_id)
    const alert = alerts.find(({ id }) => id === path.sanctions_alert_id)!
    if (alert.status !== 'open') throw invalidState('The alert is already resolved.')
    const resolved: AlertRow = {
      ...alert,
      status: body.resolution,
      note: body.note,
      resolved_at: request.now,
      updated: request.now,
    }
    pipelined(updateAlert(db, caller.space, resolved))
    const others = alerts.filter(({ id, status }) => id !== alert.id && status === 'open')
    const changed = resolve(cardholder, body.resolution, others.length, request.now)
    if (changed !== cardholder) pipelined(updateCardholder(db, caller.space, changed))
    const shown = showAlert(resolved)
    emit(events, { type: 'cardholder.sanctions.resolved', data: { sanctions_alert: shown } })
    if (changed.status === 'blocked' && cardholder.status !== 'blocked') {
      await cancelCardsOf(context, cardholder.id)
    }
    return { status: 200, body: shown }
  },

  async simulateSanctionsMatch({ caller, db, events, request: { now } }, { body }) {
    const cardholder = await lockCardholder(db, caller.space, body.cardholder_id)
    if (!cardholder)
      throw validationFailed([{ field: 'cardholder_id', issue: 'does not identify an existing cardholder' }])
    if (cardholder.status === 'blocked')
      throw invalidState('The cardholder is blocked, and blocked cardholders are not screened.')
    const id = newId('sal', now)
    const alert: AlertRow = {
      id,
      cardholder_id: cardholder.id,
      kind: 'new_match',
      status: 'open',
      list_name: SIMULATED_LIST,
      entry_id: id,
      entry_hash: id,
      score: body.score ?? SIMULATED_SCORE,
      matched_fields: ['name'],
      note: null,
      resolved_at: null,
      created: now,
      updated: now,
    }
    pipelined(insertAlert(db, caller.space, alert))
    const matched = { ...cardholder, sanctions_status: 'potential_match', updated: now } as const
    pipelined(updateCardholder(db, caller.space, matched))
    emitAlerts(events, cardholder, [alert])
    return { status: 201, body: showAlert(alert) }
  },
} satisfies SanctionsAlertsHandlers<Context> & Pick<TestCardsHandlers<Context>, 'simulateSanctionsMatch'>

/** Locks the cardholder of an alert and returns it with all its alerts. Throws 404. */
async function lockForAlert(
  { caller, db }: Context,
  id: string,
): Promise<readonly [CardholderRow, readonly AlertRow[]]> {
  const found = await readAlert(db, caller.space, id)
  if (!found) throw notFound()
  const cardholder = await lockCardholder(db, caller.space, found.cardholder_id)
  if (!cardholder) throw new Error(`The cardholder of sanctions alert ${id} does not exist.`)
  return [cardholder, await readAlertsOf(db, caller.space, cardholder.id)]
}

/** Returns the cardholder after a resolution: clear once no alert is open, or blocked for good if the match is confirmed. */
function resolve(
  cardholder: CardholderRow,
  resolution: components['schemas']['SanctionsResolution'],
  open: number,
  now: number,
): CardholderRow {
  if (cardholder.status === 'blocked') return cardholder
  if (resolution === 'confirmed') {
    return { ...cardholder, status: 'blocked', sanctions_status: 'confirmed_match', updated: now }
  }
  if (open > 0) return cardholder
  const status = cardholder.status === 'pending' ? 'active' : cardholder.status
  return { ...cardholder, status, sanctions_status: 'clear', updated: now }
}
