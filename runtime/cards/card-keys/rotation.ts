/** Numbers are sealed anew after a rotation, in steps: whoever goes on after a kill finds those that are left. */
import type { Logger } from 'pino'
import type { Database } from '../../database/database.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { defineWorker } from '../../work/workers.ts'
import { type CardKeys, RETIRED_AFTER_S, type Sealer } from './card-keys.ts'
import { findRetirable, findSealedBefore, resealNumber, retireKey, type SealedNumberRow } from './queries.ts'

/** Numbers in one transaction. */
const STEP = 200

export interface Resealed {
  /** How many numbers were sealed anew. */
  readonly resealed: number
  /** Versions of the keys that nothing can be opened with any more. */
  readonly retired: readonly number[]
}

export interface ResealOptions {
  /** The owner's connections. */
  readonly owner: Pool
  readonly keys: CardKeys
  readonly clock: Pick<Clock, 'machine'>
  readonly log: Logger
  /** How long a superseded key stays at least, in seconds. */
  readonly graceS?: number
}

/**
 * Seals every number under the newest key, and retires the keys that nothing is sealed under any more. A number that does not
 * open is set aside, and its key stays.
 */
export async function reseal(options: ResealOptions): Promise<Resealed> {
  const { owner, keys, graceS = RETIRED_AFTER_S } = options
  // First: what is sealed under one of these is committed by now, so that the steps below find it.
  const retirable = await findRetirable(owner, graceS)
  const sealer = await keys.sealer()
  let resealed = 0
  const database = { control: owner, sandbox: owner, live: owner }
  await defineWorker<SealedNumberRow>(
    { ...options, database },
    {
      name: 'card_numbers',
      batch: STEP,
      find: ({ limit }, environment) => findSealedBefore(owner, environment, sealer.version, limit),
      itemOf: ({ tenant_id: space, card_id: id }) => ({ space, id }),
      groupOf: () => 'one step',
      async perform(rows, { environment }) {
        const done = await owner.transaction((tx) =>
          Promise.all(rows.map((row) => resealOne(tx, keys, sealer, environment, row))),
        )
        resealed += done.filter((changed) => changed).length
        return 'done'
      },
    },
  ).runOnce()
  const left = await oldestInUse(owner, sealer.version)
  const retired: number[] = []
  for (const version of retirable) {
    if (version < left && (await retireKey(owner, version))) retired.push(version)
  }
  return { resealed, retired }
}

/** The oldest version that a number is still sealed under, or the newest. */
async function oldestInUse(owner: Pool, newest: number): Promise<number> {
  const found = await Promise.all(ENVIRONMENTS.map((each) => findSealedBefore(owner, each, newest, 1)))
  return Math.min(newest, ...found.flat().map(({ key_version }) => key_version))
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
export function startResealJob(options: ResealOptions): PeriodicJob {
  return runPeriodically(async () => void (await reseal(options)), {
    pauseMs: PAUSE_MS,
    failed: (err) =>
      options.log.warn({ err }, 'numbers of cards could not be sealed anew; the next look goes on'),
  })
}
