/** Which tenants have been there lately, as far as it takes to know whether one is alone. */
export interface Presence {
  /** The tenant asks for something. */
  seen(tenantId: string): void
  /** Whether nobody but the tenant has asked for anything lately: then what it does takes nothing from anybody. */
  isAlone(tenantId: string): boolean
}

/** Whoever comes more often than that is always reckoned with. */
const LATELY_MS = 10_000

interface TenantVisit {
  tenantId: string | undefined
  at: number
}

/** @param monotonic milliseconds that never run backwards. */
export function createPresence(monotonic: () => number = () => performance.now()): Presence {
  const nobody = (): TenantVisit => ({ tenantId: undefined, at: Number.NEGATIVE_INFINITY })
  let newest = nobody()
  /** The last visit of anybody but the newest. */
  let other = nobody()
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
