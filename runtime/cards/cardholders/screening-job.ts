/** Holds everybody's cardholders against a list that came into use. */
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
import { type Screened, screen, tellOfAlerts, writeAlerts } from './screening.ts'
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

/** Their rows stay locked for about a tenth of a second. */
const BATCH = 200

/** How late those are found whom a node with an older list has screened. */
const LOOK_AGAIN_MS = 3_600_000

/**
 * Screens every cardholder, pending or active, that was held against an older list, in steps of a bounded size. Any number of
 * nodes may: rows that one has locked are passed over by the others, and a step that is cut off is undone as a whole. A node
 * whose list is not the one that came into use last leaves it to those that have it.
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
      // Fewer, until one cardholder fails alone: the walk goes on behind it.
      if (size === 1) await leaveOut(screening, from, error)
      else size = Math.ceil(size / 2)
    }
    if (turn.isStopping()) return
  }
  for (const id of setAside.heldOf(space)) if (id !== space) return // it is still to be screened
  await endScreening(parts.database[environment], space, list.number, turn.now() + LOOK_AGAIN_MS)
}

/** Sets the next cardholder of the walk aside, whose screening failed. */
async function leaveOut(
  { parts, turn: { environment, setAside }, space, list }: Screening,
  after: WalkPosition,
  error: unknown,
): Promise<void> {
  const db = parts.database[environment]
  const [row] = await lockBehind(db, space, list.number, after, 1, setAside.heldOf(space))
  if (row) await setAside.take({ space, id: row.id }, error)
}

/** Gives where the walk goes on; undefined at its end. */
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
        tellOfAlerts(events, row, screened.raised)
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
