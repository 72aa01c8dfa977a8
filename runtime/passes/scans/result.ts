import type { components } from '../../../generated/canonical/types.ts'
import { changeNow } from '../passes/changed.ts'
import type { PassRow } from '../passes/queries.ts'
import { statusAt } from '../passes/status.ts'

export type ScanResult = components['schemas']['ScanResult']

/** Kinds of passes that a scan can redeem. */
const REDEEMABLE: ReadonlySet<PassRow['template_kind']> = new Set(['coupon', 'event_ticket'])

/** The result for the scanner, and the pass after the scan. */
export interface Scanned {
  readonly result: Exclude<ScanResult, 'unknown'>
  readonly pass: PassRow
}

/**
 * Evaluates a scan. The first accepted verification makes a pass `active`; redeeming a coupon or an event ticket makes
 * it `redeemed`, which is final.
 *
 * @param now service time, which decides whether the pass has expired.
 */
export function scanPass(pass: PassRow, mode: components['schemas']['ScanMode'], now: number): Scanned {
  const status = statusAt(pass, now)
  if (status === 'redeemed') return { result: 'already_redeemed', pass }
  if (status === 'revoked' || status === 'expired') return { result: status, pass }
  if (mode === 'verify') {
    return {
      result: 'accepted',
      pass: status === 'active' ? pass : { ...pass, status: 'active', updated: now },
    }
  }
  if (!REDEEMABLE.has(pass.template_kind)) return { result: 'not_redeemable', pass }
  return { result: 'accepted', pass: { ...pass, ...changeNow(pass, now), status: 'redeemed', updated: now } }
}
