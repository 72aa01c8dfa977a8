/** Makes the story of a fault shorter: leaves out days, merchants, faults and actions for as long as a run still fails. */
import type { Outcome, Plan } from './universe.ts'

export type Run = (plan: Plan) => Promise<Outcome>

const range = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Returns which of the items are needed, by leaving out parts of half the size each time. */
async function reduce(
  count: number,
  known: ReadonlySet<number>,
  isEnough: (without: ReadonlySet<number>) => Promise<boolean>,
): Promise<ReadonlySet<number>> {
  let without = known
  for (let size = Math.ceil(count / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < count; from += size) {
      const part = range(count).slice(from, from + size)
      if (part.every((each) => without.has(each))) continue
      const candidate = new Set([...without, ...part])
      if (await isEnough(candidate)) without = candidate
    }
  }
  return without
}

/** A fault without its numbers, which differ between stories of the same fault. */
const kindOf = (fault: string) => fault.replaceAll(/\d+|\w+_…/g, '')

/** @param runs maximum number of runs. @returns the smallest plan that was found to fail in the same way. */
export async function shrink(
  plan: Plan,
  first: string,
  run: Run,
  runs: number,
  print: (line: string) => void,
): Promise<Plan> {
  let left = runs
  let best = plan
  const fails = async (candidate: Plan): Promise<boolean> => {
    if (left === 0) return false
    left -= 1
    const { fault } = await run(candidate)
    if (fault === undefined || kindOf(fault) !== kindOf(first)) return false
    best = candidate
    print(
      `still fails with ${candidate.days} days, ${candidate.tenants} merchants, ` +
        `without ${candidate.withoutFaults.size} faults and ${candidate.withoutActions.size} actions: ${fault}`,
    )
    return true
  }
  for (const days of [1, Math.ceil(plan.days / 2)]) if (days < best.days) await fails({ ...best, days })
  if (best.tenants > 1) await fails({ ...best, tenants: 1 })
  for (const kind of plan.faults)
    await fails({ ...best, faults: best.faults.filter((each) => each !== kind) })
  const { faults } = await run(best)
  await reduce(faults, best.withoutFaults, (withoutFaults) => fails({ ...best, withoutFaults }))
  const actions = best.days * best.tenants * best.actions
  await reduce(actions, best.withoutActions, (withoutActions) => fails({ ...best, withoutActions }))
  return best
}
