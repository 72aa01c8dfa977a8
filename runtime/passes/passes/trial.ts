import type { Caller } from '../../tenants/keys/caller.ts'

export const TRIAL_PASSES = 500

const DAY = 86_400_000
const TRIAL_DAYS = 30

/** Returns whether the caller's passes count against the trial limit. Sandbox passes are free and never count. */
export function isOnTrial(caller: Caller): boolean {
  return caller.tenant.plan === 'trial' && caller.environment === 'live'
}

/** Returns whether the trial period has ended. @param now service time in milliseconds since the epoch. */
export function trialIsOver(tenantCreated: number, now: number): boolean {
  return now >= tenantCreated + TRIAL_DAYS * DAY
}
