/** What the chain tells of transfers becomes of their payouts, in its own transactions. */
import { readPin } from '../../admin/pins.ts'
import type { TransferListener } from '../../chain/transfers.ts'
import { collectEvents } from '../../events/emit.ts'
import type { WakeUpChannel } from '../../events/wake-ups.ts'
import { systemEntry } from '../../platform/audit/entry.ts'
import { appendAudit } from '../../platform/audit/queries.ts'
import type { Database } from '../../platform/database/database.ts'
import { enqueue } from '../../platform/database/enqueue.ts'
import { readSpace } from '../../platform/database/space.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Sanctions } from '../../sanctions/list-in-use.ts'
import { readDestination } from '../payout-destinations/queries.ts'
import { type DestinationList, isListed } from '../payout-destinations/screening.ts'
import { writeChange } from './changes.ts'
import { lockPayout, readPayout } from './queries.ts'
import { follow, isUnderway } from './states.ts'

export interface ListenerParts {
  readonly database: { readonly control: Database }
  readonly wakeUpChannel: WakeUpChannel
  readonly sanctions: Pick<Sanctions, 'list'>
}

/** Whether a payout may still be paid: it is on its way, and its destination active and not on the sanctions list. */
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

/** Opened before a transaction begins, because it asks what the tenant is pinned to. */
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
        enqueue(appendAudit(db, space, systemEntry(environment, `payout.${after.status}`, id, now)))
      }
      isDue = await writing
    },
    committed() {
      if (isDue) wakeUpChannel.publish(environment, space)
    },
  }
}
