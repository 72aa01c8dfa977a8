/** Keeps the sums of open holds at the ends of hours, so that the balance at any instant is read quickly. */
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace } from '../../database/space.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { type DeclaredWorker, defineWorker, type WorkerParts } from '../../work/workers.ts'
import { findHoldsBehind, keepHeld } from '../ledger/held.ts'

export interface HoldTotalsParts extends WorkerParts {
  readonly database: WorkerParts['database'] & Readonly<Record<Environment, Pool>>
  readonly clock: Clock
}

/** Hours in one turn. Other tenants get a turn before the rest. */
const HOURS = 48

const POLL_MS = 60_000

/** Declares the worker that keeps the sums of every tenant. If it stops in between, the next turn continues. */
export function holdTotalsWorker(parts: HoldTotalsParts): DeclaredWorker {
  const { database, clock } = parts
  return defineWorker<{ readonly space: string }>(parts, {
    name: 'hold_totals',
    pollMs: POLL_MS,
    async find({ after, limit }, environment) {
      const now = clock.service(environment)
      const spaces = await findHoldsBehind(database[environment], after?.space ?? '', limit, now)
      return spaces.map((space) => ({ space }))
    },
    itemOf: ({ space }) => ({ space, id: space }),
    async perform([row], { environment }) {
      const { space } = row!
      const db = database[environment].forTenant(readSpace(space).tenantId)
      for (let hours = 0; hours < HOURS; hours += 1) {
        if (!(await keepHeld(db, space, clock.service(environment)))) return 'done'
      }
      return 'more'
    },
  })
}
