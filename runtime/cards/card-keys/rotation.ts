/** Re-seals card numbers after a key rotation, in batches. After a crash, the next run finds the numbers that are left. */
import type { Logger } from 'pino'
import type { Database } from '../../database/database.ts'
import type { CardRoom } from '../../database/open/card-room.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { defineWorker } from '../../work/workers.ts'
import { type CardKeys, RETIRED_AFTER_S, type Sealer } from './card-keys.ts'
import { findRetirable, findSealedBefore, resealNumber, retireKey, type SealedNumberRow } from './queries.ts'

/** Card numbers sealed again in one transaction. */
const STEP = 200

export interface Resealed {
  /** Number of card numbers that were sealed again. */
  readonly resealed: number
  /** Versions of the keys that were retired. */
  readonly retired: readonly number[]
}

export interface ResealOptions {
  /** Connection of the owner, for rows that are set aside. */
  readonly control: Database
  readonly room: CardRoom
  readonly keys: CardKeys
  readonly clock: Pick<Clock, 'machine'>
  readonly log: Logger
  /** Minimum time between the creation of a newer key and the retirement of an older one, in seconds. */
  readonly graceS?: number
}

/**
 * Seals every card number under the newest key and retires the keys that no number uses any more. A number that cannot be
 * opened is set aside, and its key is kept.
 */
export async function reseal(options: ResealOptions): Promise<Resealed> {
  const { control, keys, graceS = RETIRED_AFTER_S } = options
  const { pool } = options.room
  // This comes first: all numbers sealed under these keys are committed by now, so the batches below find them.
  const retirable = await findRetirable(pool, graceS)
  const sealer = await keys.sealer()
  let resealed = 0
  const database = { control, sandbox: pool, live: pool }
  await defineWorker<SealedNumberRow>(
    { ...options, database },
    {
      name: 'card_numbers',
      batch: STEP,
      find: ({ limit }, environment) => findSealedBefore(pool, environment, sealer.version, limit),
      itemOf: ({ tenant_id: space, card_id: id }) => ({ space, id }),
      groupOf: () => 'one step',
      async perform(rows, { environment }) {
        const done = await pool.transaction((tx) =>
          Promise.all(rows.map((row) => resealOne(tx, keys, sealer, environment, row))),
        )
        resealed += done.filter((changed) => changed).length
        return 'done'
      },
    },
  ).runOnce()
  const left = await oldestInUse(pool, sealer.version)
  const retired: number[] = []
  for (const version of retirable) {
    if (version < left && (await retireKey(pool, version))) retired.push(version)
  }
  return { resealed, retired }
}

/** Returns the oldest key version that a number is sealed under, or `newest` if all numbers use it. */
async function oldestInUse(pool: Pool, newest: number): Promise<number> {
  const found = await Promise.all(ENVIRONMENTS.map((each) => findSealedBefore(pool, each, newest, 1)))
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

/** Every minute, continues pending rotations and retires keys. */
export function startResealJob(options: ResealOptions): PeriodicJob {
  return runPeriodically(async () => void (await reseal(options)), {
    pauseMs: PAUSE_MS,
    failed: (err) =>
      options.log.warn(
        { err },
        'Card numbers could not be sealed under the newest key; the job retries in one minute.',
      ),
  })
}
