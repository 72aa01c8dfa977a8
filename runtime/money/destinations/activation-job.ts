/** Activates destinations when their waiting period is over. */

import type { Sanctions } from '../../cards/sanctions/list-in-use.ts'
import { type DueParts, dueWorker } from '../../events/due-work.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import { readClockOffset } from '../settlement-lines/clock.ts'
import { endHolds } from './activation.ts'
import { findHolders, findHoldersAhead } from './queries.ts'

export interface ActivationParts extends DueParts {
  readonly sanctions: Pick<Sanctions, 'list'>
}

/** Ends the waiting periods that are over on the settlement clock. */
export function activationWorker(parts: ActivationParts): DeclaredWorker {
  return dueWorker(parts, {
    name: 'destination_activation',
    finds: [findHolders, findHoldersAhead],
    async act({ db, space, events, now }) {
      const time = now + (await readClockOffset(db, space))
      return endHolds({ db, space, eventsAt: () => events, sanctions: parts.sanctions }, now, time)
    },
  })
}
