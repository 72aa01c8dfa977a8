/** Holds active destinations, their holders and addresses, against a list that came into use. */

import { type ListInUse, readLatestNumber } from '../../cards/sanctions/list-in-use.ts'
import { pipelined } from '../../database/pipelined.ts'
import { type Done, type DuePlace, doDue } from '../../events/due-work.ts'
import { emit } from '../../events/emit/emit.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import type { ActivationParts } from './activation-job.ts'
import { removeDefault, updateDestination } from './queries.ts'
import { isListed } from './screening.ts'
import { findBehind, lockBehind, markScreened } from './screening-queries.ts'
import { deny } from './states.ts'
import { showDestination } from './view.ts'

/** Destinations in a transaction at most: they stay locked for a few tens of milliseconds. */
const BATCH = 50

/**
 * Screens every active destination that was held against an older list; who is on it is denied. Those that are held still are
 * screened when their hold ends. A node whose list is not the one that came into use last leaves it to those that have it.
 */
export async function screenDestinations(parts: ActivationParts): Promise<void> {
  const list = parts.sanctions.list()
  if ((await readLatestNumber(parts.database.control)) !== list.number) return
  await doDue(parts, {
    name: 'destination_screening',
    finds: [(db, _, limit) => findBehind(db, list.number, limit)],
    batch: BATCH,
    act: (place, found) =>
      screenOf(
        place,
        list,
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

const PAUSE_MS = 5000

/** Looks every five seconds. */
export function startDestinationScreeningJob(parts: ActivationParts): PeriodicJob {
  return runPeriodically(() => screenDestinations(parts), {
    pauseMs: PAUSE_MS,
    failed: (err) => parts.log.warn({ err }, 'destinations could not be screened; the next look goes on'),
  })
}
