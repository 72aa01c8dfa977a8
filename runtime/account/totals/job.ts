/** Keeps the totals of each day that the dashboard shows. */
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace } from '../../database/space.ts'
import type { Environment } from '../../platform/environment.ts'
import { type DeclaredWorker, defineWorker, type WorkerParts } from '../../work/workers.ts'
import { addToTotals, findSpacesBehind } from './adding.ts'

export interface TotalsParts extends WorkerParts {
  readonly database: WorkerParts['database'] & Readonly<Record<Environment, Pool>>
}

/** Maximum number of events, and of ledger entries, in one turn. Other tenants get a turn before the rest. */
const STEP = 2000

/** A busy tenant's totals change once per poll, however many events it has. */
const POLL_MS = 2000

/** Declares the worker that adds new events and ledger entries of every tenant to its totals. */
export function totalsWorker(parts: TotalsParts, step = STEP): DeclaredWorker {
  const { database } = parts
  return defineWorker<{ readonly space: string }>(parts, {
    name: 'daily_totals',
    pollMs: POLL_MS,
    async find({ after, limit, now }, environment) {
      const spaces = await findSpacesBehind(database[environment], after?.space ?? '', limit, now)
      return spaces.map((space) => ({ space }))
    },
    itemOf: ({ space }) => ({ space, id: space }),
    async perform([row], { environment, now }) {
      const { space } = row!
      const more = await database[environment]
        .forTenant(readSpace(space).tenantId)
        .transaction((tx) => addToTotals(tx, space, step, now()))
      if (more === undefined) return 'idle'
      return more ? 'more' : 'done'
    },
  })
}
