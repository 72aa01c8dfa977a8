/** The universes that a fault is tried in, the cheapest first. */
import type { Plan } from '../universe.ts'
import { FAULT_KINDS } from '../weather.ts'

const ALL = { withoutFaults: new Set<number>(), withoutActions: new Set<number>() }
const CALM = { ...ALL, days: 1, tenants: 1, machines: 1, lateMs: 4 * 3_600_000, faults: [] }
const STORM = { ...ALL, days: 1, tenants: 2, machines: 2, lateMs: 4 * 3_600_000, faults: FAULT_KINDS }

/** Their seeds are those whose days have most kinds of actions. */
export const PLANS: Readonly<Record<string, Plan>> = {
  calm: { ...CALM, seed: '4', actions: 90 },
  storm: { ...STORM, seed: '5', actions: 24 },
}
