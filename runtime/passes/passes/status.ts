export const PASS_STATUSES = ['issued', 'installed', 'active', 'redeemed', 'revoked', 'expired'] as const

/** Where a pass stands. */
export type PassStatus = (typeof PASS_STATUSES)[number]

/** A pass in one of these can still change. */
export const LIVE_STATUSES = ['issued', 'installed', 'active'] as const satisfies readonly PassStatus[]

export function isLive(status: PassStatus): boolean {
  return status === 'issued' || status === 'installed' || status === 'active'
}

/** What a pass's status depends on. Times in milliseconds since the epoch, service time. */
export interface StatusFacts {
  readonly status: PassStatus
  readonly expires_at: number | null
}

/**
 * The status as it is now: a live pass whose `expires_at` has come is expired, whatever is stored. So no sweep has to
 * be on time; `walksOf` in db/passes.ts says the same in SQL.
 */
export function statusAt(pass: StatusFacts, now: number): PassStatus {
  return pass.expires_at !== null && pass.expires_at <= now && isLive(pass.status) ? 'expired' : pass.status
}
