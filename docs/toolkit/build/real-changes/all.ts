import type { RealChange } from './real-change.ts'
import { STRIPE } from './stripe.ts'

/** Ordered as the page shows them. */
export const REAL_CHANGES: readonly RealChange[] = [...STRIPE]
