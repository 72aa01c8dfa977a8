/** What comes due by itself, done by workers: what is due of a tenant in one transaction, with its events and audit entries. */
import type { Logger } from 'pino'
import type { Database } from '../database/database.ts'
import { pipelined } from '../database/pipelined.ts'
import type { Pool } from '../database/pool/pool.ts'
import { readSpace } from '../database/space.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { readPin } from '../tenants/admin/pins.ts'
import { systemEntry } from '../tenants/audit/entry.ts'
import { appendAudit } from '../tenants/audit/queries.ts'
import type { Clock } from '../tenants/clock/clock.ts'
import { createSetAside } from '../work/set-aside.ts'
import { collectEvents, type EventSink } from './emit/emit.ts'
import type { WakeUpChannel } from './emit/wake-ups.ts'

export interface DueParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly wakeUpChannel: WakeUpChannel
  readonly log: Logger
}

/** Something that is due. */
export interface Due {
  readonly tenant_id: string
  /** Absent where the work is done for the tenant as a whole. */
  readonly id?: string
}

/** Finds some of what is due, of all tenants. What was done is not found again. @param now service time. */
export type FindDue<Row extends Due> = (db: Database, now: number, limit: number) => Promise<readonly Row[]>

export interface DuePlace {
  readonly environment: Environment
  readonly db: Database
  readonly space: string
  readonly events: EventSink
  /** Service time. */
  readonly now: number
}

/** Something that was done, as the audit log calls it. */
export interface Done {
  readonly id: string
  readonly action: string
}

export interface DueWork<Row extends Due> {
  /** The name under which rows that fail are set aside. */
  readonly name: string
  /** What is due by the service clock, and by clocks of tenants that are ahead of it. */
  readonly finds: readonly FindDue<Row>[]
  /** Is given what was found of one tenant, which another node may have done meanwhile. */
  readonly act: (place: DuePlace, found: readonly Row[]) => Promise<readonly Done[]>
  /** Rows found at a time. Default: 100. */
  readonly batch?: number
  /** Whether each row has a transaction of its own. Default: the rows of one tenant have one together. */
  readonly isSingle?: boolean
  /** Default: both. */
  readonly environments?: readonly Environment[]
}

const BATCH = 100

/**
 * Does all that is due, each once however many nodes try. A row whose work fails is set aside
 * (`work/set-aside.ts`). Each find is asked until it finds less than it may.
 */
export async function doDue<Row extends Due>(parts: DueParts, work: DueWork<Row>): Promise<void> {
  const { name, finds, act, batch = BATCH, isSingle = false, environments = ENVIRONMENTS } = work
  const { control } = parts.database
  for (const environment of environments) {
    const setAside = createSetAside({ ...parts, control }, name, environment)
    const now = () => parts.clock.service(environment)
    for (const find of finds) {
      await setAside.performAll<Row>({
        batch,
        find: (limit) => find(parts.database[environment], now(), limit),
        itemOf: ({ tenant_id: space, id = space }) => ({ space, id }),
        groupsOf: (rows) => (isSingle ? rows.map((row) => [row]) : groupByTenant(rows)),
        async perform(rows) {
          const space = rows[0]!.tenant_id
          const due = await actFor(parts, environment, space, now(), (place) => act(place, rows))
          if (due) parts.wakeUpChannel.publish(environment, space)
        },
      })
    }
  }
}

/** The rows of each tenant; one for a tenant that the work is done for as a whole, however often it was found. */
function groupByTenant<Row extends Due>(rows: readonly Row[]): Row[][] {
  const groups = [...Map.groupBy(rows, ({ tenant_id }) => tenant_id).values()]
  return groups.map((group) => (group[0]!.id === undefined ? group.slice(0, 1) : group))
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
    const done = await act({ environment, db, space, events, now })
    if (done.length === 0) return false
    const due = events.write(db)
    for (const { id, action } of done)
      pipelined(appendAudit(db, space, systemEntry(environment, action, id, now)))
    return due
  })
}
