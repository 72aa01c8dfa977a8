/** Results of the network's checks of a cardholder's input, and the reasons to decline that they give in any case. */
import type { CheckMismatch } from '../transactions/rules.ts'
import type { NetworkChecks } from '../transactions/use-rules.ts'

/** The reason to decline for each check that the network makes, in the order in which they apply. */
const MISMATCHES = {
  expiry: 'incorrect_expiry',
  cvc: 'incorrect_cvc',
  pin: 'incorrect_pin',
  authentication: 'authentication_failed',
} as const satisfies Partial<Record<keyof NetworkChecks, CheckMismatch>>

/**
 * Returns the reason to decline, or undefined if there is no mismatch.
 *
 * A postal code that differs while the street matches, or the reverse, is common, so only both together decline.
 */
export function mismatchOf(checks: NetworkChecks = {}): CheckMismatch | undefined {
  for (const [check, code] of Object.entries(MISMATCHES)) {
    if (checks[check as keyof typeof MISMATCHES] === 'mismatch') return code
  }
  const { address_line, postal_code } = checks
  return address_line === 'mismatch' && postal_code === 'mismatch' ? 'address_mismatch' : undefined
}
