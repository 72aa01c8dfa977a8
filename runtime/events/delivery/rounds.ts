import { randomUUID } from 'node:crypto'
import { liesInRows } from '../../database/errors.ts'
import type { Pool } from '../../database/pool/pool.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import type { LeaseClock } from '../../work/lease-clock.ts'
import type { SetAside } from '../../work/set-aside.ts'
import type { Slots } from '../../work/slots.ts'
import type { Agenda } from './agenda.ts'
import { type OrderedOptions, planOrdered } from './ordered.ts'
import type { LeasedAttempt, VisitRequest } from './queries/attempts.ts'
import { findDue, findWaiting, promoteAttempts } from './queries/due.ts'
import { type AttemptLease, claimAttempts, PARTITION_WIDTH, planAttempts } from './queries/visits.ts'
import type { DeliveryRates } from './rates.ts'

export interface RoundsOptions extends Pick<OrderedOptions, 'readPin'> {
  readonly environment: Environment
  readonly pool: Pool
  readonly clock: Clock
  readonly leaseClock: LeaseClock
  readonly leaseMs: number
  readonly of: VisitRequest['of']
  readonly agenda: Agenda
  readonly slots: Slots
  readonly setAside: SetAside
  readonly rates: DeliveryRates
  /** Called after an event was emitted. */
  readonly deliveriesDue: (tenantId: string) => void
  /** Makes an attempt that was claimed, once its event and its lease are on disk (`flushed`). */
  readonly begin: (claimed: LeasedAttempt, token: string, leaseUntil: number, flushed: Promise<void>) => void
}

/** Plans and claims for the tenants of the worker's agenda. */
export interface Rounds {
  /**
   * Plans and claims at most `limit` attempts for some tenants of the agenda. Resolves with false if there was
   * nothing to do, or only for tenants that a running statement already serves.
   */
  serve(limit: number): Promise<boolean>
  /** Adds everything that is due to the agenda, including work whose wake-up was lost. */
  find(): Promise<void>
  /** Claims for the tenant again if it was blocked, because one of its attempts ended. */
  ended(tenantId: string): void
  /** Number of polls, and of statements that planned or claimed, since the start. */
  readonly looks: number
}

const CLAIMED_AT_ONCE = 256
const PROMOTED_AT_ONCE = 500
const TENANTS_FOUND_AT_ONCE = 100

export function createRounds(options: RoundsOptions): Rounds {
  const { environment, pool, clock, leaseClock, leaseMs, of, agenda, slots, setAside, rates, begin } = options
  /** Tenants whose partitions or slots are full. They must wait until one of their attempts ends. */
  const blocked = new Set<string>()
  /** Tenants for which a statement is running. A second statement would find them locked. */
  const busy = new Set<string>()
  /** Whether due attempts are queued for each tenant separately, because a row of some tenant cannot be queued. */
  let isSplit = false
  let looks = 0

  const visit = async <T>(
    tenants: readonly string[],
    limit: number,
    ask: (asked: VisitRequest) => Promise<T>,
  ) => {
    looks += 1
    for (const tenantId of tenants) busy.add(tenantId)
    try {
      return await ask(request(tenants, limit))
    } finally {
      for (const tenantId of tenants) busy.delete(tenantId)
    }
  }

  const request = (tenants: readonly string[], limit: number): VisitRequest => {
    const now = leaseClock.now()
    const lease = { now, leaseUntil: now + leaseMs, token: randomUUID() }
    const base = { of, tenants, ...lease, rates: rates.of(tenants) }
    return { ...base, limit: Math.min(limit, CLAIMED_AT_ONCE), ...slots.allowances(PARTITION_WIDTH, tenants) }
  }
  const beginAll = (
    { rows, flushed }: Pick<AttemptLease, 'rows' | 'flushed'>,
    { token, leaseUntil }: VisitRequest,
  ) => {
    if (rows.length === 0) return
    const onDisk = flushed()
    onDisk.catch(() => {}) // each attempt fails with it, but those that wait for their turn only later
    for (const claimed of rows) begin(claimed, token, leaseUntil, onDisk)
  }

  /** Resolves with the number of attempts started; undefined if there was nothing to plan. */
  const plan = async (limit: number): Promise<number | undefined> => {
    const found = agenda.takePlans(Math.min(limit, CLAIMED_AT_ONCE), busy)
    if (found.length === 0) return undefined
    const planned = await isolate(found, (tenants) => planFor(tenants, limit))
    return planned.reduce((sum, count) => sum + count, 0)
  }

  /**
   * Does the work for all tenants together. If a row of one tenant fails it, isolates that tenant and sets it aside.
   */
  const isolate = <T>(
    tenants: readonly string[],
    work: (tenants: readonly string[]) => Promise<T>,
  ): Promise<readonly T[]> => {
    const items = tenants.map((space) => ({ space, id: space })).filter((item) => !setAside.isHeld(item))
    return setAside.performGroup(items, (some) => work(some.map(({ space }) => space)))
  }

  const planFor = (tenants: readonly string[], limit: number): Promise<number> =>
    visit(tenants, limit, async (asked) => {
      const plans = await planAttempts(pool, asked)
      const { rows, visits } = plans
      beginAll(plans, asked)
      for (const tenantId of tenants) {
        const visited = visits.get(tenantId)
        // A different worker was planning for this tenant. It did not see events committed since then, so they are
        // planned later.
        if (!visited) agenda.plan(tenantId, 1)
        if (visited?.more) agenda.planLater(tenantId)
        const ordered = visited?.ordered ? await planOrdered(options, tenantId) : undefined
        if (visited?.queued || ordered?.queued) agenda.claim(tenantId)
        if (ordered?.emitted) options.deliveriesDue(tenantId)
      }
      return rows.length
    })

  const claim = async (limit: number): Promise<boolean> => {
    const found = limit > 0 ? agenda.takeClaims(busy) : []
    if (found.length === 0) return false
    await isolate(found, (tenants) => claimFor(tenants, limit))
    return true
  }

  const claimFor = (tenants: readonly string[], limit: number): Promise<void> =>
    visit(tenants, limit, async (asked) => {
      // An attempt that ends while the statement runs makes room that the statement does not see.
      for (const tenantId of tenants) blocked.add(tenantId)
      const claims = await claimAttempts(pool, asked)
      const { rows, visits } = claims
      beginAll(claims, asked)
      for (const tenantId of tenants) {
        const { claimed, tokens } = visits.get(tenantId) ?? { claimed: 0, tokens: 0 }
        const isPaced = tokens - claimed < 1
        const mayHaveMore = claimed > 0 || rows.length >= asked.limit
        if (isPaced || mayHaveMore) blocked.delete(tenantId)
        if (isPaced) agenda.claimLater(tenantId)
        else if (mayHaveMore) agenda.claim(tenantId)
      }
    })

  /**
   * Queues attempts that have become due. Handles all tenants together, or, if a row of one tenant makes that fail,
   * each tenant separately.
   */
  const promoteAll = async () => {
    if (of === 'many' && !isSplit) {
      try {
        return await promote()
      } catch (error) {
        if (!liesInRows(error)) throw error
        isSplit = true
      }
    }
    const tenants = await findWaiting(pool, clock.service(environment), TENANTS_FOUND_AT_ONCE)
    for (const tenantId of tenants) await isolate([tenantId], () => promote(tenantId))
    if (tenants.every((space) => !setAside.isHeld({ space, id: space }))) isSplit = false
  }

  const promote = async (tenantId?: string) => {
    for (;;) {
      const moved = await promoteAttempts(pool, clock.service(environment), PROMOTED_AT_ONCE, tenantId)
      for (const tenant of new Set(moved)) agenda.claim(tenant)
      // A full batch means that there may be more.
      if (moved.length < PROMOTED_AT_ONCE) return
    }
  }

  return {
    serve: async (limit) => {
      const begun = await plan(limit)
      const claimed = await claim(Math.min(limit - (begun ?? 0), slots.free))
      return begun !== undefined || claimed
    },
    find: async () => {
      looks += 1
      if (!setAside.isEmpty) await setAside.refresh()
      await rates.refresh()
      await promoteAll()
      for (const { tenant_id, unplanned, queued } of await findDue(pool, leaseClock.now())) {
        if (unplanned > 0) agenda.plan(tenant_id, unplanned)
        if (queued) agenda.claim(tenant_id)
      }
    },
    ended: (tenantId) => {
      if (blocked.delete(tenantId)) agenda.claim(tenantId)
    },
    get looks() {
      return looks
    },
  }
}
