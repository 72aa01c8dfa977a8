import type { Tenant } from './fair-queue.ts'

/** Bounds the results that each tenant receives in one tick of the event loop. */
export interface EventLoopTicks {
  /**
   * Calls `go` immediately, or in a later tick if the tenant has reached its limit in this one. @param rows number of
   * rows of the result.
   */
  hand(tenant: Tenant, rows: number, go: () => void): void
}

/** Maximum number of rows per tenant and tick: a full list page, or an equivalent number of small reads. */
const MAX_ROWS = 100

interface Given {
  rows: number
  readonly late: { readonly rows: number; readonly go: () => void }[]
}

/**
 * Work on a result, such as rendering rows, JSON or events, blocks the event loop for all tenants. After a page of
 * rows, further results of the tenant wait for a later tick.
 */
export function createEventLoopTicks(nextTick: (work: () => void) => void = setImmediate): EventLoopTicks {
  let given = new Map<Tenant, Given>()

  const give = (tenant: Tenant, rows: number): Given => {
    if (given.size === 0) nextTick(beginTick)
    const known = given.get(tenant) ?? { rows: 0, late: [] }
    known.rows += rows
    given.set(tenant, known)
    return known
  }

  const beginTick = () => {
    const before = given
    given = new Map()
    for (const [tenant, { late }] of before) {
      let at = 0
      while (at < late.length && (given.get(tenant)?.rows ?? 0) < MAX_ROWS) {
        const { rows, go } = late[at]!
        at += 1
        give(tenant, rows)
        go()
      }
      if (at < late.length) give(tenant, 0).late.push(...late.slice(at))
    }
  }

  return {
    hand(tenant, rows, go) {
      const known = given.get(tenant)
      if (known && (known.late.length > 0 || known.rows >= MAX_ROWS)) {
        known.late.push({ rows, go })
        return
      }
      give(tenant, Math.max(1, rows))
      go()
    },
  }
}
