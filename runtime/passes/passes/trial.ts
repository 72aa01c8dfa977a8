import type { Caller } from '../../tenants/keys/caller.ts'

/** Live passes that the trial covers. */
export const TRIAL_PASSES = 500

const DAY = 86_400_000
const TRIAL_DAYS = 30

/** Whether the caller's live passes are counted: those of a trial are; the sandbox is free. */
export function isOnTrial(caller: Caller): boolean {
  return caller.tenant.plan === 'trial' && caller.environment === 'live'
}

/** @param now service time, milliseconds since the epoch. */
export function trialIsOver(tenantCreated: number, now: number): boolean {
  return now >= tenantCreated + TRIAL_DAYS * DAY
}
