/** Screens the cardholders of all tenants against each new sanctions list. */
import type { Database } from '../../database/database.ts'
import { liesInRows } from '../../database/errors.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace } from '../../database/space.ts'
import { collectEvents } from '../../events/emit/emit.ts'
import type { WakeUpChannel } from '../../events/emit/wake-ups.ts'
import type { Environment } from '../../platform/environment.ts'
import { letOthersIn, PAUSE_AFTER } from '../../platform/fairness/pauses.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit, isSpaceWiped } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import type { WorkTurn } from '../../work/queue-worker.ts'
import { type DeclaredWorker, defineWorker, type WorkerParts } from '../../work/workers.ts'
import { type ListInUse, readLatestNumber, type Sanctions } from '../sanctions/list-in-use.ts'
import { emitAlerts, type Screened, screen, writeAlerts } from './screening.ts'
import { endScreening, findSpaces, lockBehind, markScreened, type WalkPosition } from './screening-queries.ts'

export interface ScreeningParts extends WorkerParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly sanctions: Pick<Sanctions, 'list'>
  readonly wakeUpChannel: WakeUpChannel
  /** Cardholders screened in one transaction. */
  readonly batch?: number
}

const POLL_MS = 5000

/** A batch holds its row locks for about 100 ms. */
const BATCH = 200

/**
 * Delay until a finished tenant is checked again, in milliseconds. The check finds cardholders that a node with an older
 * list screened late.
 */
const LOOK_AGAIN_MS = 3_600_000

/**
 * Screens every pending or active cardholder that was last screened against an older list, in batches. Any number of nodes
 * may run it: a node skips the rows that another node has locked, and an interrupted batch rolls back. A node whose list is
 * not the newest leaves the work to the nodes that have the newest list.
 */
export function cardholderScreeningWorker(parts: ScreeningParts): DeclaredWorker {
  const { database, sanctions } = parts
  return defineWorker<string>(parts, {
    name: 'cardholder_screening',
    pollMs: POLL_MS,
    async find({ limit, after = '', now }, environment) {
      const { number } = sanctions.list()
      if ((await readLatestNumber(database.control)) !== number) return []
      return findSpaces(database[environment], number, now, after, limit)
    },
    itemOf: (space) => ({ space, id: space }),
    async perform([space], turn) {
      await screenSpace({ parts, turn, space: space!, list: sanctions.list() })
      return 'idle'
    },
  })
}

interface Screening {
  readonly parts: ScreeningParts
  readonly turn: WorkTurn
  readonly space: string
  readonly list: ListInUse
}

async function screenSpace(screening: Screening): Promise<void> {
  const { parts, turn, space, list } = screening
  const { environment, setAside } = turn
  const { batch = BATCH } = parts
  let after: WalkPosition | undefined = { listNumber: -1, id: '' }
  let size = batch
  while (after) {
    const from: WalkPosition = after
    try {
      after = await screenStep(screening, from, size)
      size = batch
    } catch (error) {
      if (isSpaceWiped(error) || !liesInRows(error)) throw error
      // Retry with a smaller batch until the failing cardholder is alone, set it aside, and continue after it.
      if (size === 1) await leaveOut(screening, from, error)
      else size = Math.ceil(size / 2)
    }
    if (turn.isStopping()) return
  }
  for (const id of setAside.heldOf(space)) if (id !== space) return // a cardholder that is set aside is not screened yet
  await endScreening(parts.database[environment], space, list.number, turn.now() + LOOK_AGAIN_MS)
}

/** Sets aside the next cardholder, whose screening failed. */
async function leaveOut(
  { parts, turn: { environment, setAside }, space, list }: Screening,
  after: WalkPosition,
  error: unknown,
): Promise<void> {
  const db = parts.database[environment]
  const [row] = await lockBehind(db, space, list.number, after, 1, setAside.heldOf(space))
  if (row) await setAside.take({ space, id: row.id }, error)
}

/** Screens one batch and returns the position to continue from; undefined when no cardholder is left. */
async function screenStep(
  { parts, turn: { environment, setAside }, space, list }: Screening,
  after: WalkPosition,
  batch: number,
): Promise<WalkPosition | undefined> {
  const { database, clock, wakeUpChannel } = parts
  const { tenantId } = readSpace(space)
  const now = clock.service(environment)
  const pin = await readPin(database.control, tenantId, environment)
  const [last, isDue, screenedIds] = await database[environment]
    .forTenant(tenantId)
    .transaction(async (db) => {
      const rows = await lockBehind(db, space, list.number, after, batch, setAside.heldOf(space))
      if (rows.length === 0) return [undefined, false, []]
      const events = collectEvents({ tenantId: space, pin, now })
      const outcomes: Screened[] = []
      for (const row of rows) {
        const screened = await screen({ db, space, list, now }, row)
        writeAlerts({ db, space }, screened)
        emitAlerts(events, row, screened.raised)
        outcomes.push(screened)
        if (outcomes.length % PAUSE_AFTER === 0) await letOthersIn()
      }
      pipelined(
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
        pipelined(appendAudit(db, space, systemEntry(environment, 'sanctions_alert.raised', id, now)))
      }
      const end = rows.at(-1)!
      const ids = rows.map(({ id }) => id)
      return [rows.length < batch ? undefined : { listNumber: end.list_number, id: end.id }, due, ids]
    })
  if (isDue) wakeUpChannel.publish(environment, tenantId)
  for (const id of screenedIds) await setAside.succeeded({ space, id })
  return last
}
