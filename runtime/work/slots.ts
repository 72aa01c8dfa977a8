/** Slots for concurrent attempts in one process, counted by tenant. */
export interface Slots {
  take(tenantId: string): void
  give(tenantId: string): void
  readonly free: number
  readonly taken: number
  /**
   * Returns how many more attempts a tenant without any may start, at most `most`, and the allowances of the tenants
   * that may start fewer.
   */
  allowances(
    most: number,
    tenants: readonly string[],
  ): {
    readonly allowance: number
    readonly allowances: Readonly<Record<string, number>>
  }
}

/**
 * Shares slots between tenants: a tenant may hold at most a third as many slots as remain free. A single tenant
 * therefore gets a quarter of the capacity, several get less each, and some slots stay free for the next tenant
 * (dynamic thresholds: Choudhury and Hahne, 1998).
 */
export function createSlots(capacity: number): Slots {
  const held = new Map<string, number>()
  let taken = 0
  const free = () => Math.max(0, capacity - taken)
  return {
    take(tenantId) {
      held.set(tenantId, (held.get(tenantId) ?? 0) + 1)
      taken += 1
    },
    give(tenantId) {
      const left = (held.get(tenantId) ?? 0) - 1
      if (left > 0) held.set(tenantId, left)
      else held.delete(tenantId)
      taken -= 1
    },
    get free() {
      return free()
    },
    get taken() {
      return taken
    },
    allowances(most, tenants) {
      const share = (holding: number) => Math.min(most, Math.max(0, Math.floor((free() - 3 * holding) / 4)))
      const allowances: Record<string, number> = {}
      for (const tenantId of tenants) {
        const allowance = share(held.get(tenantId) ?? 0)
        if (held.has(tenantId) && allowance < most) allowances[tenantId] = allowance
      }
      return { allowance: Math.max(1, share(0)), allowances }
    },
  }
}
