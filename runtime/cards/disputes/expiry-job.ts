/** Expires disputes that were not submitted before their deadline, and emits their events. */

import { type Done, type DueParts, type DuePlace, dueWorker } from '../../events/due-work.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import { lockCardTransactions } from '../transactions/queries.ts'
import { writeChange } from './changes.ts'
import { findOverdueDisputes, lockDispute } from './queries.ts'
import { close } from './states.ts'

/** Ends the disputes whose submission deadline has passed in service time. */
export function disputeExpiryWorker(parts: DueParts): DeclaredWorker {
  return dueWorker(parts, {
    name: 'dispute_expiry',
    finds: [findOverdueDisputes],
    async act(place, found) {
      // Locks all card transactions first, in the order that every transaction uses, to avoid deadlocks.
      await lockCardTransactions(
        place.db,
        place.space,
        found.map(({ card_transaction_id }) => card_transaction_id),
      )
      const done: Done[] = []
      for (const { id } of found) done.push(...(await expire(place, id)))
      return done
    },
  })
}

async function expire(place: DuePlace, id: string): Promise<readonly Done[]> {
  const locked = await lockDispute(place.db, place.space, id)
  // Another node may have expired the dispute, or a request may have submitted or withdrawn it.
  if (locked?.dispute.status !== 'unsubmitted' || locked.dispute.submission_deadline > place.now) return []
  const { dispute } = locked
  const at = Math.max(dispute.updated, dispute.submission_deadline)
  await writeChange(place, dispute, close(dispute, 'expired', at))
  return [{ id, action: 'dispute.expired' }]
}
