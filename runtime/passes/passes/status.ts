export const PASS_STATUSES = ['issued', 'installed', 'active', 'redeemed', 'revoked', 'expired'] as const

export type PassStatus = (typeof PASS_STATUSES)[number]

/** Statuses in which a pass can still change. */
export const LIVE_STATUSES = ['issued', 'installed', 'active'] as const satisfies readonly PassStatus[]

export function isLive(status: PassStatus): boolean {
  return status === 'issued' || status === 'installed' || status === 'active'
}

/** The columns that determine the status. Times are milliseconds since the epoch, in service time. */
export interface StatusFacts {
  readonly status: PassStatus
  readonly expires_at: number | null
}

/**
 * Returns the current status: a live pass counts as expired once its `expires_at` has passed, even if the stored status
 * is still live. Correctness therefore does not depend on when the expiry worker runs. `walksOf` (queries.ts) applies
 * the same rule in SQL.
 */
export function statusAt(pass: StatusFacts, now: number): PassStatus {
  return pass.expires_at !== null && pass.expires_at <= now && isLive(pass.status) ? 'expired' : pass.status
}
