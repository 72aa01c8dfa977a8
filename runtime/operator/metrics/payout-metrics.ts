import type { Registry } from 'prom-client'
import type { HeldUpRow } from '../held-up-payouts.ts'
import { addQueriedGauge } from './series.ts'

/** Asks the database what is held up; undefined if it does not answer. */
export type HeldUpSource = () => Promise<readonly HeldUpRow[] | undefined>

/** Payouts that only an operator or a different answer gets on, and the accounts that sign nothing. */
export function addPayouts(registry: Registry, read: HeldUpSource): void {
  addQueriedGauge(
    registry,
    'svc_payouts_held_up',
    'Payouts that wait (up to 100 of each stage): to be signed, on a chain, at a bank; and accounts that sign nothing.',
    ['environment', 'stage'],
    async () => {
      const rows = await read()
      const groups = rows && Map.groupBy(rows, ({ environment, stage }) => `${environment ?? 'all'} ${stage}`)
      return groups && [...groups].map(([key, { length }]) => [labelsOf(key), length] as const)
    },
  )
}

function labelsOf(key: string) {
  const [environment = '', stage = ''] = key.split(' ')
  return { environment, stage }
}
