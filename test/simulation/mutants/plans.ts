/** The universes that a fault is tried in, the cheapest first. */
import { ACTION_NAMES, deckOf } from '../day.ts'
import type { Plan } from '../universe.ts'
import { FAULT_KINDS } from '../weather.ts'

const ALL = { kinds: ACTION_NAMES, withoutFaults: new Set<number>(), withoutActions: new Set<number>() }
const CALM = { ...ALL, days: 1, tenants: 1, machines: 1, lateMs: 3_600_000, faults: [] }
const STORM = { ...ALL, days: 1, tenants: 2, machines: 2, lateMs: 4 * 3_600_000, faults: FAULT_KINDS }

const DECK = deckOf(ACTION_NAMES).length

const PAYOUTS = [
  'usdc_payout',
  'stray_payout',
  'cancel_usdc_payout',
  'bank_payout',
  'cancel_payout',
  'fund',
  'pay_twice',
]
const DELIVERIES = [
  'issue_many',
  'retry',
  'hurry',
  'recover',
  'own_endpoint',
  'skip_event',
  'disturb_deliveries',
  'pass',
]

/** Merchants who do only some of the actions meet their faults more often. */
export const PLANS: Readonly<Record<string, Plan>> = {
  calm: { ...CALM, seed: '4', actions: 2 * DECK },
  storm: { ...STORM, seed: '5', actions: DECK },
  payouts: { ...STORM, seed: '6', kinds: PAYOUTS, actions: 60 },
  deliveries: { ...STORM, seed: '7', kinds: DELIVERIES, actions: 60 },
}
