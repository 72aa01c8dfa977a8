import type { Registry } from 'prom-client'
import type { HeldUpRow } from '../held-up-payouts.ts'
import { addGauge } from './series.ts'

/** Reads what is held up. Returns undefined if the database does not respond. */
export type HeldUpSource = () => Promise<readonly HeldUpRow[] | undefined>

/** Adds the payouts that wait for an operator or a different response, and the accounts that cannot sign. */
export function addPayouts(registry: Registry, read: HeldUpSource): void {
  addGauge(
    registry,
    'svc_payouts_held_up',
    'Held-up payouts by stage (up to 100 of each): signing, chain, bank; and accounts that cannot sign.',
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
