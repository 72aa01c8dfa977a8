import { DISCORD } from './discord.ts'
import { GITHUB } from './github.ts'
import { GITLAB } from './gitlab.ts'
import { KUBERNETES } from './kubernetes.ts'
import { NOTION } from './notion.ts'
import { OTHERS } from './others.ts'
import { PLAID } from './plaid.ts'
import type { RealChange } from './real-change.ts'
import { STRIPE } from './stripe.ts'
import { TWILIO } from './twilio.ts'

/** Ordered as the page shows them. */
export const REAL_CHANGES: readonly RealChange[] = [
  ...STRIPE,
  ...PLAID,
  ...TWILIO,
  ...GITHUB,
  ...NOTION,
  ...DISCORD,
  ...KUBERNETES,
  ...GITLAB,
  ...OTHERS,
]
