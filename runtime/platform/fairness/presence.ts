/** Tracks recent tenants, just enough to know whether a tenant is alone. */
export interface Presence {
  /** Records a request of the tenant. */
  seen(tenantId: string): void
  /** Whether no other tenant has sent a request recently, so that the work of this one delays no other. */
  isAlone(tenantId: string): boolean
}

/** A tenant with requests more often than this counts as continuously present. */
const LATELY_MS = 10_000

interface TenantVisit {
  tenantId: string | undefined
  at: number
}

/** @param monotonic returns milliseconds that never decrease. */
export function createPresence(monotonic: () => number = () => performance.now()): Presence {
  const noVisit = (): TenantVisit => ({ tenantId: undefined, at: Number.NEGATIVE_INFINITY })
  let newest = noVisit()
  /** The last visit of a tenant other than that of `newest`. */
  let other = noVisit()
  return {
    seen(tenantId) {
      if (newest.tenantId !== tenantId) [newest, other] = [other, newest]
      newest.tenantId = tenantId
      newest.at = monotonic()
    },
    isAlone(tenantId) {
      const { at } = newest.tenantId === tenantId ? other : newest
      return monotonic() - at > LATELY_MS
    },
  }
}
