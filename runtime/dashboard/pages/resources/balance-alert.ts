/** The form that sets the threshold of a low balance. */
import type { components } from '../../../../generated/canonical/types.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { bodyOf, writeCents } from '../../engine/bodies.ts'
import { type FormPlace, showForm, submitForm } from '../../engine/form-page.ts'
import type { SendFramed } from '../../engine/frame.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { FormField, FormValues } from '../../engine/shapes.ts'
import { writeMoney } from '../../engine/values.ts'
import { type DashboardVisit, roleFor } from '../../engine/visit.ts'

type Alert = components['schemas']['BalanceAlert']

export const ALERT_PATH = 'balance/alert'

export function balanceAlertRoutes(send: SendFramed): DashboardRoute[] {
  const operation = 'putBalanceAlert' as const
  return ENVIRONMENTS.flatMap((environment): DashboardRoute[] => {
    const common = { environment, path: `/${environment}/${ALERT_PATH}`, needs: roleFor(operation) } as const
    return [
      {
        ...common,
        method: 'GET',
        handle: async (visit) => showForm(visit, await formOf(visit), placeOf(visit), send),
      },
      { ...common, operation, method: 'POST', handle: (visit) => save(visit, send) },
    ]
  })
}

async function formOf(visit: DashboardVisit) {
  const { threshold } = await visit.read<Alert>('getBalanceAlert')
  const field: FormField = {
    name: 'threshold',
    label: 'Threshold',
    kind: 'amount',
    optional: true,
    hint: 'Without a threshold, the alert is off.',
    ...(threshold !== null && { value: writeCents(threshold) }),
  }
  return {
    operation: 'putBalanceAlert',
    button: 'Save alert',
    fields: [field],
    body: (values: FormValues) => Object.assign({ threshold: null }, bodyOf([field], values)),
  } as const
}

const placeOf = ({ environment }: DashboardVisit): FormPlace => ({
  title: 'Low balance alert',
  path: 'balance',
  address: `/${environment}/${ALERT_PATH}`,
  back: `/${environment}/balance`,
  intro:
    'When the money that is available for card spending falls below the threshold, your webhook endpoints receive balance.low.',
})

async function save(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const answer = await submitForm(visit, await formOf(visit), () => placeOf(visit), send)
  if (!answer) return
  const { threshold, currency } = answer.body as Alert
  const done = threshold === null ? 'Alert switched off' : `Alert set to ${writeMoney(threshold, currency)}`
  visit.finish(placeOf(visit).back, done)
}
