/** Numbers are sealed anew after a rotation, in steps: whoever goes on after a kill finds those that are left. */
import type { Logger } from 'pino'
import type { Database } from '../database/database.ts'
import type { Pool } from '../database/pool/pool.ts'
import { ENVIRONMENTS, type Environment } from '../environment.ts'
import { type PeriodicJob, runPeriodically } from '../periodic.ts'
import { type CardKeys, RETIRED_AFTER_S, type Sealer } from './card-keys.ts'
import { findRetirable, findSealedBefore, resealNumber, retireKey } from './queries.ts'

/** Numbers in one transaction. */
const STEP = 200

export interface Resealed {
  /** How many numbers were sealed anew. */
  readonly resealed: number
  /** Versions of the keys that nothing can be opened with any more. */
  readonly retired: readonly number[]
}

/**
 * Seals every number under the newest key, and retires the keys that nothing is sealed under any more.
 *
 * @param owner the owner's connections. @param graceS how long a superseded key stays at least, in seconds.
 */
export async function reseal(owner: Pool, keys: CardKeys, graceS = RETIRED_AFTER_S): Promise<Resealed> {
  // First: what is sealed under one of these is committed by now, so that the steps below find it.
  const retirable = await findRetirable(owner, graceS)
  const sealer = await keys.sealer()
  let resealed = 0
  for (const environment of ENVIRONMENTS) {
    for (;;) {
      const rows = await findSealedBefore(owner, environment, sealer.version, STEP)
      if (rows.length === 0) break
      const done = await owner.transaction((tx) =>
        Promise.all(rows.map((row) => resealOne(tx, keys, sealer, environment, row))),
      )
      resealed += done.filter((changed) => changed).length
    }
  }
  const retired: number[] = []
  for (const version of retirable) {
    if (version < sealer.version && (await retireKey(owner, version))) retired.push(version)
  }
  return { resealed, retired }
}

async function resealOne(
  tx: Database,
  keys: CardKeys,
  sealer: Sealer,
  environment: Environment,
  row: Parameters<typeof resealNumber>[2],
): Promise<boolean> {
  const place = { environment, space: row.tenant_id, cardId: row.card_id }
  const secrets = await keys.open(row, place)
  return resealNumber(tx, environment, { ...row, ...sealer.seal(secrets, place) })
}

const PAUSE_MS = 60_000

/** Goes on, every minute, with rotations that were begun, and retires keys. */
export function startResealJob(owner: Pool, keys: CardKeys, log: Logger): PeriodicJob {
  return runPeriodically(async () => void (await reseal(owner, keys)), {
    pauseMs: PAUSE_MS,
    failed: (err) => log.warn({ err }, 'numbers of cards could not be sealed anew; the next look goes on'),
  })
}
