import type { PaymentLimits } from '../../../runtime/money/chain/round-parts.ts'

/** Quick, but for what has to run out. */
export const LIMITS: PaymentLimits = {
  confirmations: 3,
  maxFee: 10n ** 12n,
  authorizationS: 3600,
  giveUpMs: 60_000,
  retryMs: 0,
  resendMs: 0,
  replaceMs: 60_000,
}
