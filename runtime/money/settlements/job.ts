/** Moves due settlements to their next status. */

import type { Sanctions } from '../../cards/sanctions/list-in-use.ts'
import { type Done, type DueParts, type DuePlace, dueWorker } from '../../events/due-work.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import { endHolds } from '../destinations/activation.ts'
import { lockClock } from '../settlement-lines/clock.ts'
import { findDueTenants, findDueTenantsAhead } from '../settlement-lines/queries.ts'
import { moveSettlements } from './moving.ts'

export interface SettlementParts extends DueParts {
  readonly sanctions: Pick<Sanctions, 'list'>
}

/** Moves due settlements, with one transaction for each tenant. */
export function settlementWorker({ sanctions, ...parts }: SettlementParts): DeclaredWorker {
  return dueWorker(parts, {
    name: 'settlements',
    finds: [findDueTenants, findDueTenantsAhead],
    act: (place) => settleOf(place, sanctions),
  })
}

async function settleOf(place: DuePlace, sanctions: SettlementParts['sanctions']): Promise<readonly Done[]> {
  const { db, space, events, now } = place
  const until = now + (await lockClock(db, space))
  const ended: Done[] = []
  const follow = async (at: number) => {
    ended.push(...(await endHolds({ db, space, eventsAt: () => events, sanctions }, now, at)))
  }
  const moved = await moveSettlements(() => place, until, now, sanctions.list(), follow)
  return [...moved.map(({ id, status }) => ({ id, action: `settlement.${status}` })), ...ended]
}
