import { GITHUB } from './github.ts'
import { NOTION } from './notion.ts'
import { PLAID } from './plaid.ts'
import type { RealChange } from './real-change.ts'
import { STRIPE } from './stripe.ts'

/** Ordered as the page shows them. */
export const REAL_CHANGES: readonly RealChange[] = [...STRIPE, ...PLAID, ...GITHUB, ...NOTION]
