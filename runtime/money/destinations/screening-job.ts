/** Screens active destinations, with their holders and addresses, against each new sanctions list. */

import { type ListInUse, readLatestNumber } from '../../cards/sanctions/list-in-use.ts'
import { pipelined } from '../../database/pipelined.ts'
import { type Done, type DuePlace, dueWorker } from '../../events/due-work.ts'
import { emit } from '../../events/emit/emit.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import type { ActivationParts } from './activation-job.ts'
import { removeDefault, updateDestination } from './queries.ts'
import { isListed } from './screening.ts'
import { findBehind, lockBehind, markScreened } from './screening-queries.ts'
import { deny } from './states.ts'
import { showDestination } from './view.ts'

const POLL_MS = 5000

/** Maximum number of destinations in one transaction. A batch holds its row locks for a few tens of milliseconds. */
const BATCH = 50

/**
 * Screens every active destination that was last screened against an older list, and denies the listed ones. Destinations in
 * their waiting period are screened when it ends. A node whose list is not the newest leaves the work to the nodes that have
 * the newest list.
 */
export function destinationScreeningWorker(parts: ActivationParts): DeclaredWorker {
  const { database, sanctions } = parts
  return dueWorker(parts, {
    name: 'destination_screening',
    finds: [
      async (db, _, limit) => {
        const { number } = sanctions.list()
        return (await readLatestNumber(database.control)) === number ? findBehind(db, number, limit) : []
      },
    ],
    batch: BATCH,
    pollMs: POLL_MS,
    act: (place, found) =>
      screenOf(
        place,
        sanctions.list(),
        found.map(({ id }) => id),
      ),
  })
}

async function screenOf(
  { db, space, events, now }: DuePlace,
  list: ListInUse,
  found: readonly string[],
): Promise<readonly Done[]> {
  const rows = await lockBehind(db, space, list.number, found)
  const ids = rows.map(({ id }) => id)
  pipelined(markScreened(db, space, ids, list.number))
  return rows
    .filter((row) => isListed(list, row))
    .map((row) => {
      const after = deny(row, now)
      pipelined(updateDestination(db, space, after))
      pipelined(removeDefault(db, space, row.id))
      emit(events, {
        type: 'payout_destination.denied',
        data: { payout_destination: showDestination(after) },
      })
      return { id: row.id, action: 'payout_destination.denied' }
    })
}
