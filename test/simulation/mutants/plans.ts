/** The universes that a fault is tried in, the cheapest first. */
import { ACTION_NAMES, deckOf } from '../day.ts'
import type { Plan } from '../universe.ts'
import { FAULT_KINDS } from '../weather.ts'

const ALL = { kinds: ACTION_NAMES, withoutFaults: new Set<number>(), withoutActions: new Set<number>() }
const CALM = { ...ALL, days: 1, tenants: 1, machines: 1, lateMs: 3_600_000, faults: [] }
const STORM = { ...ALL, days: 1, tenants: 2, machines: 2, lateMs: 4 * 3_600_000, faults: FAULT_KINDS }

const DECK = deckOf(ACTION_NAMES).length
export const PLANS: Readonly<Record<string, Plan>> = {
  calm: { ...CALM, seed: '4', actions: 2 * DECK },
  storm: { ...STORM, seed: '5', actions: DECK },
}
