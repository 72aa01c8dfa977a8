/** Operations of long tasks, which wait for the rate limit instead of failing. */
import { setTimeout as wait } from 'node:timers/promises'
import type { OperationAnswer, OperationId, OperationInput } from '../../api/operate.ts'
import type { DashboardVisit } from './visit.ts'

/** How often an operation may be refused because of the rate limit. */
const MAX_REFUSALS = 20

/** Performs an operation, and repeats it while the rate limit refuses it. @param signal ends the wait. */
export async function operatePatiently(
  visit: DashboardVisit,
  operationId: OperationId,
  input: OperationInput,
  signal?: AbortSignal,
): Promise<OperationAnswer> {
  for (let refusals = 0; ; refusals += 1) {
    const answer = await visit.operate(operationId, input)
    const again = answer.ok ? undefined : answer.error.retry_after_ms
    if (again === undefined || refusals >= MAX_REFUSALS) return answer
    await wait(again, undefined, signal && { signal })
  }
}
