/** Applies changes of chain transfers to their payouts, in the chain worker's transactions. */

import type { Sanctions } from '../../cards/sanctions/list-in-use.ts'
import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { readSpace } from '../../database/space.ts'
import { collectEvents } from '../../events/emit/emit.ts'
import type { WakeUpChannel } from '../../events/emit/wake-ups.ts'
import type { Environment } from '../../platform/environment.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit } from '../../tenants/audit/queries.ts'
import type { TransferListener } from '../chain/transfers.ts'
import { readDestination } from '../destinations/queries.ts'
import { type DestinationList, isListed } from '../destinations/screening.ts'
import { writeChange } from './changes.ts'
import { lockPayout, readPayout } from './queries.ts'
import { follow, isUnderway } from './states.ts'

export interface ListenerParts {
  readonly database: { readonly control: Database }
  readonly wakeUpChannel: WakeUpChannel
  readonly sanctions: Pick<Sanctions, 'list'>
}

/**
 * Returns whether a payout may still be paid: it can still arrive, and its destination is active and not on the sanctions
 * list.
 */
export async function isSignable(
  db: Database,
  space: string,
  id: string,
  list: DestinationList,
): Promise<boolean> {
  const payout = await readPayout(db, space, id)
  if (!payout || !isUnderway(payout)) return false
  const destination = await readDestination(db, space, payout.destination_id)
  return destination?.status === 'active' && !isListed(list, destination)
}

/** Opens the listener. Called before a transaction begins, because it reads the tenant's pinned version. */
export async function openTransferListener(
  { database, wakeUpChannel, sanctions }: ListenerParts,
  environment: Environment,
  space: string,
): Promise<Required<TransferListener>> {
  const pin = await readPin(database.control, readSpace(space).tenantId, environment)
  let isDue = false
  return {
    signable: (db, id) => isSignable(db, space, id, sanctions.list()),
    async changed(db, id, change, now) {
      isDue = false
      const before = await lockPayout(db, space, id)
      const after = before && follow(before, change, now)
      if (!after) return
      const events = collectEvents({ tenantId: space, pin, now })
      await writeChange({ db, space, events }, before, after)
      const writing = events.write(db)
      if (after.status !== before.status) {
        pipelined(appendAudit(db, space, systemEntry(environment, `payout.${after.status}`, id, now)))
      }
      isDue = await writing
    },
    committed() {
      if (isDue) wakeUpChannel.publish(environment, space)
    },
  }
}
