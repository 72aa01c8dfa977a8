/**
 * Sets aside rows that a worker cannot handle. Each waits for its next attempt on its own, and the worker continues
 * with the other rows.
 */
import type { Logger } from 'pino'
import type { Database } from '../database/database.ts'
import { liesInRows, reasonOf } from '../database/errors.ts'
import type { Environment } from '../platform/environment.ts'
import { isSpaceWiped } from '../tenants/audit/queries.ts'
import type { Clock } from '../tenants/clock/clock.ts'
import { forgetRow, noteRow, readRows } from './set-aside-queries.ts'

/** The row that the work is for. If the work covers a whole tenant, `id` is the tenant's space. */
export interface WorkItem {
  readonly space: string
  readonly id: string
}

/**
 * Sets rows aside. Such a row is logged, shown by `doctor` and `/metrics`, and retried alone after a pause that doubles
 * from one minute up to six hours, or when an operator requests it (`admin set-aside retry`).
 */
export interface SetAside {
  /**
   * Does the work for a group. If a row makes it fail, halves the group until the row fails alone, and isolates that
   * row. The other rows continue.
   *
   * Throws a failure of the database that no row caused; the next search then finds the same rows again.
   *
   * @param isolate handles an item that fails alone. Default: `take`.
   * @returns the results of the parts that succeeded.
   */
  performGroup<Item extends WorkItem, Given>(
    items: readonly Item[],
    perform: (items: readonly Item[]) => Promise<Given>,
    isolate?: (item: Item, error: unknown) => Promise<void>,
  ): Promise<readonly Given[]>
  /** Sets aside an item that failed. Throws the error if no row caused it. */
  take(item: WorkItem, error: unknown): Promise<void>
  /** Records a success. Costs nothing unless the item is set aside. */
  succeeded(item: WorkItem): Promise<void>
  /** Whether the item failed earlier and has not succeeded since, as last read or written by this process. */
  isKnown(item: WorkItem): boolean
  /** Whether the item is waiting for its next attempt, as last read or written by this process. */
  isHeld(item: WorkItem): boolean
  /** Returns the items of a space that are waiting for their next attempt, as last read or written by this process. */
  heldOf(space: string): readonly string[]
  /** Reads the rows again, because an operator may have requested another attempt. */
  refresh(): Promise<void>
  /** Whether this process knows of no row set aside. */
  readonly isEmpty: boolean
}

export interface SetAsideParts {
  readonly control: Database
  readonly clock: Pick<Clock, 'machine'>
  readonly log: Pick<Logger, 'error'>
}

/** @param work name of the work, unique to a worker. */
export function createSetAside(
  { control, clock, log }: SetAsideParts,
  work: string,
  environment: Environment,
): SetAside {
  /** Time of the next attempt of each row, as last read or written; machine time. */
  const retries = new Map<string, number>()
  const keyOf = ({ space, id }: WorkItem) => `${space} ${id}`
  const isHeld = (item: WorkItem) => (retries.get(keyOf(item)) ?? Number.NEGATIVE_INFINITY) > clock.machine()

  const read = async () => {
    const rows = await readRows(control, environment, work)
    retries.clear()
    for (const { tenant_id: space, subject_id: id, retry_at } of rows)
      retries.set(keyOf({ space, id }), retry_at)
  }

  const take = async (item: WorkItem, error: unknown) => {
    if (!liesInRows(error)) throw error
    const reason = reasonOf(error)
    const { tries, retry_at } = await noteRow(
      control,
      { environment, work, ...item, reason },
      clock.machine(),
    )
    retries.set(keyOf(item), retry_at)
    const about = { err: error, environment, work, tenant_id: item.space, id: item.id, tries }
    log.error(about, 'A row was set aside because its work failed; the other rows continue')
  }

  const succeeded = async (item: WorkItem) => {
    if (!retries.delete(keyOf(item))) return
    await forgetRow(control, { environment, work, ...item })
  }

  const performGroup = async <Item extends WorkItem, Given>(
    items: readonly Item[],
    perform: (items: readonly Item[]) => Promise<Given>,
    isolate: (item: Item, error: unknown) => Promise<void> = take,
  ): Promise<Given[]> => {
    if (items.length === 0) return []
    let given: Given
    try {
      given = await perform(items)
    } catch (error) {
      if (isSpaceWiped(error)) return [] // the next search does not find these rows
      if (!liesInRows(error)) throw error
      if (items.length === 1) {
        await isolate(items[0]!, error)
        return []
      }
      const half = Math.ceil(items.length / 2)
      return [
        ...(await performGroup(items.slice(0, half), perform, isolate)),
        ...(await performGroup(items.slice(half), perform, isolate)),
      ]
    }
    for (const item of items) await succeeded(item)
    return [given]
  }

  return {
    performGroup,
    take,
    succeeded,
    isKnown: (item) => retries.has(keyOf(item)),
    isHeld,
    heldOf: (space) =>
      [...retries.keys()].flatMap((key) => {
        const [of, id] = key.split(' ') as [string, string]
        return of === space && isHeld({ space, id }) ? [id] : []
      }),
    refresh: read,
    get isEmpty() {
      return retries.size === 0
    },
  }
}
