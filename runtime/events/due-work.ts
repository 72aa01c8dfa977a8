/**
 * Work that falls due with time, such as expiry. A worker does a tenant's due work in one transaction, with its
 * events and audit entries.
 */
import type { Database } from '../database/database.ts'
import type { Pool } from '../database/pool/pool.ts'
import { readSpace } from '../database/space.ts'
import type { Environment } from '../platform/environment.ts'
import { readPin } from '../tenants/admin/pins.ts'
import { systemEntry } from '../tenants/audit/entry.ts'
import type { Clock } from '../tenants/clock/clock.ts'
import {
  type DeclaredWorker,
  defineWorker,
  type WorkerDeclaration,
  type WorkerParts,
} from '../work/workers.ts'
import { collectEvents, type EventSink } from './emit/emit.ts'
import type { WakeUpChannel } from './emit/wake-ups.ts'

export interface DueParts extends WorkerParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly wakeUpChannel: WakeUpChannel
}

export interface Due {
  readonly tenant_id: string
  /** Absent if the work is for the tenant as a whole. */
  readonly id?: string
}

/**
 * Finds rows that are due, of all tenants, up to `limit`. Must not find rows that were done. @param now service time.
 */
export type FindDue<Row extends Due> = (db: Database, now: number, limit: number) => Promise<readonly Row[]>

export interface DuePlace {
  readonly environment: Environment
  readonly db: Database
  readonly space: string
  readonly events: EventSink
  /** Service time. */
  readonly now: number
}

/** An action that was done, as the audit log names it. */
export interface Done {
  readonly id: string
  readonly action: string
}

/** What follows from work that is not done: `more` work at once, or attempts that were queued and can be sent. */
export type DueStep = 'more' | 'queued'

export interface DueWork<Row extends Due>
  extends Pick<WorkerDeclaration<Row>, 'name' | 'batch' | 'environments' | 'pollMs'> {
  /** Queries for due rows: by the service clock, and by clocks of tenants that are ahead of it. */
  readonly finds: readonly FindDue<Row>[]
  /** Does the work for rows of one tenant. A different node may have done some of them since they were found. */
  readonly act: (place: DuePlace, found: readonly Row[]) => Promise<readonly Done[] | DueStep>
  /** Ends the work for a row that causes an error in `act`. Default: the row is set aside for an operator. */
  readonly actOnFailed?: (place: DuePlace, failed: Row) => Promise<readonly Done[]>
  /** Whether each row gets its own transaction. Default: one transaction for the rows of one tenant. */
  readonly isSingle?: boolean
}

/** Declares a worker that does the due work, each row once even if several nodes try. */
export function dueWorker<Row extends Due>(parts: DueParts, work: DueWork<Row>): DeclaredWorker {
  const { finds, act, actOnFailed, isSingle = false, ...declaration } = work
  const { database, clock, wakeUpChannel, log } = parts

  const perform = async (
    space: string,
    environment: Environment,
    work: (place: DuePlace) => Promise<readonly Done[] | DueStep>,
  ) => {
    const { tenantId } = readSpace(space)
    const now = clock.service(environment)
    const pin = await readPin(database.control, tenantId, environment)
    const [outcome, isDue] = await database[environment].forTenant(tenantId).transaction(async (db) => {
      const events = collectEvents({ tenantId: space, pin, now })
      const done = await work({ environment, db, space, events, now })
      if (done === 'more') return ['more', false] as const
      if (done === 'queued') return ['idle', true] as const
      if (done.length === 0) return ['idle', false] as const
      const entries = done.map(({ id, action }) => systemEntry(environment, action, id, now))
      return ['done', await events.writeWith(db, entries, database[environment].distributed)] as const
    })
    if (isDue) wakeUpChannel.publish(environment, space)
    return outcome
  }

  return defineWorker<Row>(parts, {
    ...declaration,
    async find({ limit }, environment) {
      const now = clock.service(environment)
      const found: Row[] = []
      for (const each of finds) found.push(...(await each(database[environment], now, limit)))
      return found
    },
    itemOf: ({ tenant_id: space, id = space }) => ({ space, id }),
    ...(!isSingle && { groupOf: ({ tenant_id }) => tenant_id }),
    perform: (rows, { environment }) => perform(rows[0]!.tenant_id, environment, (place) => act(place, rows)),
    ...(actOnFailed && {
      async isolate(row, err, { environment }) {
        log.error({ err, tenant_id: row.tenant_id, id: row.id, worker: work.name }, 'A row failed.')
        await perform(row.tenant_id, environment, (place) => actOnFailed(place, row))
      },
    }),
  })
}
