/** Destinations whose hold is over become active without anybody asking. */

import type { Sanctions } from '../../cards/sanctions/list-in-use.ts'
import { type DueParts, doDue } from '../../events/due-work.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import { readClockOffset } from '../settlement-lines/clock.ts'
import { endHolds } from './activation.ts'
import { findHolders, findHoldersAhead } from './queries.ts'

export interface ActivationParts extends DueParts {
  readonly sanctions: Pick<Sanctions, 'list'>
}

/** Ends the holds that are over by the clock of settlements. */
export function activateDestinations(parts: ActivationParts): Promise<void> {
  return doDue(parts, {
    name: 'destination_activation',
    finds: [findHolders, findHoldersAhead],
    async act({ db, space, events, now }) {
      const time = now + (await readClockOffset(db, space))
      return endHolds({ db, space, eventsAt: () => events, sanctions: parts.sanctions }, now, time)
    },
  })
}

const PAUSE_MS = 1000

/** Looks every second. */
export function startActivationJob(parts: ActivationParts): PeriodicJob {
  return runPeriodically(() => activateDestinations(parts), {
    pauseMs: PAUSE_MS,
    failed: (err) => parts.log.warn({ err }, 'destinations could not be activated; the next look finds them'),
  })
}
