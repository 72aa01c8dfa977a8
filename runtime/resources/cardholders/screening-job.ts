/** Holds everybody's cardholders against a list that came into use. */
import type { Logger } from 'pino'
import { readPin } from '../../admin/pins.ts'
import { collectEvents } from '../../events/emit.ts'
import type { WakeUpChannel } from '../../events/wake-ups.ts'
import { systemEntry } from '../../platform/audit/entry.ts'
import { appendAudit, isSpaceWiped } from '../../platform/audit/queries.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import { enqueue } from '../../platform/database/enqueue.ts'
import type { Pool } from '../../platform/database/pool/pool.ts'
import { readSpace } from '../../platform/database/space.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { letOthersIn, PAUSE_AFTER } from '../../platform/fairness/pauses.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import { type ListInUse, readLatestNumber, type Sanctions } from '../../sanctions/list-in-use.ts'
import type { Match } from '../../sanctions/matcher.ts'
import { type Screened, screen, tellOfAlerts, writeAlerts } from './screening.ts'
import { endScreening, findSpaces, lockBehind, markScreened, type WalkPosition } from './screening-queries.ts'

export interface ScreeningParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly sanctions: Pick<Sanctions, 'list'>
  readonly wakeUpChannel: WakeUpChannel
  /** Cardholders screened in one transaction. */
  readonly batch?: number
  /** Is told of each cardholder that cannot be screened; it stays behind, and each look tries it again. */
  readonly unscreened?: (id: string, error: unknown) => void
  /** Nothing more is begun. */
  readonly isStopping?: () => boolean
}

/** Their rows stay locked for about a tenth of a second. */
const BATCH = 200

/** Spaces found at once. */
const SPACES = 100

/** How late those are found whom a node with an older list has screened. */
const LOOK_AGAIN_MS = 3_600_000

/**
 * Screens every cardholder, pending or active, that was held against an older list, in steps of a bounded size. Any number of
 * nodes may: rows that one has locked are passed over by the others, and a step that is cut off is undone as a whole. A node
 * whose list is not the one that came into use last leaves it to those that have it.
 */
export async function screenAll(parts: ScreeningParts): Promise<void> {
  const list = parts.sanctions.list()
  if ((await readLatestNumber(parts.database.control)) !== list.number) return
  for (const environment of ENVIRONMENTS) {
    for (let after = ''; ; ) {
      const now = parts.clock.machine()
      const spaces = await findSpaces(parts.database[environment], list.number, now, after, SPACES)
      for (const space of spaces) {
        await screenSpace(parts, environment, space, list).catch((error: unknown) => {
          if (!isSpaceWiped(error)) throw error // the next look does not find it
        })
        if (parts.isStopping?.()) return
      }
      if (spaces.length < SPACES) break
      after = spaces.at(-1)!
    }
  }
}

async function screenSpace(
  parts: ScreeningParts,
  environment: Environment,
  space: string,
  list: ListInUse,
): Promise<void> {
  let after: WalkPosition | undefined = { listNumber: -1, id: '' }
  while (after) {
    after = await screenStep(parts, environment, space, list, after)
    if (parts.isStopping?.()) return
  }
  await endScreening(parts.database[environment], space, list.number, parts.clock.machine() + LOOK_AGAIN_MS)
}

/** Gives where the walk goes on; undefined at its end. */
async function screenStep(
  { database, clock, wakeUpChannel, batch = BATCH, unscreened }: ScreeningParts,
  environment: Environment,
  space: string,
  list: ListInUse,
  after: WalkPosition,
): Promise<WalkPosition | undefined> {
  const { tenantId } = readSpace(space)
  const now = clock.service(environment)
  const pin = await readPin(database.control, tenantId, environment)
  const [last, isDue] = await database[environment].forTenant(tenantId).transaction(async (db) => {
    const rows = await lockBehind(db, space, list.number, after, batch)
    if (rows.length === 0) return [undefined, false]
    const events = collectEvents({ tenantId: space, pin, now })
    const outcomes: Screened[] = []
    for (const row of rows) {
      let matches: readonly Match[]
      try {
        matches = list.match(row)
      } catch (error) {
        unscreened?.(row.id, error)
        continue
      }
      const screened = await screen({ db, space, list: { ...list, match: () => matches }, now }, row)
      writeAlerts({ db, space }, screened)
      tellOfAlerts(events, row, screened.raised)
      outcomes.push(screened)
      if (outcomes.length % PAUSE_AFTER === 0) await letOthersIn()
    }
    enqueue(
      markScreened(
        db,
        space,
        outcomes.map(({ row }) => row),
        list,
        now,
      ),
    )
    const due = await events.write(db)
    for (const { id } of outcomes.flatMap(({ raised }) => raised)) {
      enqueue(appendAudit(db, space, systemEntry(environment, 'sanctions_alert.raised', id, now)))
    }
    const end = rows.at(-1)!
    return [rows.length < batch ? undefined : { listNumber: end.list_number, id: end.id }, due]
  })
  if (isDue) wakeUpChannel.publish(environment, tenantId)
  return last
}

const PAUSE_MS = 5000

/** Looks every five seconds. */
export function startScreeningJob(parts: ScreeningParts, log: Logger): PeriodicJob {
  let stopping = false
  const unscreened = (id: string, err: unknown) =>
    log.error({ err, cardholder_id: id }, 'a cardholder cannot be screened; the others are')
  const job = runPeriodically(() => screenAll({ ...parts, unscreened, isStopping: () => stopping }), {
    pauseMs: PAUSE_MS,
    failed: (err) => log.warn({ err }, 'cardholders could not be screened; the next look goes on'),
  })
  return {
    stop: () => {
      stopping = true
      return job.stop()
    },
  }
}
