/** Work that is done again and again until it is stopped. */
export interface PeriodicJob {
  /** No run begins any more; resolves after the one that is under way. */
  stop(): Promise<void>
}

export interface PeriodicOptions {
  readonly pauseMs: number
  /** Is given each failure; the next run comes all the same. */
  readonly failed: (error: unknown) => void
  /** Whether the first run comes without a pause. */
  readonly atOnce?: boolean
}

/** Runs the work every so often; a run that is due while one is under way is left out. */
export function runPeriodically(
  work: () => Promise<void>,
  { pauseMs, failed, atOnce = false }: PeriodicOptions,
): PeriodicJob {
  let running: Promise<void> | undefined
  const run = () => {
    running ??= work()
      .catch(failed)
      .finally(() => {
        running = undefined
      })
  }
  const timer = setInterval(run, pauseMs)
  timer.unref()
  if (atOnce) run()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
