/** Stops the parts of a process. A part that cannot be stopped does not keep the others from it. */

/** Stops a part, or returns a promise of it. */
type Stop = () => unknown

/** Runs each step after the one before it. Throws what steps have thrown after the last one. */
export async function stopInTurn(steps: readonly Stop[]): Promise<void> {
  const results: PromiseSettledResult<unknown>[] = []
  for (const step of steps) results.push(...(await Promise.allSettled([begin(step)])))
  throwFailures(results)
}

/** Runs all steps at once. Throws what steps have thrown after all have ended. */
export async function stopTogether(steps: readonly Stop[]): Promise<void> {
  throwFailures(await Promise.allSettled(steps.map(begin)))
}

/** Runs a step. A step that throws rejects. */
const begin = async (step: Stop): Promise<unknown> => step()

function throwFailures(results: readonly PromiseSettledResult<unknown>[]): void {
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} parts could not be stopped`)
}
