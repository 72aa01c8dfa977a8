import type { Tenant } from './fair-queue.ts'

/** Hands results on to whoever waits for them, so many of a tenant in a tick of the event loop. */
export interface EventLoopTicks {
  /** Calls `go` at once, or in a later tick when the tenant has had enough of this one. @param rows what the result holds. */
  hand(tenant: Tenant, rows: number, go: () => void): void
}

/** Rows that a tenant is given in one tick: a full page of a list, or the results of as many small reads. */
const MAX_ROWS = 100

interface Given {
  rows: number
  readonly late: { readonly rows: number; readonly go: () => void }[]
}

/**
 * What follows on a result – showing rows, writing JSON, rendering events – holds up everybody for as long as it takes. So
 * after a page's worth a tenant's other results wait until the event loop has looked after everybody else.
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
