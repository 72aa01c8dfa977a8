/** What comes due by itself, done by workers: what is due of a tenant in one transaction, with its events and audit entries. */
import { readPin } from '../admin/pins.ts'
import { collectEvents, type Emitter } from '../events/emit.ts'
import type { WakeUpChannel } from '../events/wake-ups.ts'
import { systemEntry } from '../platform/audit/entry.ts'
import { appendAudit, isSpaceWiped } from '../platform/audit/queries.ts'
import type { Clock } from '../platform/clock/clock.ts'
import type { Database } from '../platform/database/database.ts'
import { enqueue } from '../platform/database/enqueue.ts'
import type { Pool } from '../platform/database/pool/pool.ts'
import { readSpace } from '../platform/database/space.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'

export interface DueParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly wakeUpChannel: WakeUpChannel
}

/** Something that is due. */
export interface Due {
  readonly tenant_id: string
}

/** Finds some of what is due, of all tenants. What was done is not found again. @param now service time. */
export type FindDue<Row extends Due> = (db: Database, now: number, limit: number) => Promise<readonly Row[]>

export interface DuePlace {
  readonly db: Database
  readonly space: string
  readonly events: Emitter
  /** Service time. */
  readonly now: number
}

/** Something that was done, as the audit log calls it. */
export interface Done {
  readonly id: string
  readonly action: string
}

/** What is found at a time. */
const BATCH = 100

/**
 * Does all that is due, in both environments, each once however many nodes try.
 *
 * @param finds what is due by the service clock, and by clocks of tenants that are ahead of it: each is asked until it finds less
 * than it may.
 * @param act is given what was found of one tenant, which another node may have done meanwhile.
 */
export async function doDue<Row extends Due>(
  parts: DueParts,
  finds: readonly FindDue<Row>[],
  act: (place: DuePlace, found: readonly Row[]) => Promise<readonly Done[]>,
): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    for (const find of finds) {
      for (;;) {
        const now = parts.clock.service(environment)
        const found = await find(parts.database[environment], now, BATCH)
        for (const [space, rows] of Map.groupBy(found, ({ tenant_id }) => tenant_id)) {
          const due = await actFor(parts, environment, space, now, (place) => act(place, rows)).catch(
            (error: unknown) => {
              if (isSpaceWiped(error)) return false // the next look does not find it
              throw error
            },
          )
          if (due) parts.wakeUpChannel.publish(environment, space)
        }
        if (found.length < BATCH) break
      }
    }
  }
}

/** Gives whether deliveries may be due. */
async function actFor(
  { database }: DueParts,
  environment: Environment,
  space: string,
  now: number,
  act: (place: DuePlace) => Promise<readonly Done[]>,
): Promise<boolean> {
  const { tenantId } = readSpace(space)
  const pin = await readPin(database.control, tenantId, environment)
  return database[environment].forTenant(tenantId).transaction(async (db) => {
    const events = collectEvents({ tenantId: space, pin, now })
    const done = await act({ db, space, events, now })
    if (done.length === 0) return false
    const due = events.write(db)
    for (const { id, action } of done)
      enqueue(appendAudit(db, space, systemEntry(environment, action, id, now)))
    return due
  })
}
